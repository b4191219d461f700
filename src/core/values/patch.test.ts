import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { decode, encode } from "./codec.ts";
import { applyPatches, openDraft, PatchedState, type StatePatch } from "./patch.ts";

interface State {
  list: unknown[];
  deep: { inner: Record<string, unknown> };
  map: Map<string, { list: number[] }>;
  set: Set<number>;
  things: Set<object>;
}

const begin = (): State => ({
  list: [1, { two: 2 }, [3]],
  deep: { inner: { a: { b: 1 } } },
  map: new Map([["x", { list: [1] }]]),
  set: new Set([1, 2]),
  things: new Set([{ id: 0 }, { id: 1 }]),
});

/** Removes a thing, or adds it. */
function change(things: Set<object>, id: number): void {
  for (const thing of things) if ("id" in thing && thing.id === id) return void things.delete(thing);
  things.add({ id });
}

type Change = (state: State) => void;

const changes: fc.Arbitrary<Change> = fc
  .tuple(
    fc.constantFrom(
      "push",
      "insert",
      "take",
      "cut",
      "deep",
      "gone",
      "map",
      "inMap",
      "set",
      "things",
      "moved",
    ),
    fc.nat(9),
  )
  .map(
    ([what, n]): Change =>
      ({ list, deep, map, set, things }) => {
        if (what === "push") list.push({ n }, n, [n]);
        else if (what === "insert") list.splice(n % (list.length + 1), 0, { inserted: n });
        else if (what === "take") list.splice(n % (list.length + 1), 1 + (n % 2));
        else if (what === "cut") list.length = Math.min(list.length, n);
        else if (what === "deep") deep.inner[`k${n}`] = { list: [n], of: { n } };
        else if (what === "gone") delete deep.inner[`k${n}`];
        else if (what === "map") map.set(`k${n}`, { list: [n] });
        else if (what === "inMap") for (const one of map.values()) one.list.push(n);
        else if (what === "things") change(things, n);
        else if (what === "set") set[set.has(n) ? "delete" : "add"](n);
        else deep.inner["moved"] = list[0];
      },
  );

/** The changes as they come from the journal. */
const stored = (patches: readonly StatePatch[]) => decode(encode(patches)) as StatePatch[];

describe("patches", () => {
  it("make the state that the draft had, one list after another, and leave the one before alone", () => {
    fc.assert(
      fc.property(fc.array(fc.array(changes, { maxLength: 6 }), { maxLength: 8 }), (iterations) => {
        const first = begin();
        const patched = new PatchedState(first);
        let expected = begin();
        for (const iteration of iterations) {
          const { draft, finish } = openDraft(expected);
          for (const change of iteration) change(draft);
          const { next, patches } = finish();
          const before = encode(expected);
          expect(applyPatches(expected, stored(patches))).toEqual(next);
          expect(encode(expected)).toBe(before);
          expect(patched.take(stored(patches)).state).toEqual(next);
          expected = next;
        }
        expect(first).toEqual(begin());
      }),
    );
  });

  it("replace the whole state, and change an element of a set and the value of a key that is an object", () => {
    expect(applyPatches({ a: 1 }, [["replace", [], { b: 2 }]])).toEqual({ b: 2 });
    const state = { set: new Set([{ a: 1 }]), map: new Map([[{ k: 1 }, { n: 1 }]]) };
    const { draft, finish } = openDraft(state);
    for (const one of draft.set) one.a = 2;
    for (const [key] of state.map) draft.map.set(key, { n: 2 });
    const { next, patches } = finish();
    expect(applyPatches(state, stored(patches))).toEqual(next);
    expect([...applyPatches(state, stored(patches)).map]).toEqual([[{ k: 1 }, { n: 2 }]]);
    expect(state).toEqual({ set: new Set([{ a: 1 }]), map: new Map([[{ k: 1 }, { n: 1 }]]) });
  });

  it("reach no prototype, and no place that isn't there", () => {
    for (const path of [
      ["__proto__", "x"],
      ["a", "__proto__", "x"],
      ["constructor", "prototype", "x"],
      ["b", "x"],
    ])
      expect(() => applyPatches({ a: {} }, [["add", path, 1]])).toThrow(/place that its state doesn't have/);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it("copy a list once, however many elements are added to it", () => {
    const patches = Array.from({ length: 1_000 }, (_, n): StatePatch => ["add", ["list", n], { n }]);
    const slice = vi.spyOn(Array.prototype, "slice");
    const { list } = applyPatches<{ list: unknown[] }>({ list: [1, 2, 3] }, patches);
    const copied = slice.mock.contexts.filter((context) => (context as unknown[]).length > 2);
    slice.mockRestore();
    expect(list).toHaveLength(1_003);
    expect(copied).toHaveLength(1);
  });
});
