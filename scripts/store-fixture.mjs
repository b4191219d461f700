// @ts-nocheck It runs code of any version, whose types are not known.
/**
 * Writes small stores with the code of some commit, for the tests of upgrades:
 *
 *   git worktree add /tmp/old <commit> && ln -s "$PWD/node_modules" /tmp/old/node_modules
 *   node --import tsx scripts/store-fixture.mjs /tmp/old <name>
 *
 * makes test/data/stores/<name>.sqlite.gz and .file.json.gz, with POSTGRES_URL also .postgres.sql.gz, with REDIS_URL (an empty server)
 * .redis.json.gz, and with DYNAMODB_URL .dynamodb.json.gz. Add one for every release.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [sources = ".", name = "now"] = process.argv.slice(2);
const OUT = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), "test", "data", "stores");
const load = (file) => import(pathToFileURL(path.resolve(sources, "src", file)).href);
const { createEngine, workflow } = await load("index.ts");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const TEXT = "All work and no play makes a dull fixture. ".repeat(40);

// No file names of the machine that writes them.
Error.stackTraceLimit = 0;

/** Every kind of run that a later version may meet. */
const flows = {
  completed: workflow("completed", async (ctx, input) => {
    await ctx.step("read", () => pause(5));
    const paid = await ctx.step("pay", ({ key }) => ({ key: key.length, input }), { effect: "keyed" });
    ctx.memory.set("paid", paid);
    return ctx.step("long", () => TEXT.repeat(6));
  }),
  asks: workflow("asks", async (ctx) => {
    await ctx.step("prepare", () => pause(5));
    const answer = await ctx.gate("approve", { show: { amount: 10 }, choices: ["yes", "no"] });
    return ctx.step("send", () => answer.choice, { effect: "once" });
  }),
  loops: workflow("loops", async (ctx) =>
    ctx.loop("turn", { log: [] }, async (state, turn) => {
      const iteration = state.log.length;
      const said = await ctx.step("say", () =>
        `${iteration} ${createHash("sha256").update(String(iteration)).digest("hex")} `.repeat(13),
      );
      state.log.push(said);
      if (iteration === 40) await ctx.gate("more", { choices: ["go"] });
      return iteration >= 42 ? turn.done() : undefined;
    }),
  ),
  fails: workflow("fails", async (ctx) => {
    await ctx.step("first", () => pause(5));
    return ctx.step("second", () => {
      throw new TypeError("no such thing");
    });
  }),
  dies: workflow("dies", async (ctx) => {
    await ctx.step("first", () => pause(5));
    return ctx.step("mail", () => new Promise(() => undefined), { effect: "once" });
  }),
  child: workflow("child", async (ctx, n) => ctx.step("work", () => pause(5).then(() => n * 2))),
  parent: workflow("parent", async (ctx) => {
    const done = await ctx.child("one", flows.child, 21);
    await ctx.gate("two", { choices: ["go"] });
    return done;
  }),
};

async function fill(store) {
  const engine = createEngine({ store, workflows: Object.values(flows) });
  const inputs = { completed: { order: 7 } };
  for (const [id, flow] of Object.entries(flows))
    if (id !== "child") await engine.start(flow, inputs[id], { id });
  await engine.result("completed");
  await engine.result("fails").catch(() => undefined);
  for (const id of ["asks", "loops", "parent"]) await engine.settled(id);
  await engine.pause("asks", { actor: "ada", reason: "lunch" });
  await engine.settled("asks");
  if (engine.fork) {
    const { id } = await engine.fork("loops", { id: "forked" });
    await engine.settled(id);
  }
  await pause(300);
  const { runs } = await engine.list({ limit: 100 });
  for (const { id, status, snapshotSeq, seq } of runs) console.log(id, status, seq, snapshotSeq);
  await engine.close({ drainMs: 0 });
  await store.close();
}

const keep = (kind, bytes) =>
  writeFileSync(path.join(OUT, `${name}.${kind}.gz`), gzipSync(bytes, { level: 9 }));
const folder = mkdtempSync(path.join(tmpdir(), "store-fixture-"));
mkdirSync(OUT, { recursive: true });

const { openSqliteStore } = await load("stores/sqlite/index.ts");
const file = path.join(folder, "runs.db");
await fill(await openSqliteStore({ file }));
// Closed for good, whatever the driver does.
const dump = `const { DatabaseSync } = require("@photostructure/sqlite"); new DatabaseSync(process.argv[1]).exec("PRAGMA wal_checkpoint(TRUNCATE)")`;
execFileSync(process.execPath, ["-e", dump, file]);
keep("sqlite", readFileSync(file));

if (existsSync(path.resolve(sources, "src/stores/file/index.ts"))) {
  const { openFileStore } = await load("stores/file/index.ts");
  const root = path.join(folder, "files");
  await fill(await openFileStore({ folder: root }));
  const names = readdirSync(root, { recursive: true }).filter((one) =>
    statSync(path.join(root, one)).isFile(),
  );
  const texts = names.map((one) => [one, readFileSync(path.join(root, one), "utf8")]);
  keep("file.json", JSON.stringify(Object.fromEntries(texts)));
}

const { POSTGRES_URL } = process.env;
if (POSTGRES_URL && existsSync(path.resolve(sources, "src/stores/postgres/index.ts"))) {
  const { openPostgresStore } = await load("stores/postgres/index.ts");
  await fill(await openPostgresStore({ connectionString: POSTGRES_URL, schema: "old" }));
  const options = ["--schema=old", "--no-owner", "--no-privileges", "--inserts", POSTGRES_URL];
  keep("postgres.sql", execFileSync("pg_dump", options));
}

const { REDIS_URL } = process.env;
if (REDIS_URL && existsSync(path.resolve(sources, "src/stores/redis/index.ts"))) {
  const { openRedisStore } = await load("stores/redis/index.ts");
  await fill(await openRedisStore({ url: REDIS_URL, prefix: "old" }));
  const { createClient, RESP_TYPES } = await import("redis");
  const client = await createClient({ url: REDIS_URL }).connect();
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const keys = [];
  for await (const found of client.scanIterator()) keys.push(...found);
  const dumps = keys.toSorted().map(async (key) => [key, (await bytes.dump(key)).toString("base64")]);
  keep("redis.json", JSON.stringify(Object.fromEntries(await Promise.all(dumps))));
}

const { DYNAMODB_URL } = process.env;
if (DYNAMODB_URL && existsSync(path.resolve(sources, "src/stores/dynamodb/index.ts"))) {
  const { openDynamoStore } = await load("stores/dynamodb/index.ts");
  const sdk = await import("@aws-sdk/client-dynamodb");
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new sdk.DynamoDBClient({ endpoint: DYNAMODB_URL, region: "local", credentials });
  await fill(await openDynamoStore({ client, table: name }));
  const items = [];
  for await (const { Items } of sdk.paginateScan({ client }, { TableName: name, ConsistentRead: true }))
    items.push(...Items);
  keep("dynamodb.json", JSON.stringify(items));
}
rmSync(folder, { recursive: true });
process.exit(0);
