import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ServerClock } from "../../../test/support/postgres-clock.ts";
import { startPgbouncer } from "../../../test/support/services/pgbouncer.ts";
import { sharedPostgres } from "../../../test/support/services/postgres.ts";
import type { Append, ClaimChange, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import {
  accepted,
  creation,
  everythingOf,
  HOUR,
  outsideAct,
  step,
  storeConformance,
  take,
} from "../../testing/conformance/index.ts";
import { openPostgresStore, type PostgresOptions } from "./index.ts";
import { listStatement } from "./listing.ts";
import { onPool } from "./pool.ts";
import type { Database } from "./queryable.ts";
import { PostgresStore } from "./store.ts";

const server = await sharedPostgres();
const { url } = server;
const bouncer = url === undefined ? "there is no server" : await startPgbouncer(url);

type Acquire = ClaimChange & { readonly kind: "acquire" };

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

/** A pool independent of Holdfast. */
const admin = new pg.Pool({ connectionString: url, max: 3 });
const wide = new pg.Pool({ connectionString: url, max: 10 });
const rows = async (text: string, values: unknown[] = []) => (await admin.query(text, values)).rows;

// Hooks run in reverse order, so the first one here runs last.
afterAll(async () => {
  await serverClock.remove();
  await admin.end();
  await wide.end();
  if (typeof bouncer === "object") await bouncer.stop();
});

let count = 0;
const newSchema = (): string => `t${process.pid}-${++count}`;

const opened: Store[] = [];
const schemas: string[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const schema of schemas.splice(0)) await admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
});

/** Opens a store in its own schema, unless told otherwise. */
async function open(options: PostgresOptions = {}): Promise<Store & { readonly schema: string }> {
  const schema = options.schema ?? newSchema();
  schemas.push(schema);
  const place = options.pool ? {} : { connectionString: url as string };
  const store = await openPostgresStore({ ...place, ...options, schema });
  opened.push(store);
  return Object.assign(store, { schema });
}

const serverClock = new ServerClock(clock, (text) => wide.query(text));

/** Replaces the server's clock with this one. */
const timed = ({ query, ...database }: Database): Database => {
  const wrap = (inner: Database["query"]) => async (text: string, values?: readonly unknown[]) =>
    inner(await serverClock.text(text), values);
  return {
    ...database,
    query: wrap(query),
    kept: ({ text, values }) => wrap(query)(text, values),
    transaction: (work) =>
      database.transaction((one) => work({ ...one, query: wrap((text, values) => one.query(text, values)) })),
  };
};

