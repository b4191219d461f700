import assert from "node:assert/strict";
import { accepted, anEntry, creation, everythingOf, outsideAct, refused, step, take } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const creating: Behaviour = {
  name: "creating",
  cases: {
    "makes a run with its first entry, taken at epoch 1": async ({ store }) => {
      const before = await store.now();
      const row = await accepted(store, creation());
      const { until, ...claim } = row.claim;
      assert.deepEqual(claim, { epoch: 1, owner: "ada", token: "ada-token" });
      assert.ok(until > before, "the claim runs until later than now");
      assert.deepEqual([row.seq, row.head], [1, "run-1#1"]);
    },

    "makes a run that nobody has taken, when told so": async ({ store }) => {
      const row = await accepted(store, creation({ claim: { kind: "release" } }));
      assert.deepEqual(row.claim, { epoch: 0, owner: null, token: null, until: 0 });
    },

    "makes a run that begins at a later epoch, when told so": async ({ store }) => {
      const row = await accepted(store, creation({ claim: { kind: "release", epoch: 7 } }));
      assert.deepEqual(row.claim, { epoch: 7, owner: null, token: null, until: 0 });
      const taken = await accepted(store, outsideAct(row, { claim: take("bob") }));
      assert.equal(taken.claim.epoch, 8);
    },

    "sets the position to the last event of a first entry with several": async ({ store }) => {
      const row = await accepted(store, creation({ entry: { count: 3 } }));
      assert.equal(row.seq, 3);
    },

    "makes a run of many entries at once": async ({ store }) => {
      const entries = Array.from({ length: 1200 }, (_, i) =>
        anEntry(1 + 2 * i, { count: 2, data: i % 3 === 0 ? null : `"${i}"` }),
      );
      const blobs = [{ hash: "h1", data: "first" }];
      const row = await accepted(
        store,
        creation({ entries, blobs, run: { origin: { runId: "old", seq: 9 } } }),
      );
      assert.deepEqual([row.seq, row.head, row.origin], [2400, "run-1#2399", { runId: "old", seq: 9 }]);
      assert.deepEqual(await store.entries("run-1", { from: 1, limit: 2000 }), entries);
      assert.deepEqual(await store.blobs("run-1", ["h1"]), new Map([["h1", "first"]]));
      const next = await accepted(store, step(row));
      assert.equal(next.seq, 2401);
    },

    "leaves nothing of many entries when it is refused": async ({ store }) => {
      await accepted(store, creation());
      await refused(store, creation({ entries: [anEntry(1), anEntry(2)] }), "exists");
    },

    "refuses an id that exists, whoever asks": async ({ store }) => {
      await accepted(store, creation());
      await refused(store, creation(), "exists");
      await refused(store, creation({ run: { workflow: "other" }, claim: take("bob") }), "exists");
    },

    "takes one of eight at once": async ({ store }) => {
      const owners = Array.from({ length: 8 }, (_, i) => `worker-${i}`);
      const results = await Promise.all(
        owners.map((owner) => store.append([creation({ claim: take(owner) })])),
      );
      const won = owners.filter((_, i) => results[i]?.[0]?.ok);
      assert.equal(won.length, 1);
      const { row, entries } = await everythingOf(store, "run-1");
      assert.equal(row?.claim.owner, won[0]);
      assert.equal(entries.length, 1);
      const reasons = results.flatMap(([result]) => (result?.ok === false ? [result.reason] : []));
      assert.deepEqual(reasons, Array(7).fill("exists"));
    },

    "takes ids apart that differ only in case": async ({ store }) => {
      await accepted(store, creation({ run: { id: "run" } }));
      await accepted(store, creation({ run: { id: "RUN" } }));
    },
  },
};
