import assert from "node:assert/strict";
import type { RunFilter, Store } from "../../core/store/contract.ts";
import type { RunStatus } from "../../core/types.ts";
import { creation, idsByPages, idsOf } from "./fixtures.ts";
import type { Behaviour } from "./suite.ts";

const STATUSES: readonly RunStatus[] = ["queued", "running", "waiting", "failed"];
const PARENT = { runId: "boss", step: "delegate" };

/**
 * Creates 24 runs r00 … r23 in six different milliseconds, with two workflows and four statuses; a third are children.
 */
async function twentyFour(store: Store): Promise<void> {
  const runs = Array.from({ length: 24 }, (_, i) =>
    creation({
      run: {
        id: `r${String(i).padStart(2, "0")}`,
        createdAt: 1000 + Math.floor(i / 4),
        workflow: i % 2 === 0 ? "even" : "odd",
        status: STATUSES[i % 4] ?? "queued",
        parent: i % 3 === 0 ? PARENT : null,
      },
    }),
  );
  // Inserted out of order, so that insertion order can't pass for age.
  await store.append([...runs.slice(7), ...runs.slice(0, 7).reverse()]);
}

const expected = (matches: (i: number) => boolean): string[] =>
  Array.from({ length: 24 }, (_, i) => 23 - i)
    .filter(matches)
    .map((i) => `r${String(i).padStart(2, "0")}`);

const refusal = (option: string) => (error: unknown) => {
  const { code, detail } = error as { code?: unknown; detail?: { option?: unknown } };
  return code === "HF-1003" && detail?.option === option;
};

export const listing: Behaviour = {
  name: "listing",
  cases: {
    "gives whole rows, newest first, ids deciding ties": async ({ store }) => {
      await twentyFour(store);
      assert.deepEqual(
        await idsOf(store, { limit: 100 }),
        expected(() => true),
      );
      const { runs } = await store.list({ limit: 1 });
      assert.deepEqual(runs[0], await store.read("r23"));
    },

    "of an empty store is empty": async ({ store }) => {
      assert.deepEqual(await store.list({ limit: 10 }), { runs: [], cursor: null });
    },

    "filters by workflow, by status and by parent": async ({ store }) => {
      await twentyFour(store);
      assert.deepEqual(
        await idsOf(store, { workflow: "odd", limit: 100 }),
        expected((i) => i % 2 === 1),
      );
      assert.deepEqual(
        await idsOf(store, { status: ["failed"], limit: 100 }),
        expected((i) => i % 4 === 3),
      );
      assert.deepEqual(
        await idsOf(store, { parent: "boss", limit: 100 }),
        expected((i) => i % 3 === 0),
      );
      const two: readonly RunStatus[] = ["failed", "queued", "failed"];
      assert.deepEqual(
        await idsOf(store, { status: two, limit: 100 }),
        expected((i) => i % 4 === 3 || i % 4 === 0),
      );
    },

    "counts, if it can, exactly what it lists, by status and workflow": async ({ store }) => {
      await twentyFour(store);
      if (!store.count) return;
      const queries = [
        {},
        { workflow: "odd" },
        { status: ["failed", "queued"] },
        { parent: "boss" },
        { pruned: true },
      ];
      for (const query of [
        ...queries,
        { workflow: "even", createdAfter: 1002, createdBefore: 1005 },
      ] as RunFilter[]) {
        const { runs } = await store.list({ ...query, limit: 100 });
        const counted: unknown[][] = (await store.count(query)).map(({ status, workflow, count }) => [
          status,
          workflow,
          count,
        ]);
        const wanted = new Map<string, [RunStatus, string, number]>();
        for (const { status, workflow } of runs) {
          const [, , count] = wanted.get(`${status} ${workflow}`) ?? [status, workflow, 0];
          wanted.set(`${status} ${workflow}`, [status, workflow, count + 1]);
        }
        assert.deepEqual(counted.map(String).sort(), [...wanted.values()].map(String).sort());
      }
    },

    "combines filters: each one given must match": async ({ store }) => {
      await twentyFour(store);
      const query = { workflow: "even", status: ["queued"], parent: "boss", limit: 100 } as const;
      assert.deepEqual(
        await idsOf(store, query),
        expected((i) => i % 4 === 0 && i % 3 === 0),
      );
      assert.deepEqual(await idsOf(store, { ...query, workflow: "odd" }), []);
      assert.deepEqual(await idsOf(store, { ...query, parent: "nobody" }), []);
    },

    "never widens: a filter that matches nothing gives nothing": async ({ store }) => {
      await twentyFour(store);
      assert.deepEqual(await idsOf(store, { workflow: "", limit: 100 }), []);
      assert.deepEqual(await idsOf(store, { workflow: "EVEN", limit: 100 }), []);
      assert.deepEqual(await idsOf(store, { workflow: "%", limit: 100 }), []);
      assert.deepEqual(await idsOf(store, { parent: "", limit: 100 }), []);
      assert.deepEqual(await idsOf(store, { status: [], limit: 100 }), []);
      assert.deepEqual(await idsOf(store, { status: ["completed"], limit: 100 }), []);
    },

    "refuses a filter it does not know": async ({ store }) => {
      await twentyFour(store);
      for (const key of ["tenant", "Workflow", "states", "id"]) {
        await assert.rejects(store.list({ limit: 10, [key]: "x" }), refusal(key));
      }
    },

    "pages without gap or repeat, whatever the page size": async ({ store }) => {
      await twentyFour(store);
      const all = expected(() => true);
      for (const limit of [1, 2, 3, 5, 8, 23, 24, 25])
        assert.deepEqual(await idsByPages(store, { limit }), all);
    },

    "pages through a filtered list": async ({ store }) => {
      await twentyFour(store);
      for (const limit of [1, 3, 4]) {
        const odd = await idsByPages(store, { workflow: "odd", limit });
        assert.deepEqual(
          odd,
          expected((i) => i % 2 === 1),
        );
        const some = await idsByPages(store, { status: ["failed", "queued"], parent: "boss", limit });
        assert.deepEqual(
          some,
          expected((i) => (i % 4 === 3 || i % 4 === 0) && i % 3 === 0),
        );
      }
    },

    "goes on from its place when newer runs arrive": async ({ store }) => {
      await twentyFour(store);
      const first = await store.list({ limit: 10 });
      await store.append([creation({ run: { id: "newer", createdAt: 9999 } })]);
      await store.append([creation({ run: { id: "r13a", createdAt: 1003 } })]);
      const rest = await idsByPages(store, { limit: 10, cursor: first.cursor ?? "" });
      const older = expected((i) => i <= 13);
      assert.deepEqual(rest, ["r13a", ...older]);
    },

    "takes a limit of 1 to 1000": async ({ store }) => {
      await twentyFour(store);
      assert.equal((await store.list({ limit: 1 })).runs.length, 1);
      assert.equal((await store.list({ limit: 1000 })).runs.length, 24);
      for (const limit of [0, -1, 1001, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(store.list({ limit }), refusal("limit"));
      }
    },

    "refuses a cursor it did not make": async ({ store }) => {
      await twentyFour(store);
      for (const cursor of ["", "nonsense", "bnVsbA", "e30", "WzFd", "💥"]) {
        await assert.rejects(store.list({ limit: 10, cursor }), refusal("cursor"));
      }
    },
  },
};
