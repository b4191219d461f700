import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { PGlite } from "@electric-sql/pglite";
import { Client } from "pg";
import { afterAll, describe, expect, it, vi } from "vitest";
import { sharedDynamo } from "../../test/support/services/dynamodb.ts";
import { sharedPostgres } from "../../test/support/services/postgres.ts";
import { accepted, creation } from "../testing/conformance/index.ts";
import { openStore } from "./open.ts";

const root = mkdtempSync(path.join(tmpdir(), "holdfast-open-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const server = await sharedPostgres();
const dynamo = await sharedDynamo();
let count = 0;

const failure = (url: string): Promise<Error> =>
  openStore(url).then(
    () => expect.fail(`${url} was opened`),
    (error: unknown) => error as Error,
  );

describe("a store's URL", () => {
  it.each([
    ["sqlite", (file: string) => `sqlite:${file}.db`, ".db"],
    ["sqlite", (file: string) => `sqlite://${file}.db`, ".db"],
    ["sqlite", (file: string) => `SQLite:${file}.any`, ".any"],
    ["sqlite", (file: string) => `${file}.db`, ".db"],
    ["file", (file: string) => `file:${file}`, ""],
    ["file", (file: string) => `file://${file}`, ""],
  ] as const)("opens a %s store at a path", async (name, urlOf, ending) => {
    const place = path.join(root, `place-${++count}`);
    const store = await openStore(urlOf(place));
    expect(store.name).toBe(name);
    await accepted(store, creation());
    await store.close();
    expect(existsSync(place + ending)).toBe(true);
  });

  it("opens a store in memory", async () => {
    const store = await openStore("memory:");
    await accepted(store, creation());
    expect(store.name).toBe("memory");
    expect(await failure("memory:here")).toMatchObject({ code: "HF-1003" });
  });

  it("opens a PGlite store at a path", async () => {
    const warnings: string[] = [];
    const tell = (message: string) => void warnings.push(message);
    const logger = { debug: tell, info: tell, warn: tell, error: tell };
    const store = await openStore(`pglite:${path.join(root, "pglite")}`, { logger });
    expect([store.name, store.capabilities.durability]).toEqual(["pglite", "process"]);
    await store.close();
    expect(warnings).toHaveLength(1);
  }, 120_000);

  it.skipIf(server.url === undefined)("opens a PostgreSQL store by either name", async () => {
    const rest = String(server.url).replace(/^postgres(ql)?:/, "");
    for (const scheme of ["postgres", "postgresql"]) {
      const store = await openStore(`${scheme}:${rest}`);
      expect(store.name).toBe("postgres");
      await store.close();
    }
  });

  it("names the schema that other programs find the tables of the documents in (S0-24, S2-11)", async () => {
    const folder = path.join(root, "schema");
    const store = await openStore(`pglite:${folder}?schema=public`);
    await accepted(store, creation());
    await store.close();
    // What is beside the data is the lock.
    const db = new PGlite(path.join(folder, "data"));
    expect((await db.query("SELECT count(*)::int AS n FROM agent_checkpoints")).rows).toEqual([{ n: 0 }]);
    expect((await db.query("SELECT count(*)::int AS n FROM workflow_checkpoints")).rows).toEqual([{ n: 0 }]);
    expect((await db.query("SELECT id FROM runs")).rows).toHaveLength(1);
    await db.close();
    expect(await failure(`pglite:${folder}?schema=`)).toMatchObject({ code: "HF-1003" });
  }, 120_000);

  it.skipIf(server.url === undefined)("takes the schema out of the settings of PostgreSQL", async () => {
    const cache = encodeURIComponent("redis://127.0.0.1:1");
    const client = new Client({ connectionString: server.url });
    await client.connect();
    for (const [schema, url] of [
      ["open_a", `${server.url}?schema=open_a&application_name=a`],
      ["open_b", `tiered:${server.url}?cache=${cache}&schema=open_b`],
    ]) {
      await (await openStore(String(url))).close();
      const { rows } = await client.query(`SELECT count(*)::int AS n FROM ${schema}.agent_checkpoints`);
      expect(rows).toEqual([{ n: 0 }]);
    }
    await client.end();
  });

  it.skipIf(dynamo.server === undefined)(
    "opens a DynamoDB table of a region, at an address of its own",
    async () => {
      const { endpoint = "", credentials } = dynamo.server ?? {};
      vi.stubEnv("AWS_ACCESS_KEY_ID", credentials?.accessKeyId ?? "");
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", credentials?.secretAccessKey ?? "");
      const url = `dynamodb://local/open-${process.pid}?endpoint=${encodeURIComponent(endpoint)}`;
      const store = await openStore(url);
      expect(store.name).toBe("dynamodb");
      await accepted(store, creation());
      await store.close();
      vi.unstubAllEnvs();
    },
    60_000,
  );

  it.each(["dynamodb:", "dynamodb://", "dynamodb://eu-central-1", "dynamodb:///", "dynamodb:table"])(
    "that names no table is refused: %s",
    async (url) => expect(await failure(url)).toMatchObject({ code: "HF-1003" }),
  );

  it("has no room for keys of an account, nor for settings it does not know", async () => {
    for (const url of [
      "dynamodb://key:my-secret@eu-central-1/t",
      "dynamodb://eu-central-1/t?secret=my-secret",
    ]) {
      const error = await failure(url);
      expect(error).toMatchObject({ code: "HF-1003" });
      expect(inspect(error)).not.toContain("my-secret");
    }
  });

  it("opens a store with a cache beside it, which may be away", async () => {
    const file = path.join(root, `tiered-${++count}.db`);
    const store = await openStore(`tiered:sqlite:${file}?cache=${encodeURIComponent("redis://127.0.0.1:1")}`);
    expect(store.name).toBe("sqlite with a cache");
    await accepted(store, creation());
    await store.close();
    expect(existsSync(file)).toBe(true);
  });

  it.skipIf(server.url === undefined)("takes the cache out of the settings of the store", async () => {
    const cache = `cache=${encodeURIComponent("redis://127.0.0.1:1")}`;
    for (const settings of [cache, `application_name=a&${cache}`, `${cache}&application_name=a`]) {
      const store = await openStore(`tiered:${server.url}?${settings}`);
      expect(store.name).toBe("postgres with a cache");
      await store.close();
    }
  });

  it("that is tiered names a store and a Redis", async () => {
    const redis = encodeURIComponent("redis://ada:my-secret@127.0.0.1:1");
    for (const url of [
      "tiered:",
      "tiered:memory:",
      "tiered:memory:?cache=",
      "tiered:memory:?cache=%zz",
      "tiered:memory:?cache=postgres%3A%2F%2Fada%3Amy-secret%40host",
      `tiered:?cache=${redis}`,
      `tiered:tiered:memory:?cache=${redis}`,
    ]) {
      const error = await failure(url);
      expect(error, url).toMatchObject({ code: "HF-1003" });
      expect(inspect(error)).not.toContain("my-secret");
    }
  });

  it("of an unknown kind is refused with those that are known and the nearest", async () => {
    const error = await failure("postgress://ada:my-secret@host/db");
    expect(error).toMatchObject({ code: "HF-1003" });
    expect(error.message).toContain("there is no store postgress:");
    expect(error.message).toContain(
      "there are sqlite:, memory:, postgres:, postgresql:, pglite:, redis:, rediss:, file:, dynamodb:, tiered:",
    );
    expect(error.message).toContain("did you mean postgres:");
    expect((await failure("sqlit:./x")).message).toContain("did you mean sqlite:");
    expect((await failure("constructor:x")).message).toContain("there is no store constructor:");
  });

  it("without a kind, or without a path, is refused", async () => {
    for (const url of ["", "runs", ".db", "sqlite:", "sqlite://runs.db", "file:", "file://", "pglite:"])
      expect(await failure(url), url).toMatchObject({ code: "HF-1003" });
  });

  it("never shows its password in an error", async () => {
    const places = ["127.0.0.1:1/db", "host:bad-port/db", "127.0.0.1:1/%zz"];
    for (const scheme of ["postgres", "postgresql", "redis", "rediss", "mysql", "sqlite", "file", "pglite"])
      for (const place of places) {
        const error = await failure(`${scheme}://ada:my-secret@${place}`);
        expect(error.name).toBe("HoldfastError");
        expect(`${error.message} ${error.stack} ${inspect(error, { depth: 10 })}`).not.toContain("my-secret");
      }
  }, 60_000);
});
