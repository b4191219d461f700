import assert from "node:assert/strict";
import type { Change, ChangeQuery, Changes } from "../../core/store/changes.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, anEntry, creation, outsideAct, step } from "./fixtures.ts";
import type { Behaviour, Bench } from "./suite.ts";

type Asked = Store & Required<Pick<Store, "changes">>;

/** For stores that can tell what was written; the others have nothing to show. */
const asked =
  (work: (store: Asked) => Promise<void>) =>
  async ({ store }: Bench): Promise<void> => {
    if (store.changes) await work(store as Asked);
  };

const name = ({ run, entry }: Change): string => `${run.id}@${entry.seq}`;

const found = ({ changes }: Changes): string[] => {
  assert.ok(changes, "the position is known");
  return changes.map(name).sort();
};

const now = async (store: Asked): Promise<string> =>
  (await store.changes({ after: null, limit: 1 })).position;

/** What there is, page by page. */
async function all(store: Asked, query: Omit<ChangeQuery, "limit">, limit: number): Promise<Change[]> {
  const told: Change[] = [];
  for (let next: Omit<ChangeQuery, "limit"> = query; ; ) {
    const { changes, position, hasMore } = await store.changes({ ...next, limit });
    assert.ok(changes);
    assert.ok(changes.length <= limit);
    told.push(...changes);
    if (!hasMore) return told;
    next = { ...query, after: position };
  }
}

async function three(store: Asked): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  for (const id of ["a", "b", "c"]) {
    const entries = [anEntry(1), anEntry(2, { count: 2 })];
    rows.push(await accepted(store, creation({ run: { id, labels: { team: id } }, entries })));
  }
  return rows;
}

const EVERYTHING = ["a@1", "a@2", "b@1", "b@2", "c@1", "c@2"];

async function erase(store: Asked, row: RunRow): Promise<void> {
  const append = { ...outsideAct(row, { claim: { kind: "erase" }, entries: [] }), head: "" };
  assert.deepEqual(await store.append([append]), [{ ok: true }]);
}

export const changes: Behaviour = {
  name: "changes",
  cases: {
    "tell each entry that was written after a position, once": asked(async (store) => {
      const start = await now(store);
      const rows = await three(store);
      const first = await store.changes({ after: start, limit: 100 });
      assert.deepEqual(found(first), EVERYTHING);
      assert.deepEqual(found(await store.changes({ after: first.position, limit: 100 })), []);
      await accepted(store, step(rows[1] as RunRow));
      const second = await store.changes({ after: first.position, limit: 100 });
      assert.deepEqual(found(second), ["b@4"]);
      const [change] = second.changes ?? [];
      assert.deepEqual(change?.run.labels, { team: "b" });
      assert.deepEqual(change?.entry, { seq: 4, count: 1, head: anEntry(4).head });
      assert.deepEqual(
        found(await store.changes({ after: start, limit: 100 })),
        [...EVERYTHING, "b@4"].sort(),
      );
    }),

    "come in pages, and go on after any of them": asked(async (store) => {
      const start = await now(store);
      await three(store);
      const end = await now(store);
      const whole = await all(store, { after: start, upTo: end }, 100);
      assert.deepEqual(whole.map(name).sort(), EVERYTHING);
      for (const limit of [1, 2, 5])
        assert.deepEqual((await all(store, { after: start, upTo: end }, limit)).map(name), whole.map(name));
      for (const [index, { position }] of whole.entries()) {
        const rest = await all(store, { after: position, upTo: end }, 2);
        assert.deepEqual(rest.map(name), whole.slice(index + 1).map(name));
        const { changes: again } = await store.changes({
          after: position,
          isAgain: true,
          upTo: end,
          limit: 1,
        });
        assert.deepEqual(again?.[0], whole[index]);
      }
    }),

    "of one run are in its order, also when another is written between": asked(async (store) => {
      const start = await now(store);
      let rows = await three(store);
      for (let round = 0; round < 3; round++)
        rows = await Promise.all(rows.map((row) => accepted(store, step(row))));
      const told = await all(store, { after: start }, 4);
      for (const id of ["a", "b", "c"]) {
        const own = told.filter(({ run }) => run.id === id).map(({ entry }) => entry.seq);
        assert.deepEqual(own, [1, 2, 4, 5, 6]);
      }
    }),

    "tell only the newest of each run to whoever asks for that": asked(async (store) => {
      const start = await now(store);
      const rows = await three(store);
      const middle = await now(store);
      const b = await accepted(store, step(rows[1] as RunRow));
      await accepted(store, step(b, { drop: { entries: [1, 2], blobs: [] } }));
      const newest = { after: start, isNewest: true };
      const whole = await store.changes({ ...newest, limit: 100 });
      assert.deepEqual(found(whole), ["a@2", "b@5", "c@2"]);
      assert.deepEqual(whole.changes?.find(({ run }) => run.id === "a")?.entry.head, anEntry(2).head);
      for (const limit of [1, 2, 3])
        assert.deepEqual((await all(store, newest, limit)).map(name).sort(), ["a@2", "b@5", "c@2"]);
      const then = await store.changes({ ...newest, upTo: middle, limit: 9 });
      assert.deepEqual(found(then), ["a@2", "b@2", "c@2"]);
      assert.deepEqual(found(await store.changes({ ...newest, after: middle, limit: 9 })), ["b@5"]);
    }),

    "are found after a run was erased, and dropped values are none": asked(async (store) => {
      const [a, b, c] = (await three(store)) as [RunRow, RunRow, RunRow];
      const before = await now(store);
      await erase(store, c);
      await erase(store, b);
      await accepted(store, creation({ run: { id: "d" } }));
      const { position, changes: told } = await store.changes({ after: before, limit: 10 });
      assert.deepEqual(told?.map(name), ["d@1"]);
      const dropped = await accepted(store, step(a, { drop: { entries: [1, 2], blobs: [] } }));
      const after = await store.changes({ after: position, limit: 10 });
      assert.deepEqual(found(after), ["a@4"]);
      await erase(store, (await store.read("d")) as RunRow);
      await accepted(store, step(dropped));
      assert.deepEqual(found(await store.changes({ after: after.position, limit: 10 })), ["a@5"]);
    }),

    "after a position that the store never gave are unknown": asked(async (store) => {
      await three(store);
      const given = await now(store);
      for (const after of [
        "",
        "x",
        `x${given}`,
        `${given}.`,
        `${given}zzzz`,
        given.replace(/[^.]*$/, "-1"),
      ]) {
        const { changes: told, position } = await store.changes({ after, limit: 10 });
        assert.equal(told, null, after);
        assert.deepEqual(found(await store.changes({ after: position, limit: 10 })), []);
      }
    }),
  },
};
