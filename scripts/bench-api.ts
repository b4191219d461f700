/**
 * Measures the lists of the API on a store with 10,000 runs: time of the server, of its processor, and size of the
 * answer. On SQLite, and `FOLDER` keeps the file for the next time; with `POSTGRES=1` on a PostgreSQL server of its own.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startPostgres } from "../lab/services/postgres.ts";
import { createEngine, workflow } from "../src/index.ts";
import { permissionsOf } from "../src/server/access/permission.ts";
import { createApp } from "../src/server/app.ts";
import { openPostgresStore } from "../src/stores/postgres/index.ts";
import { openSqliteStore } from "../src/stores/sqlite/index.ts";

const RUNS = Number(process.env["RUNS"] ?? 10_000);
const kept = process.env["FOLDER"];
const folder = kept ?? mkdtempSync(path.join(tmpdir(), "holdfast-bench-api-"));
const isMade = existsSync(path.join(folder, "runs.db"));
const postgres = process.env["POSTGRES"] ? await startPostgres() : null;
const store = postgres
  ? await openPostgresStore({ connectionString: postgres.url })
  : await openSqliteStore({ file: path.join(folder, "runs.db") });

const flow = workflow("flow", async (ctx, n: number) => {
  await ctx.step("load", () => n);
  if (n % 10 === 0) await ctx.gate("approve", { show: n, choices: ["yes", "no"] });
  if (n % 7 === 0)
    await ctx.step("pay", () => Promise.reject(new Error(`HTTP 500 for order ${n}`)), { retry: false });
  return n;
});

const engine = createEngine({ store, workflows: [flow] });
const began = performance.now();
for (let from = isMade ? RUNS : 0; from < RUNS; from += 500) {
  const batch = Array.from({ length: Math.min(500, RUNS - from) }, (_, index) => from + index);
  const started = await Promise.all(
    batch.map((n) => engine.start(flow, n, { id: `run-${n}`, labels: { team: n % 2 ? "a" : "b" } })),
  );
  await Promise.all(started.map(({ id }) => engine.settled(id)));
}
console.log(`${RUNS} runs in ${Math.round((performance.now() - began) / 1_000)} s`);

const permissions = permissionsOf(["admin"]);
const app = createApp({ engine, store, identify: () => ({ actor: "bench", permissions }) });
const PATHS = [
  "/v1/runs?limit=50",
  "/v1/runs?limit=200",
  "/v1/runs?status=failed&limit=50",
  "/v1/runs?needsYou=true&limit=50",
  "/v1/runs?text=HTTP%20500%20for%20order%207&limit=50",
  "/v1/runs?text=nothing-has-this&limit=50",
  "/v1/runs?text=run-9&limit=50",
  "/v1/runs?notStatus=completed&notWorkflow=other&limit=50",
  "/v1/counts",
  "/v1/needs-you",
  `/v1/progress?${Array.from({ length: 50 }, (_, n) => `run=run-${RUNS - 1 - n}`).join("&")}`,
  "/v1/views",
  "/v1/schedules",
  "/v1/queues",
  "/v1/runs/run-7/step?step=load",
  "/v1/runs/run-7/lineage",
  "/v1/runs?label=team%3Da&limit=50",
  "/v1/runs?workflow=flow&status=completed&limit=50",
  "/v1/runs/run-7",
  "/v1/runs/run-7/outline",
  "/v1/runs/run-7/events",
  "/v1/runs/run-7/checkpoints",
  "/v1/errors",
  "/v1/gates",
  "/v1/workflows",
  "/v1/costs",
];
for (const place of PATHS) {
  const times: number[] = [];
  const used: number[] = [];
  let size = 0;
  for (let round = 0; round < 7; round++) {
    const start = performance.now();
    const before = process.cpuUsage();
    const response = await app.fetch(new Request(`http://bench${place}`));
    size = (await response.text()).length;
    times.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1_000);
    if (!response.ok) throw new Error(`${place}: ${response.status}`);
  }
  const median = (figures: number[]): string =>
    (figures.sort((a, b) => a - b)[3] ?? 0).toFixed(1).padStart(8);
  console.log(
    `${place.slice(0, 52).padEnd(52)} ${median(times)} ms ${median(used)} ms of CPU ${(size / 1_000).toFixed(1).padStart(8)} kB`,
  );
}
await app.close();
await engine.close();
await store.close();
await postgres?.remove();
if (!kept) rmSync(folder, { recursive: true, force: true });
