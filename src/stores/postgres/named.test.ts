import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { startPgbouncer } from "../../../test/support/services/pgbouncer.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openPostgresStore } from "./index.ts";

const { url } = await sharedPostgres();
const bouncer = url === undefined ? "there is no server" : await startPgbouncer(url);

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  if (typeof bouncer === "object") await bouncer.stop();
});

/** A store on a single connection, and a run that it has claimed. */
async function lab(connectionString: string) {
  const schema = `named_${process.pid}_${ends.length}`;
  const pool = new pg.Pool({ connectionString, max: 1 });
  const store = await openPostgresStore({ pool, schema });
  ends.push(
    () => pool.end(),
    () => pool.query(`DROP SCHEMA ${schema} CASCADE`),
    () => store.close(),
  );
  let row = await accepted(store, creation());
  return {
    pool,
    store,
    append: async () => {
      row = await accepted(store, step(row));
    },
    prepared: async (): Promise<string[]> =>
      (await pool.query("SELECT name FROM pg_prepared_statements ORDER BY name")).rows.map(
        ({ name }) => name,
      ),
  };
}

describe.skipIf(url === undefined)("statements of an append on PostgreSQL", () => {
  it("are parsed once for a connection to the server itself", async () => {
    const { append, prepared } = await lab(url as string);
    for (let n = 0; n < 3; n++) await append();
    const name = expect.stringMatching(/^holdfast_[\w-]{40}$/);
    expect(await prepared()).toEqual([name, name]);
  });

  it.skipIf(typeof bouncer === "string")("have no name behind a pooler", async () => {
    const { append, prepared } = await lab((bouncer as { url: string }).url);
    for (let n = 0; n < 3; n++) await append();
    expect(await prepared()).toEqual([]);
  });

  it("continue without a name when the connection has lost them", async () => {
    const { pool, append, prepared } = await lab(url as string);
    await append();
    await pool.query("DEALLOCATE ALL");
    for (let n = 0; n < 3; n++) await append();
    expect(await prepared()).toEqual([]);
  });

  it("continue when somebody else has taken their names", async () => {
    const { pool, store, append, prepared } = await lab(url as string);
    await append();
    const names = await prepared();
    // The pool opens a new connection, where the names are in use before the store comes.
    await pool.query("SELECT pg_terminate_backend(pg_backend_pid())").catch(() => undefined);
    for (const name of names) await pool.query(`PREPARE "${name}" AS SELECT 2`);
    for (let n = 0; n < 3; n++) await append();
    expect((await store.read("run-1"))?.seq).toBe(5);
  });
});
