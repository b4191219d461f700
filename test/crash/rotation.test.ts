import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine, type Engine, workflow } from "../../src/index.ts";
import { type SealedStore, sealStore } from "../../src/security/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testKeyring } from "../support/sealed.ts";
import type { RotationConfig } from "./rotation-child.ts";

const RUNS = ["run-1", "run-2", "run-3"];
const echo = workflow("echo", (ctx, text: string) => ctx.step("say", () => `${text} `.repeat(2_000)));
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-rotation-"));
const original = path.join(folder, "original.db");
let copies = 0;

async function withSealed<T>(
  file: string,
  keys: readonly string[],
  use: (engine: Engine, store: SealedStore) => Promise<T>,
): Promise<T> {
  const store = await sealStore(await openSqliteStore({ file }), { keyring: testKeyring(...keys) });
  const engine = createEngine({ store, workflows: [echo] });
  try {
    return await use(engine, store);
  } finally {
    await engine.close();
    await store.close();
  }
}

beforeAll(() =>
  withSealed(original, ["k1"], async (engine) => {
    for (const id of RUNS) await engine.result((await engine.start(echo, id, { id })).id);
  }),
);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function copy(): string {
  const file = path.join(folder, `${++copies}.db`);
  copyFileSync(original, file);
  return file;
}

function change(config: RotationConfig): { readonly signal: string | null; readonly writes: number } {
  const script = childScript("test/crash/rotation-child");
  const child = spawnSync(process.execPath, [script, JSON.stringify(config)]);
  if (child.status !== 0 && child.signal !== "SIGKILL") throw new Error(String(child.stderr));
  return { signal: child.signal, writes: Number(String(child.stdout)) };
}

/** The runs with a readable result and an intact journal, using these keys. */
const readable = (file: string, keys: readonly string[]): Promise<string[]> =>
  withSealed(file, keys, async (engine) => {
    const found: string[] = [];
    for (const id of RUNS) {
      const result = await engine.result(id).catch(() => "");
      const { problems } = await engine.checkpoints.validate(id);
      if (result === `${id} `.repeat(2_000) && problems.length === 0) found.push(id);
    }
    return found;
  });

describe("a process that changes keys", () => {
  it("may be killed at any of its writes: every run opens with the keys in use, and the next one comes to an end", async () => {
    const keys = ["k2", "k1"];
    const { writes } = change({ file: copy(), keys, act: "rotate", runs: RUNS });
    // One write per run, and one for the store's own key.
    expect(writes).toBe(RUNS.length + 1);
    for (let write = 1; write <= writes; write++) {
      const side = write % 2 === 0 ? "before" : "after";
      const file = copy();
      expect(change({ file, keys, act: "rotate", runs: RUNS, kill: { write, side } }).signal).toBe("SIGKILL");
      expect(await readable(file, keys), `killed ${side} write ${write}`).toEqual(RUNS);
      const report = await withSealed(file, keys, (_, store) => store.rotate());
      const before = Math.min(RUNS.length, side === "before" ? write - 1 : write);
      expect(report).toMatchObject({ current: before, rewrapped: RUNS.length - before, complete: true });
      expect(await readable(file, ["k2"])).toEqual(RUNS);
    }
  });

  it("may be killed while it shreds: a run is readable or not, and shredding it again changes nothing", async () => {
    const keys = ["k1"];
    for (const [write, side] of [
      [1, "before"],
      [2, "after"],
    ] as const) {
      const file = copy();
      expect(change({ file, keys, act: "shred", runs: RUNS, kill: { write, side } }).signal).toBe("SIGKILL");
      expect(await readable(file, keys)).toEqual(side === "before" ? RUNS : RUNS.slice(2));
      change({ file, keys, act: "shred", runs: RUNS });
      expect(change({ file, keys, act: "shred", runs: RUNS }).writes).toBe(0);
      expect(await readable(file, keys)).toEqual([]);
      const rows = await withSealed(file, keys, (engine) => engine.list({ limit: 10 }));
      expect(rows.runs.map(({ status, prunedAt }) => [status, prunedAt !== null])).toEqual(
        RUNS.map(() => ["completed", true]),
      );
    }
  });
});
