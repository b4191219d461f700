import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { openPostgresStore, type PostgresOptions } from "./index.ts";

const { url } = await sharedPostgres();
const admin = new pg.Pool({ connectionString: url, max: 2 });
afterAll(() => admin.end());

const [was, is] = [`before-${process.pid}`, `after_${process.pid}`];
const role = `holdfast_renamed_${process.pid}`;

const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const schema of [was, is]) await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
});

async function open(schema: string, more: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ connectionString: url as string, schema, ...more });
  opened.push(store);
  return store;
}

/** Creates one run, or several, and changes them: by each of the functions. */
async function write(store: Store, id: string): Promise<void> {
  const row = await accepted(store, creation({ run: { id } }));
  await accepted(store, step(row));
  const two = [`${id}-2`, `${id}-3`].map((one) => creation({ run: { id: one } }));
  expect(await store.append(two)).toEqual([{ ok: true }, { ok: true }]);
}

async function rename(from: string, to: string): Promise<void> {
  for (const store of opened.splice(0)) await store.close();
  await admin.query(`ALTER SCHEMA "${from}" RENAME TO "${to}"`);
}

/** Everything of a schema that has a text of its own, with its name left out. */
async function texts(schema: string): Promise<unknown[]> {
  const { rows } = await admin.query(
    `SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc AS p WHERE pronamespace = $1::regnamespace
      UNION ALL SELECT pg_get_viewdef(c.oid) FROM pg_class AS c WHERE relnamespace = $1::regnamespace AND relkind = 'v'
      UNION ALL SELECT pg_get_indexdef(c.oid) FROM pg_class AS c WHERE relnamespace = $1::regnamespace AND relkind = 'i'
      UNION ALL SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_class AS c ON c.oid = adrelid
        WHERE relnamespace = $1::regnamespace`,
    [`"${schema}"`],
  );
  return rows
    .map(({ text }: { text: string }) => text.replaceAll(`"${schema}"`, schema).replaceAll(schema, "S"))
    .sort();
}

describe.skipIf(url === undefined)("a PostgreSQL schema that was renamed", () => {
  beforeAll(() => admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`));
  afterAll(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));

  it("is written to as before, and is what a new one of that name would be", async () => {
    await write(await open(was), "one");
    await rename(was, is);
    await write(await open(is), "two");
    expect((await (await open(is)).list({ limit: 10 })).runs).toHaveLength(6);
    await rename(is, was);
    const back = await texts(was);
    await write(await open(was), "three");
    expect(await texts(was)).not.toEqual(back);
    await open(is);
    expect(await texts(was)).toEqual(await texts(is));
  });

  it("leaves a schema alone that has its former name since", async () => {
    await write(await open(was), "one");
    await rename(was, is);
    const other = await open(was);
    await write(await open(is), "two");
    expect((await other.list({ limit: 10 })).runs).toEqual([]);
  });

  it("says what to do to a role that may only write rows", async () => {
    await open(was);
    await admin.query(`GRANT USAGE ON SCHEMA "${was}" TO ${role}`);
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${was}" TO ${role}`);
    await rename(was, is);
    const there = new URL(url as string);
    [there.username, there.password] = [role, "right"];
    for (const create of [true, false]) {
      const failure = await open(is, { connectionString: there.href, create }).catch(
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "HF-1003", detail: { option: "create" } });
      expect(String(failure)).toContain("open it once with create: true as the role that owns them");
    }
    await open(is);
    await write(await open(is, { connectionString: there.href, create: false }), "one");
  });
});
