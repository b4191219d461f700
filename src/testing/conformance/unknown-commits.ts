import assert from "node:assert/strict";
import type { Append, Entry } from "../../core/store/contract.ts";
import { accepted, anEntry, creation, outsideAct, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const onlyEntry = ({ entries }: Append): Entry => entries[0] as Entry;

export const unknownCommits: Behaviour = {
  name: "unknown commits",
  cases: {
    "that were applied are recognised by the entry at their position": async ({ store }) => {
      const append = step(await accepted(store, creation()), { entry: { count: 2, head: '{"op":"mine"}' } });
      await store.append([append]);
      const [found] = await store.entries("run-1", { from: onlyEntry(append).seq, limit: 1 });
      assert.deepEqual(found, onlyEntry(append));
    },

    "that were not applied are recognised by the lack of it": async ({ store }) => {
      const append = step(await accepted(store, creation()));
      assert.deepEqual(await store.entries("run-1", { from: onlyEntry(append).seq, limit: 1 }), []);
    },

    "that lost to another are recognised by the other's entry": async ({ store }) => {
      const row = await accepted(store, creation());
      const mine = step(row, { entry: { head: '{"op":"mine"}' } });
      const other = outsideAct(row, { entry: { head: '{"op":"other"}' } });
      await store.append([other]);
      await store.append([mine]);
      const [found] = await store.entries("run-1", { from: onlyEntry(mine).seq, limit: 1 });
      assert.equal(found?.head, '{"op":"other"}');
    },

    "with several entries are recognised by the last": async ({ store }) => {
      const append = creation({ entries: [anEntry(1), anEntry(2), anEntry(3, { head: '{"op":"mine"}' })] });
      await store.append([append]);
      const [found] = await store.entries("run-1", { from: 3, limit: 1 });
      assert.deepEqual(found, append.entries[2]);
    },

    "are still recognised after the run has moved on": async ({ store }) => {
      const append = step(await accepted(store, creation()), { entry: { head: '{"op":"mine"}' } });
      const row = await accepted(store, append);
      await accepted(store, step(row));
      const [found] = await store.entries("run-1", { from: onlyEntry(append).seq, limit: 1 });
      assert.deepEqual(found, onlyEntry(append));
    },
  },
};
