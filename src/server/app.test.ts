import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { hangs } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";

const slow = workflow("slow", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("second", hangs);
});

describe("the management API", () => {
  it("lists runs, tells how one stands, and pauses it (S1-31)", async () => {
    const { lab, engine, client } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const { runs, cursor } = await client.listRuns({ status: ["running"] });
    expect(runs).toMatchObject([{ id: "r", word: "running", tone: "busy", needsYou: false, stepsDone: 1 }]);
    expect(cursor).toBeNull();
    expect(await client.getRun({ run: "r" })).toMatchObject({
      headline: "running: second",
      can: ["pause", "cancel", "fork"],
      open: [{ step: "second", status: "started" }],
    });
    expect(await client.pauseRun({ run: "r", reason: "lunch" })).toMatchObject({ word: "pausing" });
    expect((await engine.reports.trail("r")).lines.at(-1)).toMatchObject({
      kind: "pause_requested",
      actor: "ada",
      reason: "lunch",
    });
  });

  it("shows what the contract names and nothing else: no claim's token leaves the server", async () => {
    const { lab, engine, send } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    const { claim } = (await lab.store.read("r")) ?? {};
    expect(claim?.token).toBeTypeOf("string");
    for (const path of ["/v1/runs", "/v1/runs/r"])
      expect(await (await send("GET", path)).text()).not.toContain(claim?.token);
  });

  it("refuses who has no credential or not the permission", async () => {
    const { app, as } = createApiStage([slow]);
    expect((await app.fetch(new Request("http://api.test/v1/runs"))).status).toBe(401);
    await expect(as("eve").listRuns()).rejects.toMatchObject({ status: 403 });
    await expect(as("eve", "runs:read").pauseRun({ run: "r" })).rejects.toMatchObject({ status: 403 });
  });

  it("describes itself as OpenAPI 3.1", async () => {
    const { client } = createApiStage([slow]);
    const document = await client.getOpenApi();
    expect(document).toMatchObject({
      openapi: "3.1.0",
      paths: { "/v1/runs/{run}/pause": { post: { operationId: "pauseRun", "x-permission": "runs:act" } } },
    });
  });
});
