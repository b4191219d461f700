import { readFileSync, writeFileSync } from "node:fs";
import { createEngine, workflow } from "../../src/index.ts";
import { openTelemetry } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** A process that advances a traced run, and is killed in the middle of it as often as `deaths` says. */
export interface TraceConfig {
  readonly file: string;
  /** Counts the calls. */
  readonly calls: string;
  readonly deaths: number;
}

const { file, calls, deaths } = JSON.parse(process.argv[2] ?? "") as TraceConfig;

const fragile = workflow("fragile", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("deadly", async () => {
    const before = Number(readFileSync(calls, "utf8"));
    writeFileSync(calls, String(before + 1));
    if (before < deaths) process.kill(process.pid, "SIGKILL");
    return 2;
  });
  return ctx.step("last", () => 3);
});

const telemetry = await openTelemetry();
const store = await openSqliteStore({ file });
const engine = createEngine({ store, workflows: [fragile], observe: telemetry.observe, sweepMs: 20 });
await engine.start(fragile, undefined, { id: "a" });
await engine.result("a");
await engine.close();
await telemetry.close();
await store.close();