/** The cases of one suite share a schema, which is emptied after each: creating one takes longer than most cases. */
function conformance(name: string, openAt: (schema: string) => Promise<Store>, more: object = {}): void {
  const schema = newSchema();
  const tables = ["runs", "journal", "blobs", "store_documents"].map(
    (table) => `DELETE FROM "${schema}".${table}`,
  );
  const [openIt, destroy] = [() => openAt(schema), async () => void (await admin.query(tables.join("; ")))];
  afterAll(() => admin.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`));
  storeConformance({ name, open: openIt, reopen: openIt, destroy, ...more }, { describe, it });
}

async function openTimed(schema: string): Promise<Store> {
  const database = timed(onPool(wide, { timeoutMs: 20_000, end: async () => undefined }));
  const store = new PostgresStore({ database, schema, create: true, logger: { warn: () => undefined } });
  await store.identity();
  return store;
}

if (url === undefined) {
  it.skip(`the postgres store (skipped: ${server.missing})`, () => undefined);
} else {
  conformance("postgres", openTimed, { clock });
  conformance("postgres on connections of its own", (schema) =>
    openPostgresStore({ connectionString: url, schema }),
  );
  if (typeof bouncer === "string")
    it.skip(`the postgres store behind a pooler (skipped: ${bouncer})`, () => undefined);
  else
    conformance("postgres behind a transaction pooler", (schema) =>
      openPostgresStore({ connectionString: bouncer.url, schema }),
    );
}

describe.skipIf(url === undefined)("opening a PostgreSQL store", () => {
  it("lets twenty first starts at once agree on one schema and one identity", async () => {
    const schema = newSchema();
    const stores = await Promise.all(Array.from({ length: 20 }, () => open({ schema })));
    const identities = await Promise.all(stores.map((store) => store.identity()));
    expect(new Set(identities.map(({ secret }) => secret)).size).toBe(1);
    expect(new Set(identities.map(({ incarnation }) => incarnation)).size).toBe(1);
    const meta = await rows(`SELECT key FROM "${schema}".meta ORDER BY key`);
    expect(meta.map(({ key }) => key)).toEqual(["application", "incarnation", "schema", "secret"]);
  });

  it("keeps everything in the schema it is given, whatever the search path", async () => {
    const pool = new pg.Pool({ connectionString: url, options: "-c search_path=pg_catalog" });
    const store = await open({ pool, schema: `named_${process.pid}-x` });
    const other = await open();
    await accepted(store, creation());
    expect(await other.read("run-1")).toBeNull();
    expect(await rows(`SELECT id FROM "${store.schema}".runs`)).toEqual([{ id: "run-1" }]);
    await pool.end();
  });

  it("refuses options it cannot honour", async () => {
    const none = {} as PostgresOptions;
    for (const options of [
      none,
      { connectionString: url as string, pool: admin },
      { connectionString: url as string, schema: 'a"b' },
      { connectionString: url as string, schema: "" },
      { connectionString: url as string, timeoutMs: 0 },
      { connectionString: "postgresql://me:hush@[bad/x" },
    ])
      await expect(openPostgresStore(options)).rejects.toMatchObject({ code: "HF-1003" });
  });

  it("never shows a password in an error", async () => {
    const texts: string[] = [];
    for (const connectionString of ["postgresql://me:hush@[bad/x", "postgresql://me:hush@127.0.0.1:1/x"]) {
      const error = await openPostgresStore({ connectionString }).catch((thrown: unknown) => thrown);
      for (let one = error; one instanceof Error; one = one.cause)
        texts.push(one.message, JSON.stringify(one));
    }
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.filter((text) => text.includes("hush"))).toEqual([]);
  });

  it("waits for the server for ever where it is told to", async () => {
    for (const timeoutMs of [Infinity, 2 ** 40]) {
      const store = await open({ timeoutMs });
      await accepted(store, step(await accepted(store, creation())));
    }
  });

  it("does not touch a schema of a newer version", async () => {
    const { schema } = await open();
    await admin.query(`UPDATE "${schema}".meta SET value = '99' WHERE key = 'schema'`);
    await expect(open({ schema })).rejects.toMatchObject({
      code: "HF-3005",
      detail: { found: 99, known: 8 },
    });
    expect(await rows(`SELECT value FROM "${schema}".meta WHERE key = 'schema'`)).toEqual([{ value: "99" }]);
  });

  it("does not touch a schema that holds another program's tables", async () => {
    for (const table of ["runs (id text)", "meta (key text, value text)", "checkpoints (id text)"]) {
      const schema = newSchema();
      await admin.query(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".${table}`);
      await expect(open({ schema })).rejects.toMatchObject({ code: "HF-3006" });
      const tables = await rows("SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace", [
        `"${schema}"`,
      ]);
      expect(tables.length).toBe(1);
    }
  });

  it("says so when a schema must not be made and is not there", async () => {
    const failure = await open({ create: false }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-1003", detail: { option: "create" } });
    expect(String(failure)).toContain("is not there");
  });

  it("refuses a server that takes no writes", async () => {
    const pool = new pg.Pool({ connectionString: url, options: "-c default_transaction_read_only=on" });
    await expect(open({ pool })).rejects.toMatchObject({ code: "HF-3022" });
    await pool.end();
  });

  it("tells a server that is away from one that refuses the client", async () => {
    const at = (change: (there: URL) => void): string => {
      const there = new URL(url as string);
      change(there);
      return there.href;
    };
    const nobody = at((there) => (there.port = "1"));
    await expect(openPostgresStore({ connectionString: nobody })).rejects.toMatchObject({ code: "HF-3002" });
    const pool = new pg.Pool({ connectionString: url, ssl: true });
    await expect(openPostgresStore({ pool })).rejects.toMatchObject({ code: "HF-3016" });
    await pool.end();
    const elsewhere = at((there) => (there.pathname = "/no_such_database"));
    await expect(openPostgresStore({ connectionString: elsewhere })).rejects.toMatchObject({
      code: "HF-3016",
    });
  });
});

