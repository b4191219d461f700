import { mkdtempSync } from "node:fs";
import path from "node:path";
import { seededIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store/contract.ts";
import {
  fileKind,
  postgresKind,
  redisKind,
  type StoreKind,
  sqliteKind,
} from "../../src/testing/store-kinds.ts";
import type { AckedWrite } from "../../src/testing/witness/log.ts";
import type { RunPlan } from "../crash/config.ts";
import { Lab, type Problem, type Site } from "../crash/site.ts";
import { startPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";
import { PowerDisk } from "./disk.ts";

export const powerStores = ["sqlite", "file", "postgres", "redis"] as const;
export type PowerStore = (typeof powerStores)[number];

export interface PowerOptions {
  readonly store: PowerStore;
  readonly cuts: number;
  readonly seed: number;
  /** Environment variables for the store's processes: a library that ignores syncs, to prove the harness. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface PowerReport {
  readonly store: PowerStore;
  readonly cuts: number;
  /** Writes acknowledged before a cut, and those of them that were missing after it. */
  readonly acknowledged: number;
  readonly lost: number;
  /** Cuts after which the store couldn't be opened again. */
  readonly unopened: number;
  /** Broken guarantees, including lost writes. */
  readonly problems: readonly Problem[];
  readonly seconds: number;
}

/** A kind of store on a disk that loses power, and the server that goes down with it. */
interface Ground {
  readonly kind: StoreKind;
  readonly server?: { readonly pid: number; start(): Promise<void>; remove(): Promise<void> };
}

const RUNS: readonly RunPlan[] = (["sequence", "loop", "group", "retries"] as const).map((scenario) => ({
  id: scenario,
  scenario,
}));
const FOR_EVER_MS = 86_400_000;
const FEWEST_CALLS = 20;
const MORE_CALLS = 100;

/**
 * Cuts the power of a store's disk while a worker is running, brings it back, lets another worker finish, and checks
 * that every acknowledged write is there and every guarantee held.
 */
export async function powerCuts(options: PowerOptions): Promise<PowerReport> {
  const { store, cuts, seed, env = {} } = options;
  const started = performance.now();
  const ids = seededIds(seed);
  const total = { acknowledged: 0, lost: 0, unopened: 0 };
  const problems: Problem[] = [];
  for (let nth = 1; nth <= cuts; nth++) {
    const disk = await PowerDisk.make();
    try {
      const calls = FEWEST_CALLS + Math.floor(ids.random() * MORE_CALLS);
      const at = `cut ${nth} of seed ${seed}, after ${calls} calls`;
      const result = await cutOnce(disk, { store, env, calls, at });
      total.acknowledged += result.acknowledged;
      total.lost += result.lost;
      total.unopened += result.isOpened ? 0 : 1;
      problems.push(...result.problems);
    } finally {
      await disk.remove();
    }
  }
  return { store, cuts, ...total, problems, seconds: (performance.now() - started) / 1000 };
}

interface Cut {
  readonly store: PowerStore;
  readonly env: Readonly<Record<string, string>>;
  readonly calls: number;
  readonly at: string;
}

interface CutResult {
  readonly acknowledged: number;
  readonly lost: number;
  readonly isOpened: boolean;
  readonly problems: readonly Problem[];
}

async function cutOnce(disk: PowerDisk, { store, env, calls, at }: Cut): Promise<CutResult> {
  const { kind, server } = await groundOn(disk.mount, store, env);
  // The witness log and the acknowledgements are on another disk.
  const lab = await Lab.open({ store: kind });
  try {
    const site = await lab.site();
    await disk.sync();
    const worker = site.start({ runs: RUNS, repeatMs: FOR_EVER_MS }, { env, patienceMs: FOR_EVER_MS });
    try {
      await Promise.race([site.witness.waitFor(({ n }) => n >= calls, PATIENCE_MS), failed(worker.ended)]);
      await disk.cut([worker.pid, ...(server ? [server.pid] : [])]);
    } finally {
      worker.signal("SIGKILL");
      await worker.ended;
    }
    const acknowledged = site.acked().length;
    return { acknowledged, ...(await recovered(site, server, at)) };
  } finally {
    await lab.close();
    await kind.close();
    await server?.remove();
  }
}

const PATIENCE_MS = 60_000;

async function failed(ended: Promise<{ readonly stderr: string }>): Promise<never> {
  throw new Error(`The worker ended before the cut. ${(await ended).stderr}`);
}

/** Checks the store after the power is back, and whether work can continue. */
async function recovered(
  site: Site,
  server: Ground["server"],
  at: string,
): Promise<Omit<CutResult, "acknowledged">> {
  const problem = (rule: Problem["rule"], message: string): Problem => ({ at, rule, runId: "", message });
  let lost: number;
  try {
    await server?.start();
    lost = await site.read((store) => lostIn(store, site.acked()));
  } catch (error) {
    const problems = [problem("I2", `It cannot be opened again: ${String(error)}`)];
    return { isOpened: false, lost: site.acked().length, problems };
  }
  const problems = await site.check(at, { healed: false });
  if (problems.length === 0) {
    const { reports, stderr } = await site.run({ runs: [], repeatMs: 0 });
    if (reports.length === 0) problems.push(problem("I10", `The next worker did not finish. ${stderr}`));
    problems.push(...(await site.check(at)));
  }
  return { isOpened: true, lost, problems };
}

async function lostIn(store: Store, acked: readonly AckedWrite[]): Promise<number> {
  let lost = 0;
  for (const { runId, seq, head } of acked) {
    const [entry] = await store.entries(runId, { from: seq, limit: 1 });
    if (entry?.seq !== seq || entry.head !== head) lost++;
  }
  return lost;
}

async function groundOn(mount: string, store: PowerStore, env: Cut["env"]): Promise<Ground> {
  const place = { folder: mount, env };
  if (store === "postgres") {
    const server = await startPostgres(place);
    if (!server) throw new Error("PostgreSQL cannot be had: it is not installed.");
    return { kind: await postgresKind(server.url), server };
  }
  if (store === "redis") {
    const server = await startRedis(place);
    if (!server) throw new Error("Redis cannot be had: it is not installed.");
    return { kind: await redisKind(server.url), server };
  }
  const kind = store === "sqlite" ? sqliteKind : fileKind;
  return { kind: { ...kind, place: () => kind.place(mkdtempSync(path.join(mount, "case-"))) } };
}
