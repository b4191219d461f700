import assert from "node:assert/strict";
import type { Store } from "../../core/store/contract.ts";
import type { RunIdentity, RunProjection } from "../../core/types.ts";
import {
  accepted,
  creation,
  HOUR,
  idsByPages,
  idsOf,
  outsideAct,
  step,
  take,
  takeBriefly,
} from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const TEAMS = ["red", "green", 'it\'s "blue" \\ 🦊'];

/** Creates 24 runs t00 … t23, two in a millisecond, with all kinds of names, labels, queues and keys. */
async function tagged(store: Store): Promise<void> {
  const runs = Array.from({ length: 24 }, (_, i) =>
    creation({
      run: {
        id: `t${String(i).padStart(2, "0")}`,
        createdAt: 1000 + Math.floor(i / 2),
        workflow: i % 2 === 0 ? "even" : "odd",
        status: i % 4 === 0 ? "failed" : "running",
        name: i % 6 === 0 ? "Nightly, 100 %" : null,
        labels: i % 3 === 0 ? { team: TEAMS[i % TEAMS.length] ?? "" } : i % 3 === 1 ? both(i) : {},
        queue: i < 12 ? "mail" : i < 18 ? "Mail" : null,
        key: i % 5 === 0 ? "customer/7" : null,
      },
    }),
  );
  await store.append([...runs.slice(5), ...runs.slice(0, 5)]);
}

const both = (i: number) => ({ team: TEAMS[i % 2] ?? "", tier: "gold", empty: "" });

const expected = (matches: (i: number) => boolean): string[] =>
  Array.from({ length: 24 }, (_, i) => 23 - i)
    .filter(matches)
    .map((i) => `t${String(i).padStart(2, "0")}`);

const labelsOf = (i: number): Readonly<Record<string, string>> =>
  i % 3 === 0 ? { team: TEAMS[i % 3] ?? "" } : i % 3 === 1 ? both(i) : {};

const waiting = (
  id: string,
  wakeAt: number,
  priority: number,
  more: Partial<RunIdentity & RunProjection> = {},
) => creation({ run: { id, status: "queued", wakeAt, priority, ...more }, claim: { kind: "release" } });

const dueIds = async (store: Store, limit = 10): Promise<string[]> =>
  (await store.due({ workflows: ["orders", "bills"], limit })).map(({ id }) => id);