describe.skipIf(url === undefined)("a role with few rights", () => {
  const role = `holdfast_dml_${process.pid}`;
  const asRole = (password = "right"): string => {
    const there = new URL(url as string);
    [there.username, there.password] = [role, password];
    return there.href;
  };
  beforeAll(async () => {
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'right'`);
  });
  afterAll(async () => {
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });

  it("may do everything but make the schema", async () => {
    const { schema } = await open();
    await admin.query(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
    for (const create of [false, true]) {
      const store = await open({ connectionString: asRole(), schema, create });
      const run = { id: `run-${create}` };
      const row = await accepted(store, creation({ run, blobs: [{ hash: "h", data: "d" }] }));
      const after = await accepted(store, step(row, { drop: { entries: [1], blobs: ["h"] } }));
      expect(await store.renew([{ runId: row.id, epoch: 1, token: "ada-token", ttlMs: HOUR }])).toHaveLength(
        1,
      );
      expect((await everythingOf(store, row.id)).entries[0]?.data).toBeNull();
      expect(after.seq).toBe(2);
    }
  });

  it("is told what it may not do", async () => {
    await expect(open({ connectionString: asRole() })).rejects.toMatchObject({ code: "HF-3004" });
    const { schema } = await open();
    const locked = open({ connectionString: asRole(), schema });
    await expect(locked).rejects.toMatchObject({ code: "HF-3004" });
    await admin.query(`GRANT USAGE ON SCHEMA "${schema}" TO ${role}`);
    await admin.query(`GRANT SELECT ON ALL TABLES IN SCHEMA "${schema}" TO ${role}`);
    const reader = await open({ connectionString: asRole(), schema, create: false });
    await expect(reader.append([creation()])).rejects.toMatchObject({ code: "HF-3004" });
  });

  it("is told that its password is wrong", async () => {
    const failure = await open({ connectionString: asRole("wrong") }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3016" });
    expect((failure as Error).message).toContain("password authentication failed");
  });
});

describe.skipIf(url === undefined)("appends to PostgreSQL", () => {
  const ids = Array.from({ length: 1000 }, (_, i) => `run-${i}`);

  it("are taken a thousand at a time, each on its own merits", async () => {
    const store = await open();
    await store.append(ids.map((id) => creation({ run: { id }, blobs: [{ hash: "h", data: id }] })));
    const first = (await store.read("run-0")) as RunRow;
    const batch = ids.map((id, i) =>
      step({ ...first, id }, i % 3 === 0 ? { expect: { token: "stolen" } } : {}),
    );
    const results = await store.append(batch);
    const refused = results.filter((result) => !result.ok);
    expect(refused.length).toBe(334);
    expect(refused.every((result) => !result.ok && result.reason === "fenced")).toBe(true);
    expect(results.map((result) => (result.ok ? "ok" : result.row?.id))).toEqual(
      ids.map((id, i) => (i % 3 === 0 ? id : "ok")),
    );
    expect(await rows(`SELECT count(*)::int AS n FROM "${store.schema}".journal`)).toEqual([{ n: 1666 }]);
    expect(await store.blobs("run-7", ["h"])).toEqual(new Map([["h", "run-7"]]));
  });

  it("of one run in one batch see each other, and the others beside them", async () => {
    const store = await open();
    const one = await accepted(store, creation());
    const two = await accepted(store, creation({ run: { id: "two" } }));
    const [a, b, c, d, e] = await store.append([
      step(one, { blobs: [{ hash: "h", data: "d" }] }),
      step(two),
      step({ ...one, seq: 2 }, { claim: { kind: "release" }, drop: { entries: [2], blobs: ["h"] } }),
      step({ ...one, seq: 3 }),
      outsideAct({ ...one, seq: 3 }, { claim: take("bob") }),
    ]);
    expect([a, b, c, e]).toEqual(Array(4).fill({ ok: true }));
    expect(d).toMatchObject({ ok: false, reason: "fenced", row: { seq: 3, claim: { token: null } } });
    const { row, entries } = await everythingOf(store, one.id);
    expect([row?.claim.owner, row?.claim.epoch]).toEqual(["bob", 2]);
    expect(entries.map(({ seq, data }) => [seq, data === null])).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [4, false],
    ]);
    expect((await store.blobs(one.id, ["h"])).size).toBe(0);
  });

  it("that are too much for one statement are one commit all the same", async () => {
    const store = await open();
    const data = "x".repeat(9 * 1024 * 1024);
    const appends = ["one", "two", "three"].map((id) => creation({ run: { id }, entry: { data } }));
    expect(await store.append(appends)).toEqual(Array(3).fill({ ok: true }));
    const commits = await rows(`SELECT DISTINCT xmin::text FROM "${store.schema}".journal`);
    expect(commits.length).toBe(1);
  });

  it("never wait for each other in a circle", async () => {
    const store = await open();
    const [pool, stores] = [new pg.Pool({ connectionString: url, max: 16 }), [] as Store[]];
    for (let i = 0; i < 8; i++) stores.push(await open({ pool, schema: store.schema }));
    const some = ids.slice(0, 40);
    await store.append(some.map((id) => creation({ run: { id } })));
    const before = await rows("SELECT sum(deadlocks)::int AS n FROM pg_stat_database");
    const act = async (one: Store, i: number): Promise<number> => {
      const order = i % 2 === 0 ? some : [...some].reverse();
      const now = await one.list({ limit: 1000 });
      const byId = new Map(now.runs.map((row) => [row.id, row]));
      const [results] = await Promise.all([
        one.append(order.map((id) => outsideAct(byId.get(id) as RunRow))),
        one.renew(order.map((runId) => ({ runId, epoch: 1, token: "ada-token", ttlMs: HOUR }))),
      ]);
      return results.filter(({ ok }) => ok).length;
    };
    let taken = 0;
    for (let round = 0; round < 5; round++)
      for (const one of await Promise.all(stores.map(act))) taken += one;
    const total = await rows(`SELECT sum(seq - 1)::int AS n FROM "${store.schema}".runs`);
    expect(total).toEqual([{ n: taken }]);
    expect(await rows("SELECT sum(deadlocks)::int AS n FROM pg_stat_database")).toEqual(before);
    for (const one of stores) await one.close();
    await pool.end();
  });

  it("are judged the same when every transaction must be serializable", async () => {
    const options = "-c default_transaction_isolation=serializable";
    const pool = new pg.Pool({ connectionString: url, max: 10, options });
    const store = await open({ pool });
    const row = await accepted(store, creation({ claim: { kind: "release" } }));
    const owners = Array.from({ length: 8 }, (_, i) => `worker-${i}`);
    const claims = owners.map((owner) => store.append([outsideAct(row, { claim: take(owner) })]));
    const answers = (await Promise.all(claims)).map(([result]) =>
      result?.ok === false ? result.reason : "taken",
    );
    expect(answers.sort()).toEqual([...Array(7).fill("held"), "taken"]);
    await pool.end();
  });

  it("keep to limits also when every transaction must be serializable", async () => {
    const options = "-c default_transaction_isolation=serializable";
    const pool = new pg.Pool({ connectionString: url, max: 10, options });
    const store = await open({ pool });
    const limits = [{ queue: "mail", most: 2 }];
    const claim = (i: number): ClaimChange => ({ ...(take(`worker-${i}`) as Acquire), limits });
    const runs = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        accepted(
          store,
          creation({ run: { id: `r${i}`, queue: "mail", status: "queued" }, claim: { kind: "release" } }),
        ),
      ),
    );
    const claims = runs.map((row, i) =>
      store.append([outsideAct(row, { run: { status: "running" }, claim: claim(i) })]),
    );
    const answers = (await Promise.all(claims)).map(([result]) =>
      result?.ok === false ? result.reason : "taken",
    );
    expect(answers.sort()).toEqual([...Array(6).fill("full"), "taken", "taken"]);
    await pool.end();
  });

  it("keep numbers and odd texts, whatever the pool makes of types", async () => {
    const types = { getTypeParser: () => (text: string) => `parsed ${text}` };
    const pool = new pg.Pool({ connectionString: url, types: types as unknown as pg.CustomTypesConfig });
    const store = await open({ pool });
    const run = { error: 'a\0b \ud800 \\"', wakeAt: 1.5, usage: { tokens: 0.1 + 0.2, costUsd: 5e-324 } };
    const row = await accepted(store, creation({ run }));
    expect(row).toMatchObject(run);
    expect((await store.list({ limit: 1 })).runs).toEqual([row]);
    await pool.end();
  });
});

describe.skipIf(url === undefined)("lists and due runs of PostgreSQL", () => {
  it("are found by index, whatever is asked for", async () => {
    const { schema } = await open();
    await admin.query(`INSERT INTO "${schema}".runs (id, workflow, parent_run, created_at, identity, status, wake_at,
        pruned_at, projection, epoch, claim_until, seq, head)
      SELECT 'r' || i, 'w' || i % 50, CASE WHEN i % 10 = 0 THEN 'p' || i % 500 END, i, '{}',
        (ARRAY['completed', 'failed', 'waiting', 'queued'])[1 + i % 4], NULL, CASE WHEN i % 4 = 0 AND i < 19000 THEN 1 END,
        '{}', 1, 0, 1, '' FROM generate_series(1, 20000) AS i`);
    await admin.query(`ANALYZE "${schema}".runs`);
    const plan = async (query: Parameters<typeof listStatement>[1]): Promise<string> => {
      const { text, values } = listStatement(`"${schema}".`, query);
      const found = await rows(`EXPLAIN ${text}`, [...values]);
      return found.map((line) => line["QUERY PLAN"]).join("\n");
    };
    const cursor = "15000.r15000";
    for (const query of [
      { limit: 10 },
      { limit: 10, cursor },
      { limit: 10, workflow: "w7" },
      { limit: 10, status: ["failed", "waiting"] },
      { limit: 10, status: ["failed"], workflow: "w7", cursor },
      { limit: 10, status: ["completed"], pruned: false },
      { limit: 10, parent: "p100" },
    ] as const) {
      const text = await plan(query);
      expect(text).not.toContain("Seq Scan");
      expect(text).toContain("Index Scan");
    }
  });
});

describe.skipIf(url === undefined)("a pool that is brought along", () => {
  it("stays open when the store is closed", async () => {
    const pool = new pg.Pool({ connectionString: url });
    const store = await open({ pool });
    await store.close();
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("survives the loss of an idle connection", async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, application_name: `idle ${process.pid}` });
    const store = await open({ pool });
    const gone = new Promise((resolve) => pool.once("remove", resolve));
    await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [
      `idle ${process.pid}`,
    ]);
    await gone;
    await accepted(store, creation());
    await pool.end();
  });
});

describe("statements that stood in the way of others", () => {
  const refusing = (times: number, code: string): { database: Database; calls: () => number } => {
    let calls = 0;
    const query: Database["query"] = async () => {
      calls++;
      if (calls <= times) throw Object.assign(new Error("stood in the way"), { code });
      // Nothing was refused.
      return [];
    };
    const database = {
      query,
      rows: async () => [],
      transaction: () => Promise.reject(new Error("not needed")),
      close: async () => undefined,
    };
    return { database, calls: () => calls };
  };
  const storeOn = (database: Database) =>
    new PostgresStore({ database, schema: "x", create: false, logger: { warn: () => undefined } });
  const one: readonly Append[] = [creation()];

  it("are repeated with the same content", async () => {
    for (const code of ["40001", "40P01"]) {
      const { database, calls } = refusing(3, code);
      expect(await storeOn(database).append(one)).toEqual([{ ok: true }]);
      // One more call before these asked for the store's identity.
      expect(calls()).toBe(5);
    }
  });

  it("are not repeated for ever", async () => {
    const { database } = refusing(1000, "40001");
    await expect(storeOn(database).append(one)).rejects.toMatchObject({ code: "HF-3009" });
  });

  it("are not repeated when nobody knows what became of them", async () => {
    const { database, calls } = refusing(1000, "08006");
    await expect(storeOn(database).append(one)).rejects.toMatchObject({ code: "HF-3002" });
    expect(calls()).toBe(1);
  });
});
