import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../../../test/support/folders.ts";
import { storedBytes } from "../../../../test/support/retention.ts";
import { dagWorkflow } from "../../../dag/index.ts";
import { createEngine, type Engine, HoldfastError, type Workflow, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { openSqliteStore } from "../../../stores/sqlite/index.ts";
import type { Store } from "../../store/contract.ts";

const TEXT = "x".repeat(3_000);

const steps = workflow("steps", async (ctx) => {
  for (let n = 0; n < 300; n++) await ctx.step(`s${n}`, () => `${n} ${TEXT}`);
});

const loop = workflow("loop", (ctx) =>
  ctx.loop("turn", { last: [] as string[] }, async (draft, turn) => {
    const said = await ctx.step("ask", () => `${turn.index} ${TEXT}`);
    draft.last = [...draft.last.slice(-3), said];
    return turn.index === 299 ? turn.done() : undefined;
  }),
);

const dag = dagWorkflow("dag", {
  tools: { work: ({ n }) => `${String(n)} ${TEXT}` },
  dag: {
    tasks: Array.from({ length: 60 }, (_, n) => ({
      id: `t${n}`,
      tool: "work",
      arguments: { n },
      ...(n < 2 ? {} : { dependsOn: [`t${n - 2 - (n % 2)}`, `t${n - 1 - (n % 2)}`] }),
    })),
  },
});

async function everyCheckpoint(engine: Engine, all: boolean): Promise<string[]> {
  const found: string[] = [];
  for (let before: number | undefined; ; ) {
    const page = await engine.checkpoints.list("a", { all, ...(before === undefined ? {} : { before }) });
    found.push(...page.map(({ id }) => id));
    before = page.at(-1)?.seq;
    if (before === undefined || page.length === 0) return found;
  }
}

/** What a checkpoint can still be used for: looking at it, and going on from it. */
async function refusals(engine: Engine, id: string): Promise<unknown[]> {
  const uses = [engine.checkpoints.digest(id), engine.checkpoints.show(id), engine.fork(id)];
  return Promise.all(uses.map((use) => use.catch((error: unknown) => error)));
}

const folder = useFolders("keep-five");
const STORES: readonly [string, () => Promise<Store>][] = [
  ["memory", async () => createMemoryStore()],
  ["SQLite", () => openSqliteStore({ file: path.join(folder(), "keep.db") })],
];

describe.each(STORES)("five checkpoints in %s", (where, open) => {
  const programs: Record<string, Workflow<undefined, unknown>> = {
    "a run of 300 steps": steps as Workflow<undefined, unknown>,
    "a loop of 300 turns": loop as Workflow<undefined, unknown>,
    "a DAG of 30 layers": dag as Workflow<undefined, unknown>,
  };
  for (const [name, flow] of Object.entries(programs)) {
    it(`are left of ${name}: each restores to an equal digest, the others are refused (S2-05, S2-22, S2-27)`, async () => {
      const store = await open();
      const engine = createEngine({ store, workflows: [flow], retention: "forever" });
      await engine.start(flow, undefined, { id: "a" });
      await engine.result("a");
      const listed = await everyCheckpoint(engine, false);
      const all = await everyCheckpoint(engine, true);
      const before = new Map<string, string>();
      for (const id of listed.slice(0, 5)) before.set(id, await engine.checkpoints.digest(id));
      const bytes = await storedBytes(store, "a");
      await engine.retention.prune({ keepLast: 5 });
      expect(await everyCheckpoint(engine, false)).toEqual(listed.slice(0, 5));
      for (const [id, digest] of before) expect(await engine.checkpoints.digest(id)).toBe(digest);
      const oldest = Number(listed[4]?.split("@")[1]);
      const gone = all.filter((id) => Number(id.split("@")[1]) < oldest);
      expect(gone.length).toBeGreaterThan(20);
      if (flow === programs["a DAG of 30 layers"]) expect(listed.length).toBeLessThan(34);
      for (const id of [gone[0], gone.at(-1), gone[Math.floor(gone.length / 2)]])
        for (const answer of await refusals(engine, id as string))
          expect(HoldfastError.is(answer, "HF-1023"), id).toBe(true);
      expect(await engine.checkpoints.validate("a")).toMatchObject({ ok: true, checkpoints: 5 });
      const left = await storedBytes(store, "a");
      process.stdout.write(`keep 5 of ${name} in ${where}: ${bytes} bytes before, ${left} after\n`);
      if (flow !== programs["a run of 300 steps"]) expect(left).toBeLessThan(bytes / 2);
      await engine.close();
      await store.close();
    });
  }
});
