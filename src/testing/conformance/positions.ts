import assert from "node:assert/strict";
import { accepted, anEntry, creation, everythingOf, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const positions: Behaviour = {
  name: "positions",
  cases: {
    "move by the number of events of each entry": async ({ store }) => {
      const first = await accepted(store, creation());
      const second = await accepted(store, step(first, { entry: { count: 4 } }));
      const third = await accepted(store, step(second));
      assert.deepEqual([first.seq, second.seq, third.seq], [1, 5, 6]);
      const { entries } = await everythingOf(store, "run-1");
      assert.deepEqual(
        entries.map(({ seq }) => seq),
        [1, 2, 6],
      );
      assert.equal(third.head, "run-1#6");
    },

    "take several entries in one append, all of them or none": async ({ store }) => {
      const first = await accepted(store, creation());
      const entries = [2, 3, 4].map((seq) => anEntry(seq, { data: `"${seq}"` }));
      const append = step(first, { entries });
      const after = await accepted(store, append);
      assert.deepEqual([after.seq, after.head], [4, append.head]);
      assert.deepEqual((await everythingOf(store, "run-1")).entries.slice(1), entries);
      await refused(store, append, "conflict");
      assert.equal((await everythingOf(store, "run-1")).entries.length, 4);
    },

    "refuse an append that is behind": async ({ store }) => {
      const first = await accepted(store, creation());
      await accepted(store, step(first));
      await refused(store, step(first), "conflict");
    },

    "refuse an append that is ahead": async ({ store }) => {
      const first = await accepted(store, creation());
      await refused(store, step(first, { expect: { seq: 2 } }), "conflict");
    },

    "refuse the very same append sent twice": async ({ store }) => {
      const append = step(await accepted(store, creation()));
      await accepted(store, append);
      await refused(store, append, "conflict");
    },

    "let one of eight appends for the same position through": async ({ store }) => {
      const row = await accepted(store, creation());
      const appends = Array.from({ length: 8 }, (_, i) => step(row, { entry: { data: `"writer ${i}"` } }));
      const results = await Promise.all(appends.map((append) => store.append([append])));
      assert.equal(results.filter(([result]) => result?.ok).length, 1);
      const { row: after, entries } = await everythingOf(store, "run-1");
      assert.equal(after?.seq, 2);
      const winner = appends[results.findIndex(([result]) => result?.ok)];
      assert.deepEqual(entries[1], winner?.entries[0]);
    },

    "change the projection and never the identity": async ({ store }) => {
      const row = await accepted(store, creation());
      const projection = { status: "completed", wakeAt: null, stepsDone: 2, version: "2" } as const;
      const identity = {
        createdAt: 5,
        workflow: "other",
        lineage: "other",
        parent: { runId: "boss", step: "a" },
        origin: { runId: "other", seq: 3 },
      };
      const after = await accepted(store, step(row, { run: { ...projection, ...identity } }));
      assert.deepEqual(after, { ...row, ...projection, claim: after.claim, seq: 2, head: "run-1#2" });
      const forked = await accepted(
        store,
        creation({ run: { id: "fork", origin: { runId: "run-1", seq: 2 } } }),
      );
      const later = await accepted(store, step(forked, { run: { origin: null } }));
      assert.deepEqual(later.origin, { runId: "run-1", seq: 2 });
    },

    "of one run are not touched by another": async ({ store }) => {
      const one = await accepted(store, creation({ run: { id: "one" } }));
      const two = await accepted(store, creation({ run: { id: "two" } }));
      await accepted(store, step(one));
      assert.deepEqual(await store.read("two"), two);
    },
  },
};
