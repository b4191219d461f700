import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../src/core/store.ts";
import { createEngine, type Engine, type RetentionPolicy, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import {
  chat,
  checkpointsOf,
  codeOf,
  journal,
  namedBlobs,
  stateAt,
  storedBytes,
  verify,
} from "../support/retention.ts";
import type { PruneConfig } from "./retention-child.ts";

const KEPT = 4;
const POLICY: RetentionPolicy = { keepLast: KEPT, maxAge: 0, failedMaxAge: 0 };
const BATCH = 120;
const LIVING = ["waiting", "paused"];
const OVER = ["cancelled", "completed", "failed"];

const flow = chat(100);
const short = workflow("short", (ctx, input: string) => ctx.step("work", () => input.repeat(2)));
const broken = workflow("broken", (ctx) =>
  ctx.step("work", () => Promise.reject(new Error("no")), { retry: false }),
);

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-retention-"));
const original = path.join(folder, "original.db");
/** By run, then by position: what could be known of it before anything was dropped. */
const before = new Map<string, Map<number, unknown>>();

async function withStore<T>(file: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ file });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const engineOn = (store: Store): Engine =>
  createEngine({ store, workflows: [flow, short, broken], quietMs: 5 });

async function fill(store: Store): Promise<void> {
  const engine = engineOn(store);
  for (const id of [...LIVING, "cancelled"]) {
    await engine.start(flow, id.repeat(2_000), { id });
    await engine.settled(id);
  }
  await engine.pause("paused");
  await engine.cancel("cancelled");
  await engine.start(short, "x".repeat(20_000), { id: "completed" });
  await engine.start(broken, undefined, { id: "failed" });
  for (const id of ["completed", "failed"]) await engine.settled(id);
  await engine.close();
}

/** The positions of a living run that stay, whatever happens; and its newest state. */
async function kept(store: Store, id: string): Promise<number[]> {
  return (await checkpointsOf(store, id)).slice(-KEPT);
}

beforeAll(async () => {
  await withStore(original, async (store) => {
    await fill(store);
    for (const id of LIVING) {
      const states = new Map<number, unknown>([[0, await stateAt(store, id)]]);
      for (const seq of await kept(store, id)) states.set(seq, await stateAt(store, id, seq));
      before.set(id, states);
    }
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function prune(config: PruneConfig): { readonly signal: string | null; readonly writes: number } {
  const script = fileURLToPath(new URL("./retention-child.ts", import.meta.url));
  const child = spawnSync(process.execPath, ["--import", "tsx", script, JSON.stringify(config)]);
  if (child.status !== 0 && child.signal !== "SIGKILL") throw new Error(String(child.stderr));
  return { signal: child.signal, writes: Number(String(child.stdout)) };
}

/** What is left of every run: which entries have values, and which blobs are there. */
async function held(store: Store): Promise<unknown> {
  const found: unknown[] = [];
  for (const id of [...LIVING, ...OVER]) {
    const entries = (await journal(store, id)).filter(({ data }) => data !== null).map(({ seq }) => seq);
    found.push([id, entries, [...(await store.blobs(id, await namedBlobs(store, id))).keys()].sort()]);
  }
  return found;
}

async function checkPromises(store: Store, at: string): Promise<void> {
  for (const id of [...LIVING, ...OVER]) await verify(store, id);
  for (const id of LIVING)
    for (const [seq, state] of before.get(id) ?? [])
      expect(await stateAt(store, id, seq === 0 ? undefined : seq), `${at}: ${id}@${seq}`).toEqual(state);
}

async function copy(name: string): Promise<string> {
  const file = path.join(folder, `${name}.db`);
  copyFileSync(original, file);
  return file;
}

describe("a process that drops values", () => {
  it("may be killed at any of its writes: what must stay is there, and the next one comes to the same end", async () => {
    const whole = await copy("whole");
    const { writes } = prune({ file: whole, policy: POLICY, batch: BATCH });
    expect(writes).toBeGreaterThan(5);
    const end = await withStore(whole, async (store) => {
      await checkPromises(store, "not killed");
      expect(await codeOf(stateAt(store, "waiting", 20))).toBe("HF-1023");
      return held(store);
    });
    for (let write = 1; write <= writes; write++) {
      for (const side of ["before", "after"] as const) {
        const at = `killed ${side} write ${write}`;
        const file = await copy(at.replaceAll(" ", "-"));
        const first = prune({ file, policy: POLICY, batch: BATCH, kill: { write, side } });
        expect(first.signal, at).toBe("SIGKILL");
        await withStore(file, async (store) => {
          await checkPromises(store, at);
          const engine = engineOn(store);
          const { complete } = await engine.retention.prune(POLICY, { batch: BATCH });
          expect(complete, at).toBe(true);
          await checkPromises(store, `${at}, and pruned again`);
          expect(await held(store), at).toEqual(end);
          expect(await engine.retention.prune(POLICY), at).toMatchObject({ runs: [], skipped: [] });
          await engine.answer("waiting", "ok", { choice: "yes" });
          expect(await engine.result("waiting"), at).toMatchObject({ choice: "yes", count: 5 });
          await engine.close();
        });
        rmSync(file);
      }
    }
  });

  it("makes the file smaller, or leaves room in it that is used again", async () => {
    const file = await copy("size");
    const bytes = (store: Store) =>
      Promise.all([...LIVING, ...OVER].map((id) => storedBytes(store, id))).then((all) =>
        all.reduce((a, b) => a + b),
      );
    const values = await withStore(file, bytes);
    const size = statSync(file).size;
    prune({ file, policy: POLICY, batch: BATCH });
    const [left, shrunk] = [await withStore(file, bytes), statSync(file).size];
    expect(left).toBeLessThan(values / 2);
    expect(shrunk).toBeLessThan(size * 0.8);
    await withStore(file, async (store) => {
      const engine = engineOn(store);
      await engine.start(flow, "again", { id: "again" });
      await engine.settled("again");
      await engine.close();
    });
    expect(statSync(file).size).toBeLessThan(size);
  });
});
