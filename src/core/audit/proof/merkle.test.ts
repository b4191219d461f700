import { describe, expect, it } from "vitest";
import {
  consistencyProof,
  emptyRoot,
  GrowingTree,
  inclusionProof,
  isConsistent,
  leafHash,
  nodeHash,
  rootByInclusion,
} from "./merkle.ts";

const leaves = Array.from({ length: 21 }, (_, index) => leafHash(`leaf ${index}`));

/** The definition of RFC 6962, word for word. */
function rootOf(list: readonly Buffer[]): Buffer {
  const [only] = list;
  if (!only) return emptyRoot();
  if (list.length === 1) return only;
  let left = 1;
  while (left * 2 < list.length) left *= 2;
  return nodeHash(rootOf(list.slice(0, left)), rootOf(list.slice(left)));
}

const head = (size: number) => ({ size, root: rootOf(leaves.slice(0, size)) });

describe("a Merkle tree", () => {
  it("has the roots of RFC 6962, also when it goes on from its parts (U1)", () => {
    expect(emptyRoot().toString("hex")).toBe(
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    // Test vector of RFC 6962: the tree of one empty leaf.
    expect(leafHash("").toString("hex")).toBe(
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    );
    const grown = new GrowingTree();
    leaves.forEach((leaf, index) => {
      expect(grown.root()).toEqual(head(index).root);
      const again = GrowingTree.of(grown.size, grown.parts);
      again?.add(leaf);
      grown.add(leaf);
      expect(again?.root()).toEqual(grown.root());
    });
    expect(GrowingTree.of(7, ["AAAA"])).toBeUndefined();
  });

  it("proves that a leaf is in it, and only there", () => {
    for (let size = 1; size <= leaves.length; size++)
      for (let index = 0; index < size; index++) {
        const path = inclusionProof(leaves, index, size);
        expect(rootByInclusion(leaves[index] as Buffer, index, size, path)).toEqual(head(size).root);
        const other = rootByInclusion(leaves[index] as Buffer, (index + 1) % size, size, path);
        if (size > 1) expect(other?.equals(head(size).root) ?? false).toBe(false);
      }
  });

  it("proves that it begins with an older one, and with no other", () => {
    for (let size = 1; size <= leaves.length; size++)
      for (let older = 0; older <= size; older++) {
        const proof = consistencyProof(leaves, older, size);
        expect(isConsistent(head(older), head(size), proof), `${older} in ${size}`).toBe(true);
        if (older === 0) continue;
        const forged = { size: older, root: leafHash("another history") };
        expect(isConsistent(forged, head(size), proof)).toBe(false);
        expect(isConsistent(head(size), head(older), proof)).toBe(size === older);
      }
  });
});
