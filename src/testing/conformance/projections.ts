import assert from "node:assert/strict";
import { COUNTED, type RunProjection } from "../../core/types.ts";
import { accepted, creation, outsideAct, refused, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

/** Every field of a projection, each with a different value from a new run's. */
const CHANGES: RunProjection = {
  version: "2",
  schema: 3,
  status: "waiting",
  control: "pausing",
  waiting: [{ kind: "budget", step: "", since: 5 }],
  wakeAt: 77,
  recoveries: 1,
  stepsDone: 9,
  usage: { tokens: 10, costUsd: 0.5 },
  turns: 4,
  activeMs: 1500,
  activeAt: 1_700_000_000_400,
  budget: { turns: 4 },
  openChildren: 2,
  pinned: true,
  prunedAt: 1_700_000_000_500,
  error: "the budget is used up",
  updatedAt: 1_700_000_000_600,
  finishedAt: 1_700_000_000_700,
  snapshotSeq: 1,
};

export const projections: Behaviour = {
  name: "projections",
  cases: {
    // One at a time, because a store may write some fields only when they change.
    ...Object.fromEntries(
      Object.entries(CHANGES).map(([field, value]) => [
        `change ${field} by itself, forth and back`,
        async ({ store }) => {
          const row = await accepted(store, creation());
          const there = await accepted(store, step(row, { run: { [field]: value } }));
          assert.deepEqual(there, { ...row, [field]: value, claim: there.claim, seq: 2, head: "run-1#2" });
          const original = row[field as keyof RunProjection];
          const back = await accepted(store, outsideAct(there, { run: { [field]: original } }));
          assert.deepEqual(back, { ...row, claim: back.claim, seq: 3, head: "run-1#3" });
        },
      ]),
    ),

    // A store may write less for it, and must end up the same.
    "change the counts alone, as the append says": async ({ store }) => {
      const row = await accepted(store, creation());
      const changed = Object.fromEntries(COUNTED.map((field) => [field, CHANGES[field]]));
      const there = await accepted(store, { ...step(row, { run: changed }), countsOnly: true });
      assert.deepEqual(there, { ...row, ...changed, claim: there.claim, seq: 2, head: "run-1#2" });
      const again = await accepted(store, { ...step(there), countsOnly: true });
      assert.deepEqual(again, { ...there, claim: again.claim, seq: 3, head: "run-1#3" });
      await refused(store, { ...step(there), countsOnly: true }, "conflict");
    },

    "change whole, whatever happens to the claim": async ({ store }) => {
      const changes = [
        { kind: "hold", ttlMs: 1000 },
        { kind: "keep" },
        { kind: "release" },
        { kind: "revoke" },
        take("bob"),
      ] as const;
      for (const [index, claim] of changes.entries()) {
        const id = `run-${index}`;
        const free = await accepted(store, creation({ run: { id }, claim: { kind: "release" } }));
        const row =
          claim.kind === "acquire" ? free : await accepted(store, outsideAct(free, { claim: take("ada") }));
        const act = claim.kind === "acquire" ? outsideAct : step;
        const after = await accepted(store, act(row, { claim, run: CHANGES }));
        assert.deepEqual(after, { ...row, ...CHANGES, claim: after.claim, seq: after.seq, head: after.head });
        const second = await accepted(store, outsideAct(after, { run: { ...CHANGES, turns: 5 } }));
        assert.deepEqual([second.turns, second.prunedAt], [5, CHANGES.prunedAt]);
      }
    },
  },
};
