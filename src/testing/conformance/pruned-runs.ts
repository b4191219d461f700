import assert from "node:assert/strict";
import type { RunQuery, Store } from "../../core/store/contract.ts";
import type { RunRow, RunStatus } from "../../core/types.ts";
import {
  accepted,
  creation,
  everythingOf,
  HOUR,
  idsByPages,
  idsOf,
  outsideAct,
  refused,
  step,
  take,
} from "./fixtures.ts";
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

const BLOBS = ["h1", "h2"].map((hash) => ({ hash, data: `the text of ${hash}` }));

/**
 * A run that a worker claimed, that was cancelled from outside, and that has lost its values. Returns the rows before
 * and after.
 */
async function takenAway(store: Store): Promise<{ before: RunRow; after: RunRow }> {
  const before = await accepted(store, creation({ blobs: BLOBS }));
  const ended = { status: "cancelled", wakeAt: null, finishedAt: 5 } as const;
  const cancelled = await accepted(store, outsideAct(before, { run: ended, claim: { kind: "revoke" } }));
  const drop = { entries: [1, 2], blobs: ["h1", "h2"] };
  const entry = { data: null };
  return {
    before,
    after: await accepted(store, outsideAct(cancelled, { run: { prunedAt: 9 }, entry, drop })),
  };
}

/** Checks that only the record is left, unchanged. */
async function stillGone(store: Store, after: RunRow): Promise<void> {
  const { row, entries } = await everythingOf(store, after.id);
  assert.deepEqual(row, after);
  assert.deepEqual(
    entries.map(({ seq, data }) => [seq, data]),
    [
      [1, null],
      [2, null],
      [3, null],
    ],
  );
  assert.equal((await store.blobs(after.id, ["h1", "h2"])).size, 0);
}

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

    "take nothing any more from whoever worked on them": async ({ store }) => {
      const { before, after } = await takenAway(store);
      await refused(store, step(before, { blobs: BLOBS }), "fenced");
      await refused(store, step({ ...before, seq: after.seq }, { blobs: BLOBS }), "fenced");
      const { epoch, token } = before.claim;
      const renewal = { runId: after.id, epoch, token: token ?? "", ttlMs: HOUR };
      assert.deepEqual(await store.renew([renewal]), [null]);
      await stillGone(store, after);
    },

    "take no late act, and are not made anew": async ({ store }) => {
      const { before, after } = await takenAway(store);
      const past = { expect: { seq: before.seq, epoch: after.claim.epoch }, blobs: BLOBS };
      await refused(store, outsideAct(after, past), "conflict");
      await refused(store, creation({ blobs: BLOBS }), "exists");
      await refused(
        store,
        creation({ run: { workflow: "other", createdAt: 9 }, claim: take("bob") }),
        "exists",
      );
      const late = outsideAct(after, { expect: { seq: after.seq - 1 }, drop: { entries: [3], blobs: [] } });
      await refused(store, late, "conflict");
      await stillGone(store, after);
    },

    "are refused in a batch by themselves": async ({ store }) => {
      const { before, after } = await takenAway(store);
      const results = await store.append([
        creation({ run: { id: "other" }, blobs: BLOBS }),
        step(before, { blobs: BLOBS }),
        creation({ blobs: BLOBS }),
      ]);
      assert.deepEqual(
        results.map((result) => (result.ok ? "ok" : result.reason)),
        ["ok", "fenced", "exists"],
      );
      await stillGone(store, after);
      assert.equal((await store.blobs("other", ["h1", "h2"])).size, 2);
    },

    "are never due": async ({ store }) => {
      const { after } = await takenAway(store);
      assert.deepEqual(await store.due({ workflows: [after.workflow], limit: 10 }), []);
    },
  },
};
