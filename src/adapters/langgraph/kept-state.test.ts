import { uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { keptOf, stateIn } from "./kept-state.ts";
import type { ThreadState } from "./state.ts";

const base: ThreadState = {
  checkpoint: { id: uuid6(3), parent: uuid6(2), ts: new Date().toISOString(), v: 4 },
  values: { n: ["json", 1] },
  versions: { __start__: 2, n: 5, messages: 5 },
  seen: { __input__: {}, say: { "branch:to:say": 4 }, look: { n: 1 } },
  meta: ["json", { source: "loop", step: 3, parents: {} }],
};
const at = (ts: string, id = base.checkpoint.id): ThreadState => ({
  ...base,
  checkpoint: { ...base.checkpoint, id, ts },
});

const STATES: Readonly<Record<string, ThreadState>> = {
  "a usual one": base,
  "a first one": { ...base, checkpoint: { ...base.checkpoint, parent: null }, versions: { n: 1 }, seen: {} },
  "one without channels": { ...base, versions: {}, seen: {} },
  "versions that are texts": { ...base, versions: { n: "3.a", m: 4 } },
  "a version 0": { ...base, versions: { n: 0, m: 4 }, seen: { a: { n: 0 } } },
  "a fraction as version": { ...base, versions: { n: 1.5 } },
  "a node that has seen 0": { ...base, seen: { a: { n: 0 } } },
  "a node that has seen more than there is": { ...base, seen: { a: { n: 9 } } },
  "metadata without a step": { ...base, meta: ["json", { source: "input" }] },
  "metadata in bytes": { ...base, meta: ["bytes", new Uint8Array([1, 2])] },
  "a step below zero": { ...base, meta: ["json", { step: -1, source: "input" }] },
  "a step that is no number": { ...base, meta: ["json", { step: "one" }] },
  "an id of one's own": at("2026-01-01T00:00:00.000Z", "mine"),
  "a time far from its id's": at("2001-01-01T00:00:00.000Z"),
  "a time in another form": at("2026-01-01T00:00:00+02:00"),
  "no time": at("never"),
  "further fields": { ...base, more: ["json", { pending_sends: [] }], delta: { d: { writes: [] } } },
};

describe("a state as the journal holds it", () => {
  it.each(Object.keys(STATES))("leads back to the state: %s", (name) => {
    const state = STATES[name] as ThreadState;
    const kept = JSON.parse(JSON.stringify(keptOf({ ...state, meta: ["json", 1] })));
    expect(stateIn({ ...kept, meta: keptOf(state).meta, at: keptOf(state).at })).toEqual(state);
    expect(JSON.stringify(stateIn(keptOf(state)).meta)).toBe(JSON.stringify(state.meta));
  });

  it("is the same but for one place after another turn of the same graph", () => {
    const next: ThreadState = {
      ...base,
      checkpoint: { ...base.checkpoint, id: uuid6(4), parent: base.checkpoint.id },
      versions: { __start__: 2, n: 6, messages: 6 },
      seen: { __input__: {}, say: { "branch:to:say": 5 }, look: { n: 1 } },
      meta: ["json", { source: "loop", step: 4, parents: {} }],
    };
    expect({ ...keptOf(next), at: null }).toEqual({ ...keptOf(base), at: null });
  });

  it("reads a state that an earlier version has written whole", () => {
    expect(stateIn(base)).toBe(base);
  });
});
