import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { hangs } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { allOperations } from "./contract/operations.ts";
import { openApi } from "./openapi.ts";

const slow = workflow("slow", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("second", hangs);
});

type Schema = Readonly<Record<string, unknown>>;

/** The places of a schema that say nothing. */
function* untyped(schema: Schema, at: string): Generator<string> {
  const { description: _, id: __, ...rest } = schema;
  if (Object.keys(rest).length === 0) yield at;
  for (const [name, one] of Object.entries((rest["properties"] ?? {}) as Record<string, Schema>))
    yield* untyped(one, `${at}.${name}`);
  for (const [word, sign] of [
    ["items", "[]"],
    ["additionalProperties", ".*"],
  ] as const)
    if (typeof rest[word] === "object") yield* untyped(rest[word] as Schema, at + sign);
  for (const one of ["anyOf", "oneOf", "allOf"].flatMap((word) => (rest[word] ?? []) as Schema[]))
    yield* untyped(one, at);
}

/** Values of users: any JSON. */
const VALUES =
  /^(readState|RunValues)\.(input|result|(config|memory|loops|steps|failure\.details)\.\*|agents\.\*\.state|gates\[\]\.show)$|^readDiff\.(state\.\*|patch\[\]\.value|values\.(added|removed)\.\*|values\.changed\.\*\.(from|to))$|^replayCheckpoint\.(result|error|steps\[\]\.value)$|^getGate\.show$|^Schedule\.definition\.(input|config\.\*)$|^AuditTrail\.lines\[\]\.meta\.\*$|^ImportReview\.(config|memory)\.\*$|^listLogs\.lines\[\]\.fields\.\*$|^getOpenApi\.\*$/;

describe("the management API", () => {
  it("says what every answer looks like, down to the values of users (S1-31)", () => {
    const { paths, components } = openApi(allOperations, "1") as {
      readonly paths: Record<string, Record<string, { operationId: string; responses: Schema }>>;
      readonly components: { readonly schemas: Record<string, Schema> };
    };
    const found = Object.values(paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId, responses }) => {
        const { content } = responses["200"] as {
          readonly content: Record<string, { readonly schema: Schema }>;
        };
        return Object.values(content).flatMap(({ schema }) => [...untyped(schema, operationId)]);
      });
    const shared = Object.entries(components.schemas).flatMap(([name, schema]) => [...untyped(schema, name)]);
    const known = (place: string): boolean =>
      VALUES.test(place) || place.startsWith("ScheduleOptions.") || place.startsWith("ScheduleChanges.");
    expect([...found, ...shared].filter((place) => !known(place))).toEqual([]);
  });

  it("lists runs, tells how one stands, and pauses it (S1-31)", async () => {
    const { lab, engine, client } = createApiStage([slow]);
    await lab.drive(engine.start(slow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const { runs, cursor } = await client.listRuns({ status: ["running"] });
    expect(runs).toMatchObject([{ id: "r", word: "running", tone: "busy", needsYou: false, stepsDone: 1 }]);
    expect(cursor).toBeNull();
    expect(await client.getRun({ run: "r" })).toMatchObject({
      headline: "running: second",
      can: ["pause", "cancel", "fork", "inject"],
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
    const text = JSON.stringify(document);
    const { schemas } = document["components"] as { readonly schemas: object };
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(Object.keys(schemas)).toContain(name);
    expect(text).not.toContain("$defs");
    expect(document).toMatchObject({
      openapi: "3.1.0",
      paths: { "/v1/runs/{run}/pause": { post: { operationId: "pauseRun", "x-permission": "runs:act" } } },
    });
  });
});
