import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unexplained, unknownCommands, verbTable } from "../../test/support/verb-table.ts";
import { createClient } from "../client/index.ts";
import { createEngine, type Engine, type Store, workflow } from "../index.ts";
import { openSqliteStore } from "../stores/sqlite/index.ts";
import { permissionsOf } from "./access/permission.ts";
import { type App, createApp } from "./app.ts";
import { allOperations } from "./contract/operations.ts";

const page = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
const run = promisify(execFile);

const pay = workflow("pay", async (ctx, input: { amount: number }) => {
  await ctx.step("load", () => input.amount);
  const { choice } = await ctx.gate("approve", { show: input, choices: ["yes", "no"] });
  return choice;
});

let folder = "";
let store: Store;
let engine: Engine;
let app: App;
let url = "";
let stop = (): void => undefined;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "holdfast-api-"));
  store = await openSqliteStore({ file: path.join(folder, "runs.db") });
  engine = createEngine({ store, workflows: [pay] });
  const permissions = permissionsOf(["admin"]);
  const identify = (request: Request) =>
    request.headers.get("authorization") === "Bearer hf_test" ? { actor: "ada", permissions } : null;
  app = createApp({ engine, store, identify, pollMs: 50 });
  const listener = getRequestListener(app.fetch);
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  stop = () => {
    server.closeAllConnections();
    server.close();
  };
  const handle = await engine.start(pay, { amount: 7 }, { id: "order-7" });
  await engine.settled(handle.id);
});

afterAll(async () => {
  stop();
  await app.close();
  await engine.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the page about the API", () => {
  it("has the generated table of verbs, and every command has its place in it", () => {
    const [, table] = /<!-- verbs -->\n([\s\S]*?)\n<!-- \/verbs -->/.exec(page) ?? [];
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
    expect(unexplained()).toEqual([]);
    expect(unknownCommands()).toEqual([]);
  });

  it("shows curl lines that work on a real server (S1-31)", async () => {
    const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    expect(blocks.length).toBeGreaterThan(3);
    for (const block of blocks) {
      const env = { ...process.env, URL: url, TOKEN: "hf_test" };
      const { stdout } = await run("bash", ["-euo", "pipefail", "-c", block], { env });
      expect(stdout, block).not.toContain("urn:holdfast:error");
    }
    expect(await engine.result("order-7")).toBe("yes");
  });
});

describe("the API as a fetch handler", () => {
  it("answers a typed client over node:http", async () => {
    const client = createClient({ url, token: "hf_test" });
    expect((await client.listWorkflows()).workflows).toMatchObject([{ name: "pay" }]);
    expect(await client.getStore()).toMatchObject({ kind: "sqlite" });
  });

  it("answers inside another Hono app, and under a path", async () => {
    const permissions = permissionsOf(["viewer"]);
    const mounted = createApp({ engine, store, identify: () => ({ actor: "v", permissions }), path: "/ops" });
    const outer = new Hono().all("/ops/*", (context) => mounted.fetch(context.req.raw));
    const response = await outer.request("/ops/v1/runs");
    expect(response.status).toBe(200);
    const client = createClient({ url: "http://x/ops", fetch: async (request) => outer.fetch(request) });
    expect((await client.getRun({ run: "order-7" })).run.id).toBe("order-7");
  });

  it("shows a page of itself without scripts, and nothing from elsewhere", async () => {
    const html = await createClient({ url, token: "hf_test" }).getDocs();
    for (const { id } of allOperations) expect(html).toContain(`id="${id}"`);
    expect(html).not.toMatch(/<script|<link|src=|https?:\/\/(?!127)/);
  });
});
