import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiPage, type PageServer, playPage, servePage, TOKEN } from "../../test/support/api-page.ts";
import {
  unexplained,
  unexplainedMethods,
  unknownCommands,
  verbTable,
} from "../../test/support/verb-table.ts";
import { createClient } from "../client/index.ts";
import type { Store } from "../index.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { permissionsOf } from "./access/permission.ts";
import { createApp } from "./app.ts";
import { allOperations } from "./contract/operations.ts";

let folder = "";
let store: Store;
let server: PageServer;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "holdfast-api-"));
  store = await openSqliteStore({ file: path.join(folder, "runs.db") });
  server = await servePage(store);
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the page about the API", () => {
  it("has the generated table of verbs: no command, option or method of the engine lacks its place or a reason (S1-31)", async () => {
    const [, table] = /<!-- verbs -->\n([\s\S]*?)\n<!-- \/verbs -->/.exec(apiPage) ?? [];
    expect(
      table
        ?.trim()
        .replaceAll(/ *\| */g, "|")
        .replaceAll(/-+/g, "-"),
    ).toBe(
      verbTable()
        .replaceAll(/ *\| */g, "|")
        .replaceAll(/-+/g, "-"),
    );
    expect(await unexplained()).toEqual([]);
    expect(await unknownCommands()).toEqual([]);
    expect(unexplainedMethods()).toEqual([]);
  });

  it("shows curl lines that work on a real server (S1-31)", async () => {
    const played = await playPage(server.url);
    expect(played.length).toBeGreaterThan(3);
    for (const { block, stdout } of played) expect(stdout, block).not.toContain("urn:holdfast:error");
    expect(await server.engine.result("order-7")).toBe("yes");
  });
});

describe("the API as a fetch handler", () => {
  it("answers a typed client over node:http", async () => {
    const client = createClient({ url: server.url, token: TOKEN });
    expect((await client.listWorkflows()).workflows).toMatchObject([{ name: "pay" }]);
    expect(await client.getStore()).toMatchObject({ kind: "sqlite" });
  });

  it("answers inside another Hono app, and under a path", async () => {
    const permissions = permissionsOf(["viewer"]);
    const mounted = createApp({
      engine: server.engine,
      store,
      identify: () => ({ actor: "v", permissions }),
      path: "/ops",
    });
    const outer = new Hono().all("/ops/*", (context) => mounted.fetch(context.req.raw));
    const response = await outer.request("/ops/v1/runs");
    expect(response.status).toBe(200);
    const client = createClient({ url: "http://x/ops", fetch: async (request) => outer.fetch(request) });
    expect((await client.getRun({ run: "order-7" })).run.id).toBe("order-7");
  });

  it("shows a page of itself without scripts, and nothing from elsewhere", async () => {
    const html = await createClient({ url: server.url, token: TOKEN }).getDocs();
    for (const { id } of allOperations) expect(html).toContain(`id="${id}"`);
    expect(html).not.toMatch(/<script|<link|src=|https?:\/\/(?!127)/);
  });
});
