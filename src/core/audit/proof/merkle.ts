import { sha256 } from "./crypto.ts";

/**
 * The Merkle tree of RFC 6962: a leaf's hash is SHA-256(0x00 ‖ text), an inner node's SHA-256(0x01 ‖ left ‖ right), and
 * the left part of a tree is the largest power of two that is smaller than its size.
 */

export const leafHash = (text: string): Buffer => sha256(`\0${text}`);

const pair = new Uint8Array(65).fill(1);

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  pair.set(left, 1);
  pair.set(right, 33);
  return sha256(pair);
}

/** The root of an empty tree. */
export const emptyRoot = (): Buffer => sha256("");

/** A tree that only grows. It keeps the roots of its complete parts, so adding a leaf and telling the root are cheap. */
export class GrowingTree {
  #size: number;
  /** The complete parts, the largest first. */
  readonly #parts: Buffer[];

  constructor(size = 0, parts: readonly Buffer[] = []) {
    this.#size = size;
    this.#parts = [...parts];
  }

  get size(): number {
    return this.#size;
  }

  /** The roots of its complete parts, in base64: enough to go on growing. */
  get parts(): readonly string[] {
    return this.#parts.map((part) => part.toString("base64"));
  }

  add(hash: Buffer): void {
    let grown = hash;
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2)
      grown = nodeHash(this.#parts.pop() as Buffer, grown);
    this.#parts.push(grown);
    this.#size++;
  }

  root(): Buffer {
    let root: Buffer | undefined;
    for (const part of this.#parts.toReversed()) root = root ? nodeHash(part, root) : part;
    return root ?? emptyRoot();
  }

  copy(): GrowingTree {
    return new GrowingTree(this.#size, this.#parts);
  }

  /** A tree of this size from the roots of its parts; `undefined` when their number doesn't fit the size. */
  static of(size: number, parts: readonly string[]): GrowingTree | undefined {
    const ones = size.toString(2).replaceAll("0", "").length;
    const hashes = parts.map((part) => Buffer.from(part, "base64"));
    const fits = hashes.length === ones && hashes.every(({ length }) => length === 32);
    return fits ? new GrowingTree(size, hashes) : undefined;
  }
}

/** The largest power of two below `size`. */
function leftSize(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

function rootOf(leaves: readonly Buffer[], from: number, to: number): Buffer {
  const tree = new GrowingTree();
  for (let index = from; index < to; index++) tree.add(leaves[index] as Buffer);
  return tree.root();
}

/** The hashes that lead from a leaf to the root of the first `size` leaves. */
export function inclusionProof(leaves: readonly Buffer[], index: number, size = leaves.length): Buffer[] {
  const path: Buffer[] = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + leftSize(to - from);
    if (index < middle) {
      path.unshift(rootOf(leaves, middle, to));
      to = middle;
    } else {
      path.unshift(rootOf(leaves, from, middle));
      from = middle;
    }
  }
  return path;
}

/** The root that a leaf at this index and its path lead to; `undefined` when the path can't be one. */
export function rootByInclusion(
  leaf: Buffer,
  index: number,
  size: number,
  path: readonly Buffer[],
): Buffer | undefined {
  if (index < 0 || index >= size) return undefined;
  let [at, last, hash] = [index, size - 1, leaf];
  for (const step of path) {
    if (last === 0) return undefined;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(step, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      hash = nodeHash(hash, step);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 ? hash : undefined;
}

/** Proves that the tree of the first `size` leaves begins with that of the first `older`. */
export function consistencyProof(leaves: readonly Buffer[], older: number, size = leaves.length): Buffer[] {
  const proof: Buffer[] = [];
  let [from, to, isWhole] = [0, size, true];
  if (older === 0) return [];
  while (to - from > 0 && from + (older - from) !== to) {
    const middle = from + leftSize(to - from);
    if (older <= middle) {
      proof.unshift(rootOf(leaves, middle, to));
      to = middle;
    } else {
      proof.unshift(rootOf(leaves, from, middle));
      from = middle;
      isWhole = false;
    }
  }
  if (!isWhole) proof.unshift(rootOf(leaves, from, to));
  return proof;
}

/** True when the proof shows that the newer tree begins with the older one. */
export function isConsistent(
  older: { readonly size: number; readonly root: Buffer },
  newer: { readonly size: number; readonly root: Buffer },
  proof: readonly Buffer[],
): boolean {
  if (older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && older.root.equals(newer.root);
  if (older.size === 0) return proof.length === 0;
  const path = isPowerOfTwo(older.size) ? [older.root, ...proof] : [...proof];
  let [at, last] = [older.size - 1, newer.size - 1];
  while (at % 2 === 1) [at, last] = [(at - 1) / 2, Math.floor(last / 2)];
  const [first, ...rest] = path;
  if (!first) return false;
  let [from, to] = [first, first];
  for (const step of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [from, to] = [nodeHash(step, from), nodeHash(step, to)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
    } else {
      to = nodeHash(to, step);
    }
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  return last === 0 && from.equals(older.root) && to.equals(newer.root);
}

const isPowerOfTwo = (size: number): boolean => Math.log2(size) % 1 === 0;
