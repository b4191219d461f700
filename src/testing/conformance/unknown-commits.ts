import assert from "node:assert/strict";
import { accepted, creation, outsideAct, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

export const unknownCommits: Behaviour = {
  name: "unknown commits",
  cases: {
    "that were applied are recognised by the entry at their position": async ({ store }) => {
      const append = step(await accepted(store, creation()), { entry: { count: 2, head: '{"op":"mine"}' } });
      await store.append([append]);
      const [found] = await store.entries("run-1", { from: append.entry.seq, limit: 1 });
      assert.deepEqual(found, append.entry);
    },

    "that were not applied are recognised by the lack of it": async ({ store }) => {
      const append = step(await accepted(store, creation()));
      assert.deepEqual(await store.entries("run-1", { from: append.entry.seq, limit: 1 }), []);
    },

    "that lost to another are recognised by the other's entry": async ({ store }) => {
      const row = await accepted(store, creation());
      const mine = step(row, { entry: { head: '{"op":"mine"}' } });
      const other = outsideAct(row, { entry: { head: '{"op":"other"}' } });
      await store.append([other]);
      await store.append([mine]);
      const [found] = await store.entries("run-1", { from: mine.entry.seq, limit: 1 });
      assert.equal(found?.head, '{"op":"other"}');
    },

    "are still recognised after the run has moved on": async ({ store }) => {
      const append = step(await accepted(store, creation()), { entry: { head: '{"op":"mine"}' } });
      const row = await accepted(store, append);
      await accepted(store, step(row));
      const [found] = await store.entries("run-1", { from: append.entry.seq, limit: 1 });
      assert.deepEqual(found, append.entry);
    },
  },
};
