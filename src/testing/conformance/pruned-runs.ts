import assert from "node:assert/strict";
import type { RunQuery, Store } from "../../core/store.ts";
import type { RunStatus } from "../../core/types.ts";
import { accepted, creation, idsByPages, idsOf, outsideAct } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const STATUSES: readonly RunStatus[] = ["completed", "failed"];
const COUNT = 36;
const idOf = (i: number): string => `r${String(i).padStart(2, "0")}`;

const statusOf = (i: number) => STATUSES[Math.floor(i / 2) % 2] ?? "failed";
const workflowOf = (i: number) => (i % 2 === 0 ? "even" : "odd");
const isPruned = (i: number) => i % 3 === 0;
const isChild = (i: number) => i % 4 < 2;

/** Runs of two workflows and two statuses; every third has lost its values, and half are children. */
async function thirtySix(store: Store): Promise<void> {
  const runs = Array.from({ length: COUNT }, (_, i) =>
    creation({
      run: {
        id: idOf(i),
        createdAt: 1000 + Math.floor(i / 5),
        workflow: workflowOf(i),
        status: statusOf(i),
        parent: isChild(i) ? { runId: "boss", step: "delegate" } : null,
        prunedAt: isPruned(i) ? 2000 + i : null,
      },
    }),
  );
  await store.append([...runs.slice(11), ...runs.slice(0, 11)]);
}

const expected = (matches: (i: number) => boolean): string[] =>
  Array.from({ length: COUNT }, (_, i) => COUNT - 1 - i)
    .filter(matches)
    .map(idOf);

const QUERIES: readonly [Omit<RunQuery, "pruned" | "limit">, (i: number) => boolean][] = [
  [{}, () => true],
  [{ status: ["failed"] }, (i) => statusOf(i) === "failed"],
  [{ status: ["failed", "completed"] }, () => true],
  [{ workflow: "odd" }, (i) => workflowOf(i) === "odd"],
  [
    { status: ["completed"], workflow: "even" },
    (i) => statusOf(i) === "completed" && workflowOf(i) === "even",
  ],
  [{ status: STATUSES, workflow: "even" }, (i) => workflowOf(i) === "even"],
  [{ parent: "boss" }, isChild],
  [{ parent: "boss", workflow: "odd" }, (i) => isChild(i) && workflowOf(i) === "odd"],
  [{ parent: "boss", status: ["failed"] }, (i) => isChild(i) && statusOf(i) === "failed"],
  [{ status: ["queued"], workflow: "even" }, () => false],
];

export const prunedRuns: Behaviour = {
  name: "runs without their values",
  cases: {
    "are listed, left out, or listed alone, as asked for": async ({ store }) => {
      await thirtySix(store);
      assert.deepEqual(
        await idsOf(store, { limit: 100 }),
        expected(() => true),
      );
      assert.deepEqual(await idsOf(store, { pruned: true, limit: 100 }), expected(isPruned));
      assert.deepEqual(
        await idsOf(store, { pruned: false, limit: 100 }),
        expected((i) => !isPruned(i)),
      );
    },

    "are told apart together with every other filter, on pages of any size": async ({ store }) => {
      await thirtySix(store);
      for (const [query, matches] of QUERIES) {
        for (const limit of [1, 4, 7, 100]) {
          assert.deepEqual(await idsByPages(store, { ...query, limit }), expected(matches));
          for (const pruned of [true, false]) {
            const wanted = expected((i) => matches(i) && isPruned(i) === pruned);
            assert.deepEqual(await idsByPages(store, { ...query, pruned, limit }), wanted);
          }
        }
      }
    },

    "are those whose values were dropped at any time, even at zero": async ({ store }) => {
      await accepted(store, creation({ run: { prunedAt: 0 } }));
      assert.deepEqual(await idsOf(store, { pruned: true, limit: 10 }), ["run-1"]);
      assert.deepEqual(await idsOf(store, { pruned: false, limit: 10 }), []);
    },

    "change sides with the append that says so": async ({ store }) => {
      const row = await accepted(store, creation({ run: { status: "completed" } }));
      const query = { status: ["completed"], workflow: "orders", limit: 10 } as const;
      assert.deepEqual(await idsOf(store, { ...query, pruned: false }), ["run-1"]);
      const pruned = await accepted(store, outsideAct(row, { run: { prunedAt: 5 } }));
      assert.deepEqual(await idsOf(store, { ...query, pruned: false }), []);
      assert.deepEqual(await idsOf(store, { ...query, pruned: true }), ["run-1"]);
      await accepted(store, outsideAct(pruned, { run: { prunedAt: null } }));
      assert.deepEqual(await idsOf(store, { ...query, pruned: false }), ["run-1"]);
    },
  },
};
