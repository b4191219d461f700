// Counts the files and functions of Holdfast that two new steps of a run on SQLite come through. Given: the folder of the built files.

import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const built = path.resolve(process.argv[2] ?? "dist");
const load = (/** @type {string} */ file) => import(pathToFileURL(path.join(built, file)).href);
const { createEngine, workflow } = await load("index.js");
const { openSqliteStore } = await load("stores/sqlite/index.js");

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-path-"));
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** @type {import("node:inspector").Profiler.ScriptCoverage[]} */
let coverage = [];
const flow = workflow("path", async (/** @type {any} */ ctx) => {
  await ctx.step("before", () => 0);
  await session.post("Profiler.takePreciseCoverage");
  await ctx.step("one", () => 1);
  await ctx.step("two", () => 2, { effect: "keyed" });
  coverage = (await session.post("Profiler.takePreciseCoverage")).result;
});
const store = await openSqliteStore({ file: path.join(folder, "runs.db") });
const engine = createEngine({ store, workflows: [flow] });
await engine.start(flow, undefined, { id: "r" });
await engine.result("r");
await engine.close();
await store.close();
rmSync(folder, { recursive: true, force: true });

const own = coverage.filter(({ url }) => url.startsWith(pathToFileURL(built).href));
const called = own.map(({ functions }) =>
  functions.filter(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0),
);
const files = called.filter((one) => one.length > 0).length;
const functions = called.reduce((sum, one) => sum + one.length, 0);
if (process.argv[3] === "--list")
  for (const [index, one] of called.entries())
    if (one.length > 0)
      console.error(
        own[index]?.url.slice(built.length + 8),
        one.map(({ functionName }) => functionName).join(" "),
      );
console.log(JSON.stringify({ files, functions }));
