import assert from "node:assert/strict";
import type { AnySqlHandle } from "../../core/sql.ts";
import type { Append, Store, TransactionResult } from "../../core/store/contract.ts";
import { accepted, creation, everythingOf, step } from "./fixtures.ts";
import type { Behaviour, Bench } from "./suite.ts";

const TABLE = [
  "create table if not exists conformance_stock (item text primary key, left_over integer not null)",
  "delete from conformance_stock",
];
const INSERT = "insert into conformance_stock values ('tea', 3)";
const READ = "select item, left_over from conformance_stock";
const BROKEN = "insert into no_such_table values (1)";

type Rows = readonly Readonly<Record<string, unknown>>[];

/**
 * Runs the statements in order, then passes the last one's result to `then`: synchronously or asynchronously, as the
 * store works.
 */
type Transact = <T>(
  statements: readonly string[],
  then: (rows: Rows) => T,
  append: (value: T) => Append,
) => Promise<TransactionResult<T>>;

function transactOn({ transaction, capabilities }: Required<Store>): Transact {
  if (capabilities.transactions === "async")
    return (statements, then, append) =>
      transaction(async (sql: AnySqlHandle) => {
        let rows: Rows = [];
        for (const text of statements) rows = await sql.all(text);
        return then(rows);
      }, append);
  return (statements, then, append) =>
    transaction((sql) => then(statements.map((text) => sql.all(text)).at(-1) ?? []), append);
}

/** Runs the case if the store has transactions; otherwise checks that it doesn't claim to. */
const withTransactions =
  (run: (store: Required<Store>, transact: Transact) => Promise<void>) =>
  async ({ store }: Bench): Promise<void> => {
    assert.equal(store.transaction !== undefined, store.capabilities.transactions !== false);
    if (!store.transaction) return;
    const able = store as Required<Store>;
    const bound = { ...able, capabilities: store.capabilities, transaction: store.transaction.bind(store) };
    await run(able, transactOn(bound));
  };

const nothing = (): void => undefined;

/** The content of the caller's table, read in a transaction that is rolled back. */
async function stock(transact: Transact): Promise<unknown> {
  const refused = () => ({ ...creation(), expect: { seq: 0, epoch: 0, token: "no" } });
  return (await transact([READ], (rows) => rows.map((row) => ({ ...row })), refused)).value;
}

const withTable = async (store: Store, transact: Transact) => {
  const row = await accepted(store, creation());
  await transact(TABLE, nothing, () => step(row));
  return { row, before: await everythingOf(store, row.id) };
};

export const transactions: Behaviour = {
  name: "transactions",
  cases: {
    "commit the caller's writes and the append together": withTransactions(async (store, transact) => {
      const row = await accepted(store, creation());
      const { value, result } = await transact(
        [...TABLE, INSERT, READ],
        ([first]) => first?.["left_over"],
        (left) => step(row, { entry: { data: `{"left":${String(left)}}` } }),
      );
      assert.deepEqual([value, result], [3, { ok: true }]);
      assert.equal((await everythingOf(store, row.id)).entries[1]?.data, '{"left":3}');
      assert.deepEqual(await stock(transact), [{ item: "tea", left_over: 3 }]);
    }),

    "undo the caller's writes when the append is refused": withTransactions(async (store, transact) => {
      const { row, before } = await withTable(store, transact);
      const { result } = await transact([INSERT], nothing, () => step(row));
      assert.deepEqual(result, { ok: false, reason: "conflict", row: before.row });
      assert.deepEqual(await everythingOf(store, row.id), before);
      assert.deepEqual(await stock(transact), []);
    }),

    "undo everything when the caller throws, and throw just that": withTransactions(
      async (store, transact) => {
        const { row, before } = await withTable(store, transact);
        const oops = new Error("out of tea");
        const failing = (): never => {
          throw oops;
        };
        const isJustThat = (error: unknown) => error === oops;
        await assert.rejects(
          transact([INSERT], failing, () => assert.fail("not reached")),
          isJustThat,
        );
        await assert.rejects(transact([INSERT], nothing, failing), isJustThat);
        assert.deepEqual(await everythingOf(store, row.id), before);
        assert.deepEqual(await stock(transact), []);
      },
    ),

    "take a promise just where they say so, and nothing after it": withTransactions(
      async (store, transact) => {
        const { row, before } = await withTable(store, transact);
        let kept: AnySqlHandle | undefined;
        const late = async (sql: AnySqlHandle): Promise<void> => {
          kept = sql;
          await sql.run(INSERT);
        };
        const pending = store.transaction(late, () => step(before.row ?? row));
        if (store.capabilities.transactions === "sync") {
          await assert.rejects(pending, { code: "HF-1018" });
          assert.deepEqual(await everythingOf(store, row.id), before);
        } else assert.deepEqual((await pending).result, { ok: true });
        const after = store.capabilities.transactions === "sync" ? [] : [{ item: "tea", left_over: 3 }];
        assert.deepEqual(await stock(transact), after);
        await assert.rejects(async () => kept?.run(INSERT), { code: "HF-1009" });
      },
    ),

    "refuse statements that would end them": withTransactions(async (store, transact) => {
      const { row, before } = await withTable(store, transact);
      for (const text of ["commit", " /* now */ ROLLBACK", "-- so\nbegin", "savepoint a", "release a"])
        await assert.rejects(
          transact([INSERT, text], nothing, () => assert.fail("not reached")),
          { code: "HF-1003" },
        );
      assert.deepEqual(await everythingOf(store, row.id), before);
      assert.deepEqual(await stock(transact), []);
    }),

    "leave the store usable after each kind of failure": withTransactions(async (store, transact) => {
      const row = await accepted(store, creation());
      await assert.rejects(transact([BROKEN], nothing, () => assert.fail("not reached")));
      await accepted(store, step(row));
    }),
  },
};
