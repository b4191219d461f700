/**
 * Loads `holdfast serve` on PostgreSQL: clients that follow all runs, requests at a steady rate, and two workers of which
 * one is killed again and again. Prints what it saw, and fails if an event was lost or came twice.
 *
 *   npm run build && tsx lab/load/cli.ts [clients=1000] [requests per second=200] [seconds=60]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createEngine } from "../../src/core/engine.ts";
import { workflow } from "../../src/core/workflow.ts";
import { openPostgresStore } from "../../src/stores/postgres/index.ts";
import { startPostgres } from "../services/postgres.ts";
import { Follower } from "./follower.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const [clients = 1_000, perSecond = 200, seconds = 60] = process.argv.slice(2).map(Number);
const EVERY_MS = 1_000;
const KILL_MS = 7_000;

const FLOW = `import { workflow } from "${ROOT}/dist/index.js";
export const tick = workflow("tick", async (ctx) => {
  for (let i = 0; i < 5; i++) await ctx.step("step" + i, () => new Promise((done) => setTimeout(() => done(i), 50)));
});`;

const tick = workflow("tick", () => Promise.resolve());

const postgres = await startPostgres();
if (!postgres) throw new Error("PostgreSQL isn't installed here");
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-load-"));
writeFileSync(path.join(folder, "flow.mjs"), FLOW);
const limits = { per_token: { per_second: 1e5, burst: 1e5 }, per_address: { per_second: 1e5, burst: 1e5 } };
const server = { port: 0, limits: { ...limits, streams: 5_000, streams_per_token: 5_000 } };
writeFileSync(path.join(folder, "holdfast.config.json"), JSON.stringify({ store: postgres.url, server }));

/** Starts `holdfast serve`; resolves with what it printed, once it listens. */
async function serving(...files: string[]): Promise<{ child: ChildProcess; url: string; token: string }> {
  const child = spawn(process.execPath, [path.join(ROOT, "dist/cli/main.js"), "serve", ...files], {
    cwd: folder,
  });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes("Ctrl-C stops")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
  });
  child.removeAllListeners("exit");
  return { child, url: /http:\S+:\d+/.exec(text)?.[0] ?? "", token: /hf_\S+/.exec(text)?.[0] ?? "" };
}

const memoryOf = (pid: number | undefined): number => {
  const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kb) / 1_024);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const share = (sorted: readonly number[], part: number): number =>
  Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);

const api = await serving();
let workers = [await serving("flow.mjs"), await serving("flow.mjs")];
const headers = { authorization: `Bearer ${api.token}` };
const memory = { before: memoryOf(api.child.pid), most: 0, after: 0 };

const followers = Array.from({ length: clients }, () => new Follower(`${api.url}/v1/events`, headers));
for (const batch of Array.from({ length: Math.ceil(clients / 50) }, (_, i) =>
  followers.slice(i * 50, i * 50 + 50),
))
  await Promise.all(batch.map((follower) => follower.open()));
console.log(`${clients} clients follow ${api.url}; memory of the server: ${memoryOf(api.child.pid)} MB`);

const store = await openPostgresStore({ connectionString: postgres.url });
const engine = createEngine({ store, workflows: [tick], execute: false });
const runs: string[] = [];
const latencies: number[] = [];
const statuses = new Map<number, number>();
let kills = 0;
const open = new Set<Promise<void>>();

/** Does it beside everything else: a slow answer must not slow down the requests after it. */
function beside(work: Promise<void>): void {
  const one: Promise<void> = work.finally(() => open.delete(one));
  open.add(one);
}

async function request(): Promise<void> {
  const last = runs.at(-1);
  const where = last !== undefined && Math.random() < 0.5 ? `/v1/runs/${last}` : "/v1/runs?limit=20";
  const began = performance.now();
  const response = await fetch(`${api.url}${where}`, { headers });
  await response.arrayBuffer();
  latencies.push(performance.now() - began);
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
}

const began = performance.now();
let [sent, started, killed] = [0, 0, 0];
for (let now = 0; now < seconds * 1_000; now = performance.now() - began) {
  for (; sent < (now / 1_000) * perSecond; sent++) {
    beside(request().catch(() => void statuses.set(0, (statuses.get(0) ?? 0) + 1)));
  }
  if (now >= started) {
    started += EVERY_MS;
    beside(engine.start(tick, undefined).then(({ id }) => void runs.push(id)));
    memory.most = Math.max(memory.most, memoryOf(api.child.pid));
  }
  if (now - killed >= KILL_MS) {
    killed = now;
    const [victim, other] = workers;
    victim?.child.kill("SIGKILL");
    kills++;
    workers = other ? [other] : [];
    beside(serving("flow.mjs").then((one) => void workers.push(one)));
  }
  await pause(5);
}
await Promise.all(open);
const rows = await Promise.all(runs.map((id) => engine.settled(id)));
// Every event that is stored by now must have arrived at every client.
const expected = new Map(rows.map(({ id, seq }) => [id, seq]));
const until = performance.now() + 60_000;
while (followers.some((one) => !one.hasAll(expected)) && performance.now() < until) await pause(200);
const lost = followers.map((one) => one.missing(expected)).reduce((sum, one) => sum + one, 0);
const doubled = followers.reduce((sum, one) => sum + one.doubled, 0);
const events = followers.reduce((sum, one) => sum + one.events, 0);
for (const one of followers) one.close();
await pause(5_000);
memory.after = memoryOf(api.child.pid);

const sorted = latencies.sort((a, b) => a - b);
const times = {
  p50: share(sorted, 0.5),
  p95: share(sorted, 0.95),
  p99: share(sorted, 0.99),
  most: share(sorted, 1 - 1e-9),
};
console.log(
  JSON.stringify(
    {
      clients,
      perSecond,
      seconds,
      runs: runs.length,
      kills,
      events,
      lost,
      doubled,
      reconnects: followers.reduce((sum, one) => sum + one.reconnects, 0),
      ms: times,
      statuses: Object.fromEntries(statuses),
      memoryMb: memory,
    },
    null,
    2,
  ),
);
for (const { child } of [api, ...workers]) child.kill("SIGTERM");
await engine.close();
await store.close();
await postgres.stop();
process.exitCode = lost + doubled === 0 ? 0 : 1;
