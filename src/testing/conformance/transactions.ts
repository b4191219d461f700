import assert from "node:assert/strict";
import type { SqlHandle } from "../../core/sql.ts";
import type { Store } from "../../core/store.ts";
import { accepted, creation, everythingOf, step } from "./fixtures.ts";
import type { Behaviour, Bench } from "./suite.ts";

type Transaction = NonNullable<Store["transaction"]>;

const TABLE = "create table conformance_stock (item text primary key, left_over integer not null)";
const insert = (sql: SqlHandle): void => sql.run("insert into conformance_stock values ('tea', 3)");
const READ = "select item, left_over from conformance_stock";

/** Runs the case where the store has transactions; elsewhere makes sure that it does not pretend. */
const withTransactions =
  (run: (store: Store, transaction: Transaction) => Promise<void>) =>
  async ({ store }: Bench): Promise<void> => {
    assert.equal(store.transaction !== undefined, store.capabilities.transactions);
    if (store.transaction) await run(store, store.transaction.bind(store));
  };

/** What the caller's table holds, read in a transaction that is not kept. */
async function stock(transaction: Transaction): Promise<unknown> {
  const { value } = await transaction(
    (sql) => sql.all(READ),
    () => ({ ...creation(), expect: { seq: 0, epoch: 0, token: "no" } }),
  );
  return value.map((row) => ({ ...row }));
}

export const transactions: Behaviour = {
  name: "transactions",
  cases: {
    "commit the caller's writes and the append together": withTransactions(async (store, transaction) => {
      const row = await accepted(store, creation());
      const work = (sql: SqlHandle) => {
        sql.run(TABLE);
        insert(sql);
        return sql.all(READ)[0]?.["left_over"];
      };
      const { value, result } = await transaction(work, (left) =>
        step(row, { entry: { data: `{"left":${String(left)}}` } }),
      );
      assert.deepEqual([value, result], [3, { ok: true }]);
      assert.equal((await everythingOf(store, row.id)).entries[1]?.data, '{"left":3}');
      assert.deepEqual(await stock(transaction), [{ item: "tea", left_over: 3 }]);
    }),

    "undo the caller's writes when the append is refused": withTransactions(async (store, transaction) => {
      const row = await accepted(store, creation());
      await transaction(
        (sql) => sql.run(TABLE),
        () => step(row),
      );
      const before = await everythingOf(store, row.id);
      const { result } = await transaction(insert, () => step(row));
      assert.deepEqual(result, { ok: false, reason: "conflict", row: before.row });
      assert.deepEqual(await everythingOf(store, row.id), before);
      assert.deepEqual(await stock(transaction), []);
    }),

    "undo everything when the caller throws, and throw just that": withTransactions(
      async (store, transaction) => {
        const row = await accepted(store, creation());
        const after = await transaction(
          (sql) => sql.run(TABLE),
          () => step(row),
        );
        assert.equal(after.result.ok, true);
        const before = await everythingOf(store, row.id);
        const oops = new Error("out of tea");
        const work = (sql: SqlHandle) => {
          insert(sql);
          throw oops;
        };
        await assert.rejects(
          transaction(work, () => assert.fail("not reached")),
          (error) => error === oops,
        );
        const failing = (): never => {
          throw oops;
        };
        await assert.rejects(transaction(insert, failing), (error) => error === oops);
        assert.deepEqual(await everythingOf(store, row.id), before);
        assert.deepEqual(await stock(transaction), []);
      },
    ),

    "refuse work that goes on after it returned": withTransactions(async (store, transaction) => {
      const row = await accepted(store, creation());
      await transaction(
        (sql) => sql.run(TABLE),
        () => step(row),
      );
      const before = await everythingOf(store, row.id);
      const work = async (sql: SqlHandle) => insert(sql);
      await assert.rejects(
        transaction(work, () => assert.fail("not reached")),
        { code: "HF-1018" },
      );
      assert.deepEqual(await everythingOf(store, row.id), before);
      assert.deepEqual(await stock(transaction), []);
    }),

    "leave the store usable after each kind of failure": withTransactions(async (store, transaction) => {
      const row = await accepted(store, creation());
      const broken = (sql: SqlHandle) => sql.run("insert into no_such_table values (1)");
      await assert.rejects(transaction(broken, () => assert.fail("not reached")));
      await accepted(store, step(row));
    }),
  },
};
