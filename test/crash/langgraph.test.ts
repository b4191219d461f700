import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { useFolders } from "../support/folders.ts";

const CHILD = childScript("test/crash/langgraph-child");
const newFolder = useFolders("langgraph-crash");
const TURNS = Array.from({ length: 45 }, (_, n) => n);

type Moment = readonly [at: number, moment: "during" | "before" | "after"];

/** Runs the agent to its end, through these deaths or as many of them as it needs, and returns what the outside world saw. */
function live(deaths: readonly Moment[]) {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const [file, witness] = [path.join(folder, "runs.db"), path.join(folder, "witness")];
  const run = (...moment: readonly (string | number)[]) =>
    spawnSync(process.execPath, [CHILD, file, witness, ...moment.map(String)], { encoding: "utf8" });
  let killed = 0;
  let last = run(...(deaths[0] ?? []));
  for (; last.signal === "SIGKILL"; last = run(...(deaths[killed] ?? []))) {
    expect(last.stderr).toBe("");
    killed++;
  }
  expect(last.stderr).toBe("");
  const seen = readFileSync(witness, "utf8").trim().split("\n");
  const extra = (what: string) => seen.filter((line) => line.startsWith(what)).length - TURNS.length;
  return { file, killed, result: JSON.parse(last.stdout) as { n: number; log: string[] }, seen, extra };
}

/** More deaths than there are appends. */
const MOST = 1_000;

const all = TURNS.flatMap((n) => [`paid ${n}`, `thought ${n}`]).sort();

describe("a LangGraph agent of 45 iterations whose process is killed", () => {
  it("never pays again what was saved, when it dies during the model calls beside (S1-10, S1-11, S1-19)", async () => {
    const turns = isExhaustive ? TURNS : [0, 7, 44];
    const { result, seen, extra, file, killed } = live(turns.map((n) => [n, "during"]));
    expect(killed).toBe(turns.length);
    expect([...result.log].sort()).toEqual(all);
    expect(new Set(seen).size).toBe(2 * TURNS.length);
    expect([extra("pay"), extra("think")]).toEqual([0, turns.length]);
    const store = await openSqliteStore({ file });
    const engine = createEngine({ store, execute: false });
    expect(await engine.get("agent")).toMatchObject({ workflow: "langgraph", status: "waiting" });
    expect(await engine.checkpoints.validate("agent")).toMatchObject({ ok: true });
    await engine.close();
    await store.close();
  });

  it("goes on from its last checkpoint, when it dies right after an append (S1-13, S1-39)", () => {
    const appends = isExhaustive ? Array.from({ length: MOST }, () => 1) : [1, 10];
    const { result, extra, killed } = live(appends.map((n) => [n, "after"]));
    expect(killed).toBeGreaterThanOrEqual(isExhaustive ? 2 * TURNS.length : appends.length);
    expect([...result.log].sort()).toEqual(all);
    // A task whose append was durable isn't done again; one beside it that wasn't done yet is.
    expect(extra("pay")).toBeLessThanOrEqual(killed);
    expect(extra("think")).toBeLessThanOrEqual(killed);
  });

  it("repeats at most the tasks whose append was under way (S1-11, S1-20)", () => {
    // The first append of each process is made, so that there is an end.
    const appends = isExhaustive ? Array.from({ length: MOST }, () => 2) : [2, 11];
    const { result, extra, killed } = live(appends.map((n) => [n, "before"]));
    expect(killed).toBeGreaterThanOrEqual(isExhaustive ? TURNS.length : appends.length);
    expect([...result.log].sort()).toEqual(all);
    expect(extra("pay")).toBeLessThanOrEqual(killed);
    expect(extra("think")).toBeLessThanOrEqual(killed);
  });
});
