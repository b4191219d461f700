import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { createEngine, type Engine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { type WorkflowRoutesOptions, workflowRoutes } from "./index.ts";

interface Order {
  readonly item: string;
}

const order = workflow("order", async (ctx, { item }: Order) => {
  await ctx.step("pack", async () => {
    const lines = ctx.stream<string>("log");
    await lines.append(`packed ${item}`);
    await lines.close();
  });
  const paid = await ctx.signal<{ cents: number }>("paid");
  const { choice } = await ctx.gate("send", { choices: ["yes", "no"] });
  return { item, cents: paid.payload.cents, sent: choice === "yes" };
});
const other = workflow("other", async () => "secret");

const open: Engine[] = [];
afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

/** Routes in a process that advances nothing, and a worker beside. */
async function scene(options: Partial<WorkflowRoutesOptions<Order>> = {}) {
  const store = createMemoryStore();
  const worker = createEngine({ store, workflows: [order, other], sweepMs: 10 });
  const engine = createEngine({ store, workflows: [order], execute: false });
  open.push(worker, engine);
  void worker.work();
  const routes = workflowRoutes(engine, order, {
    path: "/api/orders",
    allow: (request) => request.headers.get("x-user") === "ada",
    start: (body) => ({ input: { item: String(Reflect.get(Object(body), "item")) } }),
    actor: () => "ada",
    ...options,
  });
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    routes.fetch(
      new Request(`http://shop.test/api/orders${path}`, {
        method,
        headers: { "x-user": "ada", "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const started = async (headers: Record<string, string> = {}): Promise<string> => {
    const response = await ask("POST", "", { item: "lamp" }, headers);
    expect(response.status).toBe(202);
    const { id } = (await response.json()) as { id: string };
    expect(response.headers.get("location")).toBe(`/api/orders/${id}`);
    return id;
  };
  return { store, worker, engine, routes, ask, started };
}

describe("routes of a workflow", () => {
  it("start a run, wait for it, stream, signal and answer, while a worker beside advances it", async () => {
    const { ask, started, worker } = await scene();
    const id = await started();
    const waiting = await ask("GET", `/${id}?wait=20`);
    expect(await waiting.json()).toMatchObject({
      id,
      status: "waiting",
      waiting: [{ kind: "signal", names: ["paid"] }],
    });
    const log = await ask("GET", `/${id}/streams/log?offset=-1`);
    expect(await log.json()).toEqual(["packed lamp"]);
    expect(log.headers.get("stream-closed")).toBe("true");
    expect((await ask("HEAD", `/${id}/streams/log`)).headers.get("content-type")).toBe("application/json");
    expect((await ask("POST", `/${id}/signals/paid`, { cents: 5 })).status).toBe(202);
    for (let kind = "signal"; kind !== "gate"; await worker.settled(id)) {
      const { waiting: waits } = (await (await ask("GET", `/${id}?wait=20`)).json()) as {
        waiting: { kind: string }[];
      };
      kind = waits[0]?.kind ?? "";
    }
    expect(await (await ask("POST", `/${id}/gates/send`, { choice: "yes" })).json()).toEqual({
      id,
      choice: "yes",
    });
    await worker.result(id);
    expect(await (await ask("GET", `/${id}?wait=20`)).json()).toEqual({
      id,
      status: "completed",
      waiting: [],
      result: { item: "lamp", cents: 5, sent: true },
    });
  });

  it("start one run for a key, and take an act with a key once", async () => {
    const { ask, started, store, worker } = await scene();
    const key = { "idempotency-key": "k-1" };
    const [one, again, another] = [
      await started(key),
      await started(key),
      await started({ "idempotency-key": "k-2" }),
    ];
    expect([again === one, another === one]).toEqual([true, false]);
    await worker.settled(one);
    for (let n = 0; n < 2; n++)
      await ask("POST", `/${one}/signals/paid`, { cents: 5 }, { "idempotency-key": "s-1" });
    const signals = await store.entries(one, { from: 1, limit: 1_000 });
    expect(JSON.stringify(signals).match(/signal_received/g) ?? []).toHaveLength(1);
  });

  it("refuse what the application doesn't allow, before anything is read or done", async () => {
    const seen: unknown[] = [];
    const { started, routes, engine } = await scene({
      allow: (request, { verb, run, name }) => {
        seen.push([verb, run?.id, name]);
        return request.headers.get("x-user") === "ada";
      },
    });
    const id = await started();
    seen.splice(0);
    const stranger = (method: string, path: string) =>
      routes.fetch(
        new Request(`http://shop.test/api/orders${path}`, { method, headers: { "x-user": "eve" } }),
      );
    const refused = [
      await stranger("POST", ""),
      await stranger("GET", `/${id}`),
      await stranger("GET", `/${id}/streams/log`),
      await stranger("POST", `/${id}/signals/paid`),
      await stranger("POST", `/${id}/gates/send`),
    ];
    for (const response of refused)
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, "HF-6221"]);
    expect(seen).toEqual([
      ["start", undefined, undefined],
      ["read", id, undefined],
      ["read", id, "log"],
      ["signal", id, "paid"],
      ["answer", id, "send"],
    ]);
    expect((await engine.list()).runs).toHaveLength(1);
  });

  it("know only the runs of their workflow, and only their own addresses", async () => {
    const { ask, worker, started } = await scene();
    const { id } = await worker.start(other, undefined as never);
    const mine = await started();
    const status = async (method: string, path: string, body?: unknown) => {
      const response = await ask(method, path, body);
      return [response.status, ((await response.json()) as { code: string }).code];
    };
    expect(await status("GET", `/${id}`)).toEqual([404, "HF-1001"]);
    expect(await status("POST", `/${id}/signals/paid`, {})).toEqual([404, "HF-1001"]);
    expect(await status("GET", "/no-such-run")).toEqual([404, "HF-1001"]);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/%ff"],
      ["GET", `/${mine}/streams`],
      ["GET", `/${mine}/else/x`],
      ["GET", `/${mine}/streams/log/more`],
      ["POST", `/${mine}`],
      ["DELETE", `/${mine}`],
    ] as const)
      expect(await status(method, path), `${method} ${path}`).toEqual([404, "HF-6220"]);
    const elsewhere = new Request("http://shop.test/api/ordersX/1", { headers: { "x-user": "ada" } });
    expect((await (await scene()).routes.fetch(elsewhere)).status).toBe(404);
  });

  it.each([
    ["no choice", "POST", "/gates/send", {}, 400],
    ["a choice that isn't a text", "POST", "/gates/send", { choice: 1 }, 400],
    ["a list", "POST", "/gates/send", ["yes"], 400],
    ["a key that reaches a prototype", "POST", "/signals/paid", { constructor: 1 }, 400],
    ["a wait that is no number", "GET", "?wait=soon", undefined, 400],
    ["a stream that isn't there", "GET", "/streams/none?offset=5", undefined, 400],
    ["a name that can't be one", "POST", "/signals/%0a", {}, 400],
  ] as const)("refuse %s and leave the run as it is", async (_, method, path, body, expected) => {
    const { ask, started, engine, worker } = await scene();
    const id = await started();
    await worker.settled(id);
    const before = (await engine.get(id))?.seq;
    const response = await ask(method, `/${id}${path}`, body);
    expect(response.status).toBe(expected);
    expect((await engine.get(id))?.seq).toBe(before);
  });

  it("answer a caller who waits longer than is allowed with how the run is then", async () => {
    const store = createMemoryStore();
    const engine = createEngine({ store, workflows: [order], execute: false });
    open.push(engine);
    const start = (body: unknown) => ({ input: body as Order });
    const routes = workflowRoutes(engine, order, { path: "/", allow: () => true, start, waitMs: 20 });
    const run = await engine.start(order, { item: "lamp" });
    const response = await routes.GET(new Request(`http://shop.test/${run.id}?wait=9999`));
    expect(await response.json()).toMatchObject({ status: "queued" });
    const left = new AbortController();
    const slow = workflowRoutes(engine, order, { path: "/", allow: () => true, start });
    const asked = slow.GET(new Request(`http://shop.test/${run.id}?wait=20`, { signal: left.signal }));
    left.abort();
    expect(await (await asked).json()).toMatchObject({ status: "queued" });
  });

  it("leave an error of the application to the application, and answer one of the table", async () => {
    const { ask } = await scene({
      start: (body) => {
        if (Reflect.get(Object(body), "item") === undefined) throw new TypeError("no item");
        if (Reflect.get(Object(body), "item") === "")
          return Response.json({ problem: "empty" }, { status: 422 });
        return { input: { item: "lamp" }, labels: { "": "x" } };
      },
    });
    await expect(ask("POST", "", {})).rejects.toThrow("no item");
    expect((await ask("POST", "", { item: "" })).status).toBe(422);
    expect((await ask("POST", "", { item: "lamp" })).status).toBe(400);
    const engine = createEngine({ store: createMemoryStore(), execute: false });
    open.push(engine);
    const wrong = { path: "/x", start: () => ({ input: { item: "" } }) } as never;
    expect(() => workflowRoutes(engine, order, wrong)).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });

  it("work in an application of Hono, behind a plain node:http server", async () => {
    const { routes } = await scene();
    const app = new Hono().all("/api/orders/*", ({ req }) => routes.fetch(req.raw));
    app.get("/", ({ text }) => text("the shop"));
    const server = createServer((request, response) => void getRequestListener(app.fetch)(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/orders`;
    const headers = { "x-user": "ada", "content-type": "application/json" };
    const started = await fetch(url, { method: "POST", headers, body: '{"item":"lamp"}' });
    const { id } = (await started.json()) as { id: string };
    const shown = await fetch(`${url}/${id}?wait=20`, { headers });
    expect(await shown.json()).toMatchObject({ id, status: "waiting" });
    server.closeAllConnections();
    server.close();
  });
});
