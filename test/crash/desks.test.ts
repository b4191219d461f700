import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine, type Workflow, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { onLines } from "../../src/testing/witness/wire.ts";

const CHILD = childScript("test/crash/desk-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-desks-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => path.join(root, `${++files}.db`);

/** A child process, its output, and a way to start it. */
class Desk {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  readonly #ended: Promise<number | null>;

  constructor(...args: readonly string[]) {
    this.#child = spawn(process.execPath, [CHILD, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (this.#child.stdout)
      onLines(this.#child.stdout, (line) => {
        this.lines.push(line);
        for (const look of this.#waiting) look();
      });
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  /** Resolves when it has printed this line; rejects when it ends without it. */
  printed(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => void (this.lines.includes(line) && resolve());
      this.#waiting.add(look);
      look();
      void this.#ended.then(() => reject(new Error(`it ended without "${line}"`)));
    });
  }

  go(): void {
    this.#child.stdin?.write("go\n");
  }

  async end(): Promise<readonly string[]> {
    expect(await this.#ended).toBe(0);
    return this.lines;
  }
}

/** A run of the flow on its own file, at rest. */
async function atRest(flow: Workflow<undefined, unknown>) {
  const file = newFile();
  const store = await openSqliteStore({ file });
  const engine = createEngine({ store, workflows: [flow], sweepMs: 50 });
  await engine.start(flow, undefined, { id: "r" });
  await engine.settled("r");
  const close = async (): Promise<void> => {
    await engine.close();
    await store.close();
  };
  return { file, engine, close };
}

async function answers(desks: readonly Desk[]): Promise<string[]> {
  await Promise.all(desks.map((desk) => desk.printed("ready")));
  for (const desk of desks) desk.go();
  const lines = await Promise.all(desks.map((desk) => desk.end()));
  return lines.flatMap((one) => JSON.parse(one.at(-1) ?? "[]") as string[]);
}

describe("answers from many processes on one SQLite file", () => {
  it("to one gate: of fifty at once one is taken, the others are told so, and the run goes on once", async () => {
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      const { actor } = await ctx.gate("ok", { choices: ["yes"] });
      await ctx.step("after", () => ++calls, { effect: "once" });
      return actor;
    });
    const { file, engine, close } = await atRest(flow);
    const desks = Array.from({ length: 10 }, () => new Desk("answer", file, "ok", "5"));
    const told = (await answers(desks)).sort();
    expect(told).toEqual([...Array.from({ length: 49 }, () => "HF-1014"), "taken"]);
    expect(await engine.result("r")).toMatch(/^process \d+$/);
    expect(calls).toBe(1);
    await close();
  });

  it("to several gates: each is taken, and the run goes on when it has them all", async () => {
    const gates = ["a", "b", "c", "d"];
    const flow = workflow("flow", async (ctx) =>
      ctx.each(
        "all",
        gates,
        async (_, index) => (await ctx.gate(`gate ${index}`, { choices: ["yes"] })).choice,
      ),
    );
    const { file, engine, close } = await atRest(flow);
    const desks = gates.map((_, index) => new Desk("answer", file, `all[${index}]/gate ${index}`));
    expect(await answers(desks)).toEqual(gates.map(() => "taken"));
    expect(await engine.result("r")).toEqual(gates.map(() => "yes"));
    await close();
  });
});

describe("a cancel that is written by another process", () => {
  it.each([false, true])("reaches the tool that is under way (undoing: %s)", async (compensate) => {
    const file = newFile();
    const worker = new Desk("work", file);
    await worker.printed("ready");
    const store = await openSqliteStore({ file });
    const desk = createEngine({ store, execute: false });
    await desk.cancel("r", { actor: "ada", compensate });
    const started = performance.now();
    await worker.printed("told");
    console.log(`told after ${Math.round(performance.now() - started)} ms`);
    expect(await worker.end()).toEqual(["ready", "told", ...(compensate ? ["undone"] : []), "HF-2110"]);
    expect(await desk.get("r")).toMatchObject({ status: "cancelled", control: "none" });
    await desk.close();
    await store.close();
  });
});
