import assert from "node:assert/strict";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

/** A journal with entries at 1, 2–4, 5 and 6–7. */
async function fourEntries(store: Store): Promise<void> {
  let row = await accepted(store, creation());
  for (const count of [3, 1, 2]) row = await accepted(store, step(row, { entry: { count } }));
}

const positionsFrom = async (store: Store, from: number, limit = 100): Promise<number[]> =>
  (await store.entries("run-1", { from, limit })).map(({ seq }) => seq);

export const entries: Behaviour = {
  name: "entries",
  cases: {
    "come in order of position": async ({ store }) => {
      await fourEntries(store);
      assert.deepEqual(await positionsFrom(store, 1), [1, 2, 5, 6]);
      assert.deepEqual(await positionsFrom(store, 0), [1, 2, 5, 6]);
    },

    "start with the one that contains the position asked for": async ({ store }) => {
      await fourEntries(store);
      for (const from of [2, 3, 4]) assert.deepEqual(await positionsFrom(store, from), [2, 5, 6]);
      assert.deepEqual(await positionsFrom(store, 5), [5, 6]);
      for (const from of [6, 7]) assert.deepEqual(await positionsFrom(store, from), [6]);
    },

    "are none after the end": async ({ store }) => {
      await fourEntries(store);
      assert.deepEqual(await positionsFrom(store, 8), []);
      assert.deepEqual(await positionsFrom(store, 1_000_000), []);
    },

    "are no more than the limit": async ({ store }) => {
      await fourEntries(store);
      assert.deepEqual(await positionsFrom(store, 1, 1), [1]);
      assert.deepEqual(await positionsFrom(store, 3, 2), [2, 5]);
      assert.deepEqual(await positionsFrom(store, 1, 4), [1, 2, 5, 6]);
    },

    "refuse a limit that is not a positive whole number": async ({ store }) => {
      await fourEntries(store);
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        await assert.rejects(store.entries("run-1", { from: 1, limit }), { code: "HF-1003" });
      }
    },

    "can be read page by page without gap or repeat": async ({ store }) => {
      const row = await accepted(store, creation());
      const later = Array.from({ length: 1299 }, (_, i) => step({ ...row, seq: 1 + i }));
      await store.append(later);
      const seen: number[] = [];
      for (let from = 1; ; ) {
        const page = await store.entries("run-1", { from, limit: 700 });
        seen.push(...page.map(({ seq }) => seq));
        const last = page.at(-1);
        if (!last) break;
        from = last.seq + last.count;
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 1300 }, (_, i) => i + 1),
      );
      assert.equal((await store.entries("run-1", { from: 1, limit: 5000 })).length, 1300);
    },

    "are those of the run asked for": async ({ store }) => {
      await fourEntries(store);
      await accepted(store, creation({ run: { id: "run-2" }, entry: { data: '"two"' } }));
      const found = await store.entries("run-2", { from: 1, limit: 10 });
      assert.deepEqual(
        found.map(({ data }) => data),
        ['"two"'],
      );
    },
  },
};
