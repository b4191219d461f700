import { getHeapStatistics } from "node:v8";
import { createEngine, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * Really fills its heap until the engine notices, releases it, and ends its runs. Reports on standard output, line by
 * line.
 */
const [file = ""] = process.argv.slice(2);
const say = (line: unknown): void => console.log(JSON.stringify(line));
const free = (globalThis as { gc?: () => void }).gc;
const TURNS = 200;
const LENGTH = 150_000;
const FULL = 0.65;

/** Numbers that stay referenced, whatever the collector does. */
let hoard: number[][] = [];
const heldShare = (): number => (hoard.length * LENGTH * 8) / getHeapStatistics().heap_size_limit;
let isOver = false;

const fill = workflow("fill", (ctx) =>
  ctx.loop("turn", { n: 0 }, async (state, turn) => {
    await ctx.step("more", async () => {
      if (!isOver) hoard.push(Array.from({ length: LENGTH }, (_, index) => index + 0.5));
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (heldShare() > FULL) await another();
    });
    state.n++;
    return turn.index === TURNS - 1 ? turn.done() : undefined;
  }),
);

const store = await openSqliteStore({ file });
const engine = createEngine({ store, workflows: [fill], sweepMs: 5, triggers: { memoryPressure: 0.5 } });

/** Starts one more run, then releases everything. */
async function another(): Promise<void> {
  isOver = true;
  await engine.start(fill, undefined, { id: "second" });
  const { status } = (await engine.get("second")) ?? {};
  say({ second: status });
  hoard = [];
  free?.();
}

engine.on("memory_pressure", ({ high }) => say({ high }));
engine.on("checkpoint_marked", ({ runId }) => say({ marked: runId }));
await engine.start(fill, undefined, { id: "first" });
say({ first: await engine.result("first") });
say({ second: await engine.result("second") });
await engine.close();
await store.close();