export const tags: Behaviour = {
  name: "tags",
  cases: {
    "of a run are kept, and no later append changes them": async ({ store }) => {
      const run = {
        name: "a",
        labels: { team: "red", "odd 'name\"": "é 🦊", empty: "" },
        queue: "q",
        key: "k",
        priority: -7,
      };
      const row = await accepted(store, creation({ run }));
      const { name, labels, queue, key, priority } = row;
      assert.deepEqual({ name, labels, queue, key, priority }, run);
      const other = { name: "b", labels: {}, queue: null, key: "z", priority: 0 };
      const after = await accepted(store, step(row, { run: other }));
      assert.deepEqual({ ...after, claim: row.claim, seq: row.seq, head: row.head }, row);
      const plain = await accepted(store, creation({ run: { id: "plain" } }));
      assert.deepEqual(
        [plain.name, plain.labels, plain.queue, plain.key, plain.priority],
        [null, {}, null, null, 0],
      );
    },

    "filter lists, each alone and together": async ({ store }) => {
      await tagged(store);
      const cases: [Parameters<Store["list"]>[0], (i: number) => boolean][] = [
        [{ name: "Nightly, 100 %", limit: 100 }, (i) => i % 6 === 0],
        [{ queue: "mail", limit: 100 }, (i) => i < 12],
        [{ queue: "Mail", limit: 100 }, (i) => i >= 12 && i < 18],
        [{ key: "customer/7", limit: 100 }, (i) => i % 5 === 0],
        [{ labels: { tier: "gold" }, limit: 100 }, (i) => i % 3 === 1],
        [{ labels: { team: "red" }, limit: 100 }, (i) => labelsOf(i)["team"] === "red"],
        [{ labels: { team: "red", tier: "gold" }, limit: 100 }, (i) => i % 3 === 1 && i % 2 === 0],
        [{ labels: { empty: "" }, limit: 100 }, (i) => i % 3 === 1],
        [{ labels: {}, limit: 100 }, () => true],
        [{ labels: { tier: "gold" }, status: ["failed"], limit: 100 }, (i) => i % 3 === 1 && i % 4 === 0],
        [
          { queue: "mail", status: ["failed", "running"], workflow: "even", limit: 100 },
          (i) => i < 12 && i % 2 === 0,
        ],
        [{ key: "customer/7", queue: "mail", name: "Nightly, 100 %", limit: 100 }, (i) => i === 0],
        [{ createdAfter: 1003, limit: 100 }, (i) => i >= 6],
        [{ createdBefore: 1003, limit: 100 }, (i) => i < 6],
        [{ createdAfter: 1003, createdBefore: 1005, limit: 100 }, (i) => i >= 6 && i < 10],
        [{ createdAfter: 1005, createdBefore: 1005, limit: 100 }, () => false],
        [
          { createdAfter: 1003, status: ["failed"], workflow: "even", limit: 100 },
          (i) => i >= 6 && i % 4 === 0,
        ],
        [{ createdBefore: 1006, labels: { tier: "gold" }, limit: 100 }, (i) => i < 12 && i % 3 === 1],
        [{ createdBefore: 1006, queue: "mail", pruned: false, limit: 100 }, (i) => i < 12],
      ];
      for (const [query, matches] of cases) {
        assert.deepEqual(await idsOf(store, query), expected(matches), JSON.stringify(query));
        for (const limit of [1, 4])
          assert.deepEqual(
            await idsByPages(store, { ...query, limit }),
            expected(matches),
            JSON.stringify(query),
          );
      }
    },

    "never widen a list": async ({ store }) => {
      await tagged(store);
      for (const filter of [
        { name: "nightly, 100 %" },
        { name: "" },
        { queue: "%" },
        { key: "" },
        { labels: { team: "gold" } },
        { labels: { red: "team" } },
        { labels: { tier: "gold", team: "none" } },
        { labels: { toString: "x" } },
        { createdAfter: 9e12 },
        { createdBefore: -1 },
      ])
        assert.deepEqual(await idsOf(store, { ...filter, limit: 100 }), [], JSON.stringify(filter));
      for (const filter of [
        { labels: "team" },
        { labels: { team: 5 } },
        { createdAfter: "1" },
        { label: {} },
      ])
        await assert.rejects(store.list({ limit: 10, ...(filter as object) }), (error: { code?: unknown }) =>
          ["HF-1003", "HF-1050"].includes(String(error.code)),
        );
    },

    "go with their run": async ({ store }) => {
      const run = { labels: { team: "red" }, name: "n", queue: "q", key: "k", priority: 3 };
      const row = await accepted(store, creation({ run }));
      const erase = { ...outsideAct(row, { claim: { kind: "erase" }, entries: [] }), head: "" };
      assert.deepEqual(await store.append([erase]), [{ ok: true }]);
      for (const filter of [{ labels: run.labels }, { name: "n" }, { queue: "q" }, { key: "k" }])
        assert.deepEqual(await idsOf(store, { ...filter, limit: 10 }), []);
      await accepted(store, creation());
      assert.deepEqual(await idsOf(store, { labels: run.labels, limit: 10 }), []);
    },
  },
};

export const priorities: Behaviour = {
  name: "priorities",
  cases: {
    "decide which run is due first, then the longest due": async ({ store }) => {
      const now = await store.now();
      await store.append([
        waiting("low", 1, -5),
        waiting("normal-old", 2, 0),
        waiting("normal", now - 1, 0, { workflow: "bills" }),
        waiting("high", now - 2, 10),
        waiting("highest", now - 3, 100),
        waiting("high-old", 5, 10, { workflow: "bills" }),
        waiting("lowest", 0, -100),
        waiting("later", now + HOUR, 50),
        waiting("other", 1, 99, { workflow: "strangers" }),
      ]);
      const all = ["highest", "high-old", "high", "normal-old", "normal", "low", "lowest"];
      assert.deepEqual(await dueIds(store), all);
      for (const limit of [1, 2, 4, 6]) assert.deepEqual(await dueIds(store, limit), all.slice(0, limit));
    },

    "hold while runs are claimed, renewed, given back and left behind": async ({ store }) => {
      const now = await store.now();
      const low = await accepted(store, waiting("low", 1, -1));
      const high = await accepted(store, waiting("high", now - 1, 1));
      await accepted(
        store,
        creation({ run: { id: "dead", priority: 2, wakeAt: 0 }, claim: takeBriefly("ada") }),
      );
      assert.deepEqual(await dueIds(store), ["dead", "high", "low"]);
      const taken = await accepted(store, outsideAct(high, { claim: take("bob") }));
      assert.deepEqual(await dueIds(store), ["dead", "low"]);
      const renewal = { runId: "high", epoch: taken.claim.epoch, token: "bob-token", ttlMs: HOUR };
      assert.equal((await store.renew([renewal]))[0]?.priority, 1);
      assert.deepEqual(await dueIds(store), ["dead", "low"]);
      await accepted(store, step(taken, { claim: { kind: "release" } }));
      assert.deepEqual(await dueIds(store), ["dead", "high", "low"]);
      await accepted(store, outsideAct(low, { run: { wakeAt: null } }));
      assert.deepEqual(await dueIds(store), ["dead", "high"]);
    },
  },
};
