import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { createClient } from "../client/index.ts";
import type { Workflow } from "../core/context.ts";
import { servedBy } from "../core/worker/registry.ts";
import { workflow } from "../index.ts";
import { permissionsOf, type Scope } from "./access/permission.ts";

const ship = workflow("ship", (ctx) => ctx.step("send", () => "sent"));

describe("queues through the API", () => {
  it("defines, shows, pauses, resumes and deletes a queue, and runs stand in it meanwhile (S1-31)", async () => {
    const { lab, engine, client, as } = createApiStage([ship]);
    const limits = { concurrency: 5, perKey: 1, rate: { calls: 100, periodMs: 60_000 } };
    const made = await client.setQueue({ name: "orders", ...limits, reason: "launch" });
    expect(made).toMatchObject({ name: "orders", ...limits, paused: null, isDeclared: false });
    expect(await client.getQueue({ name: "orders" })).toMatchObject(made);
    expect(await client.pauseQueue({ name: "orders", reason: "the carrier is down" })).toMatchObject({
      paused: { actor: "ada", reason: "the carrier is down" },
    });
    await client.startRun({ workflow: "ship", id: "a", queue: "orders" });
    await lab.clock.advance(10_000);
    expect((await client.listRuns({ queue: "orders" })).runs).toMatchObject([{ id: "a", stepsDone: 0 }]);
    expect(await client.resumeQueue({ name: "orders" })).toMatchObject({ paused: null });
    expect(await lab.drive(engine.result("a"))).toBe("sent");
    expect((await client.listQueues()).queues.map(({ name }) => name)).toEqual(["orders"]);
    await expect(as("vic", "runs:read").pauseQueue({ name: "orders" })).rejects.toMatchObject({
      status: 403,
    });
    expect(await client.deleteQueue({ name: "orders" })).toEqual({ deleted: "orders" });
    for (const gone of [client.getQueue, client.resumeQueue, client.deleteQueue])
      await expect(gone({ name: "orders" })).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    { concurrency: 0 },
    { perKey: 1.5 },
    { concurrency: 1_000_001 },
    { rate: { calls: 0 } },
    { most: 1 },
  ])("refuses the limits %j", async (body) => {
    const { send, client } = createApiStage([ship]);
    expect((await send("PUT", "/v1/queues/orders", { body })).status).toBe(400);
    expect((await client.listQueues()).queues).toEqual([]);
  });
});

describe("starting a run that is alone with its key", () => {
  it("joins or refuses beside an unended one, and postpones one that hasn't begun (S1-31)", async () => {
    const wait = workflow("wait", (ctx) => ctx.signal("go"));
    const { client } = createApiStage([wait]);
    const start = (id: string, more: object) => client.startRun({ workflow: "wait", id, key: "k", ...more });
    expect(await start("a", { debounceMs: 1_000 })).toMatchObject({ id: "a", status: "waiting" });
    expect(await start("b", { debounceMs: 2_000 })).toMatchObject({ id: "a" });
    expect(await start("c", { singleton: "join" })).toMatchObject({ id: "a" });
    await expect(start("d", { singleton: "refuse" })).rejects.toMatchObject({ status: 409 });
    expect((await client.listRuns({})).runs.map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("starting a run with a scope", () => {
  it("needs the labels and the queue that the credential is for (S1-49)", async () => {
    const scope: Scope = { workflows: ["ship"], labels: { team: "a" }, queues: ["orders", "returns"] };
    const permissions = permissionsOf(["operator"]);
    const identify = () => ({ actor: "ada", permissions, scope });
    const { app, lab } = createApiStage([ship, workflow("other", async () => 1)], { app: { identify } });
    const client = createClient({ url: "http://x", fetch: (request) => lab.drive(app.fetch(request)) });
    const start = (given: { labels?: Record<string, string>; queue?: string }, name = "ship") =>
      client.startRun({ workflow: name, ...given });
    const own = { labels: { team: "a" }, queue: "orders", key: "k" };
    for (const alone of [{ singleton: "join" }, { debounceMs: 5 }] as const)
      await expect(client.startRun({ workflow: "ship", ...own, ...alone })).rejects.toMatchObject({
        status: 403,
      });
    for (const given of [
      {},
      { labels: { team: "a" } },
      { queue: "orders" },
      { labels: { team: "b" }, queue: "orders" },
      { labels: { team: "a" }, queue: "else" },
    ])
      await expect(start(given)).rejects.toMatchObject({ status: 403, code: "HF-6016" });
    const fits = { labels: { team: "a", of: "x" }, queue: "returns" };
    await expect(start(fits, "other")).rejects.toMatchObject({ code: "HF-5001" });
    expect((await client.listRuns()).runs).toEqual([]);
    const { id } = await start(fits);
    expect((await client.listRuns()).runs).toMatchObject([{ id, labels: fits.labels, queue: "returns" }]);
  });
});

describe("starting a run without its code", () => {
  it("creates it for the worker that has registered its workflow (S1-31)", async () => {
    const { engine, client } = createApiStage([]);
    const worker = { owner: "w", host: "box", pid: 7, concurrency: 1, running: 0, isStopping: false };
    const since = Date.now();
    await expect(client.startRun({ workflow: "ship" })).rejects.toMatchObject({ status: 404 });
    await engine.workers.beat({ ...worker, since, workflows: [servedBy(ship as Workflow)] });
    expect((await client.listWorkers()).workers).toMatchObject([
      { owner: "w", isStale: false, workflows: [{ name: "ship" }] },
    ]);
    expect(await client.startRun({ workflow: "ship", id: "a" })).toMatchObject({ id: "a", status: "queued" });
  });
});
