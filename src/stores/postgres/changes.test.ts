import pg from "pg";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { AsyncSqlHandle } from "../../core/sql.ts";
import type { Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openPostgresStore } from "./index.ts";

const { url = "" } = await sharedPostgres();
const admin = new pg.Pool({ connectionString: url });
const schema = `changes${process.pid}`;
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
});
afterAll(() => admin.end());

type Asked = Store & Required<Pick<Store, "changes" | "transaction">>;

async function open(): Promise<Asked> {
  const store = await openPostgresStore({ connectionString: url, schema });
  opened.push(store);
  await store.identity();
  return store as Asked;
}

/** Reads on from a position; returns what is new, and where it is now. */
async function read(store: Asked, after: string): Promise<[names: string[], position: string]> {
  const { changes, position } = await store.changes({ after, limit: 1_000 });
  return [(changes ?? []).map(({ run, entry }) => `${run.id}@${entry.seq}`), position];
}

const here = async (store: Asked): Promise<string> =>
  (await store.changes({ after: null, limit: 1 })).position;

describe.skipIf(url === "")("changes of a PostgreSQL store", () => {
  it("tell of a transaction that began early and committed late, once, in its run's order", async () => {
    const [store, other] = [await open(), await open()];
    let row = await accepted(store, creation({ run: { id: "slow" } }));
    let at = await here(other);
    const told: string[] = [];
    const look = async (): Promise<void> => {
      const [names, next] = await read(other, at);
      told.push(...names);
      at = next;
    };
    // It has written, so its number is lower than those of all that follow.
    const { result } = await store.transaction<void, AsyncSqlHandle>(
      async (sql) => {
        await sql.run("CREATE TEMPORARY TABLE early (a int)");
        row = await accepted(other, step(row));
        await look();
        for (const id of ["x", "y"]) await accepted(other, creation({ run: { id } }));
        await look();
      },
      () => step(row),
    );
    expect(result).toEqual({ ok: true });
    expect(told).toEqual(["slow@2", "x@1", "y@1"]);
    await look();
    await look();
    expect(told).toEqual(["slow@2", "x@1", "y@1", "slow@3"]);
  });

  it("miss nothing and double nothing while eight writers commit in any order", async () => {
    const store = await open();
    const writers = await Promise.all(Array.from({ length: 8 }, open));
    let at = await here(store);
    const told: string[] = [];
    let isDone = false;
    const write = async (writer: Asked, id: string): Promise<void> => {
      let row: RunRow = await accepted(writer, creation({ run: { id } }));
      for (let round = 0; round < 25; round++) row = await accepted(writer, step(row));
    };
    const writing = Promise.all(writers.map((writer, index) => write(writer, `w${index}`))).finally(() => {
      isDone = true;
    });
    for (let isLast = false; !isLast; ) {
      isLast = isDone;
      const [names, next] = await read(store, at);
      told.push(...names);
      at = next;
    }
    await writing;
    for (let index = 0; index < writers.length; index++) {
      const own = told.filter((name) => name.startsWith(`w${index}@`));
      expect(own).toEqual(Array.from({ length: 26 }, (_, seq) => `w${index}@${seq + 1}`));
    }
  });

  it("don't take entries for new that came with a dump of another server", async () => {
    const store = await open();
    await accepted(store, creation({ run: { id: "old" } }));
    await admin.query(`UPDATE "${schema}".journal SET xact = txid_current() + 3`);
    const again = await open();
    const at = await here(again);
    for (let round = 0; round < 6; round++) await accepted(again, creation({ run: { id: `new${round}` } }));
    const [names] = await read(again, at);
    expect(names.filter((name) => name.startsWith("old"))).toEqual([]);
    expect(names).toHaveLength(6);
  });
});
