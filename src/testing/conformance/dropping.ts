import assert from "node:assert/strict";
import type { Drop, Entry, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, anEntry, creation, everythingOf, outsideAct, refused, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const LONG = "🦊".repeat(20_000);

/** A run with entries at 1, 2–4 and 5, and three blobs. */
async function threeEntries(store: Store, id = "run-1"): Promise<RunRow> {
  const entries = [
    anEntry(1),
    anEntry(2, { count: 3, data: `"${LONG}"` }),
    anEntry(5, { head: '{ "odd":  1}' }),
  ];
  const blobs = ["h1", "h2", "h3"].map((hash) => ({ hash, data: `${hash} ${LONG}` }));
  return accepted(store, creation({ run: { id }, entries, blobs }));
}

const dataOf = (entries: readonly Entry[]): (string | null)[] => entries.map(({ data }) => data);

const hashesOf = async (store: Store, id = "run-1"): Promise<string[]> =>
  [...(await store.blobs(id, ["h1", "h2", "h3", "h4"])).keys()].sort();

const drop = (entries: readonly number[], blobs: readonly string[] = []): Drop => ({ entries, blobs });

export const dropping: Behaviour = {
  name: "dropping values",
  cases: {
    "takes data and blobs away in the append that says so": async ({ store }) => {
      const row = await threeEntries(store);
      const entry = { head: '{"op":"values_dropped"}', data: null };
      const after = await accepted(
        store,
        outsideAct(row, { run: { prunedAt: 7 }, entry, drop: drop([1, 2], ["h1", "h3"]) }),
      );
      assert.deepEqual([after.seq, after.prunedAt], [6, 7]);
      const { entries } = await everythingOf(store, "run-1");
      assert.deepEqual(dataOf(entries), [null, null, '{"value":5}', null]);
      assert.equal(entries[3]?.head, entry.head);
      assert.deepEqual(await hashesOf(store), ["h2"]);
    },

    "leaves positions, counts and heads as they were, to the letter": async ({ store }) => {
      const row = await threeEntries(store);
      const before = (await everythingOf(store, "run-1")).entries;
      await accepted(store, outsideAct(row, { drop: drop([1, 2, 5]) }));
      const after = (await everythingOf(store, "run-1")).entries.slice(0, 3);
      assert.deepEqual(
        after,
        before.map((entry) => ({ ...entry, data: null })),
      );
      assert.deepEqual(await store.entries("run-1", { from: 3, limit: 1 }), [after[1]]);
    },

    "goes by an entry's own position, and ignores what is not there": async ({ store }) => {
      const row = await threeEntries(store);
      const before = await everythingOf(store, "run-1");
      await accepted(store, outsideAct(row, { drop: drop([0, 3, 4, 99], ["h9", ""]) }));
      const { entries } = await everythingOf(store, "run-1");
      assert.deepEqual(entries.slice(0, 3), before.entries);
      assert.deepEqual(await hashesOf(store), ["h1", "h2", "h3"]);
    },

    "can be done again, and by the thousand": async ({ store }) => {
      const entries = Array.from({ length: 1500 }, (_, i) => anEntry(i + 1));
      const blobs = entries.map(({ seq }) => ({ hash: `h${seq}`, data: "x" }));
      const row = await accepted(store, creation({ entries, blobs }));
      const all = drop(
        entries.map(({ seq }) => seq),
        blobs.map(({ hash }) => hash),
      );
      const once = await accepted(store, outsideAct(row, { drop: all }));
      await accepted(store, outsideAct(once, { drop: all }));
      const left = await store.entries("run-1", { from: 1, limit: 1500 });
      assert.deepEqual(
        left,
        entries.map((entry) => ({ ...entry, data: null })),
      );
      assert.equal((await store.blobs("run-1", all.blobs)).size, 0);
    },

    "does not happen with a refused append": async ({ store }) => {
      const row = await threeEntries(store);
      const everything = drop([1, 2, 5], ["h1", "h2", "h3"]);
      await refused(store, outsideAct(row, { expect: { seq: 4 }, drop: everything }), "conflict");
      await refused(store, step(row, { expect: { token: "stolen" }, drop: everything }), "fenced");
      await refused(store, creation({ drop: everything }), "exists");
      assert.deepEqual(await hashesOf(store), ["h1", "h2", "h3"]);
    },

    "leaves what the same append writes": async ({ store }) => {
      const row = await threeEntries(store);
      const blobs = [
        { hash: "h1", data: `h1 ${LONG}` },
        { hash: "h4", data: "new" },
      ];
      await accepted(store, outsideAct(row, { blobs, drop: drop([6], ["h1", "h2", "h4"]) }));
      assert.deepEqual(await hashesOf(store), ["h1", "h3", "h4"]);
      assert.equal((await store.blobs("run-1", ["h1"])).get("h1"), `h1 ${LONG}`);
      assert.equal((await everythingOf(store, "run-1")).entries[3]?.data, '{"value":6}');
    },

    "does not touch another run that holds the same": async ({ store }) => {
      const row = await threeEntries(store);
      await threeEntries(store, "other");
      const before = await everythingOf(store, "other");
      await accepted(store, outsideAct(row, { drop: drop([1, 2, 5], ["h1", "h2", "h3"]) }));
      assert.deepEqual(await everythingOf(store, "other"), before);
      assert.deepEqual(await hashesOf(store, "other"), ["h1", "h2", "h3"]);
      assert.deepEqual(await hashesOf(store), []);
    },

    "lets a blob be stored anew, and the run go on": async ({ store }) => {
      const row = await threeEntries(store);
      const dropped = await accepted(store, outsideAct(row, { drop: drop([1, 2, 5], ["h1"]) }));
      const after = await accepted(store, step(dropped, { blobs: [{ hash: "h1", data: "again" }] }));
      assert.equal(after.seq, 7);
      assert.deepEqual(await store.blobs("run-1", ["h1"]), new Map([["h1", "again"]]));
      assert.deepEqual(dataOf((await everythingOf(store, "run-1")).entries.slice(3)), [
        '{"value":6}',
        '{"value":7}',
      ]);
    },

    "happens in a batch to each run by itself": async ({ store }) => {
      const one = await threeEntries(store, "one");
      const two = await threeEntries(store, "two");
      const results = await store.append([
        outsideAct(one, { drop: drop([1], ["h1"]) }),
        outsideAct(two, { expect: { seq: 1 }, drop: drop([1], ["h1"]) }),
        outsideAct(two, { drop: drop([2], ["h2"]) }),
      ]);
      assert.deepEqual(
        results.map(({ ok }) => ok),
        [true, false, true],
      );
      assert.deepEqual(await hashesOf(store, "one"), ["h2", "h3"]);
      assert.deepEqual(await hashesOf(store, "two"), ["h1", "h3"]);
      const { entries } = await everythingOf(store, "two");
      assert.deepEqual(
        dataOf(entries).map((data) => data === null),
        [false, true, false, false],
      );
    },
  },
};
