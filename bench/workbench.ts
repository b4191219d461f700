import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createEngine, type Engine, type EngineOptions, type Workflow } from "holdfast";
import { createMemoryStore } from "holdfast/stores/memory";
import { openSqliteStore } from "holdfast/stores/sqlite";
import type { Entry, Store } from "../src/core/store/contract.ts";
import type { RunRow } from "../src/core/types.ts";
import { chooseDriver } from "../src/stores/sqlite/driver.ts";

/** 2 KiB of text, a little different each time. */
export const payload = (n: number): string => `${n}:`.padEnd(2048, "lorem ipsum dolor sit amet ");

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/**
 * The processor time of the thread that runs JavaScript, in ms, where the system tells it (Linux): about what a time
 * would be if nothing else wanted the processor.
 */
export function threadMs(): number {
  try {
    const [ns = ""] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return Number(ns) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** A scratch folder on the file system of the project, not in a memory file system. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(resolve("."), ".tmp-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type AnyWorkflow = Workflow<never, unknown>;

export async function withEngine<T>(
  file: string,
  workflows: readonly AnyWorkflow[],
  work: (engine: Engine) => Promise<T>,
  options: Partial<EngineOptions> = {},
): Promise<T> {
  const store = await openSqliteStore({ file });
  const engine = createEngine({ store, workflows, ...options });
  try {
    return await work(engine);
  } finally {
    await engine.close({ drainMs: 0 });
    await store.close();
  }
}

/** One-row commits on the same file system with the same driver and settings: what no engine can beat. */
export async function rawCommits(file: string, count: number): Promise<number> {
  const driver = await chooseDriver("auto");
  const db = driver.connect(file);
  db.exec(
    "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE steps (id INTEGER PRIMARY KEY, run INTEGER, seq INTEGER, out TEXT)",
  );
  const insert = db.prepare("INSERT INTO steps (run, seq, out) VALUES (1, ?, ?)");
  const start = performance.now();
  for (let n = 0; n < count; n++) insert.run(n, payload(n));
  const rate = (count / (performance.now() - start)) * 1000;
  db.close();
  return rate;
}

/** A store that keeps only each run's last append: what is left is the cost of the engine itself. */
export function createNullStore(): Store {
  const last = new Map<string, { row: RunRow; entry: Entry }>();
  const claim = { epoch: 1, owner: "bench", token: "bench", until: Number.MAX_SAFE_INTEGER };
  return {
    ...createMemoryStore(),
    append: async (batch) =>
      batch.map(({ run, entries, head }) => {
        const entry = entries.at(-1) as Entry;
        last.set(run.id, { row: { ...run, claim, seq: entry.seq + entry.count - 1, head }, entry });
        return { ok: true };
      }),
    read: async (id) => last.get(id)?.row ?? null,
    renew: async (batch) => batch.map(({ runId }) => last.get(runId)?.row ?? null),
    entries: async (id) => [last.get(id)?.entry].filter((entry) => entry !== undefined),
  };
}

export const fileBytes = (file: string): number => statSync(file).size;

export async function sqliteVersion(): Promise<string> {
  return (await chooseDriver("auto")).version;
}
