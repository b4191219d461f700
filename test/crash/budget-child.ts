import { appendFileSync } from "node:fs";
import { createEngine, type Run, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** The configuration of a process that works on a family of runs with one limit. */
export interface BudgetConfig {
  readonly file: string;
  /** A file with one line per call that began. */
  readonly witness: string;
  readonly budget: number;
  readonly children: number;
  /** The calls of each child, and what each uses. */
  readonly calls: number;
  readonly tokens: number;
  readonly raise?: number;
  /** The number of the call in which it is killed. */
  readonly killAt?: number;
}

/** The final output: the run's status, and what its family has used. */
export interface BudgetReport {
  readonly status: Run["status"];
  readonly waits: readonly string[];
  readonly tokens: number;
}

const config = JSON.parse(process.argv[2] ?? "") as BudgetConfig;
const { file, witness, budget, raise, killAt } = config;
let begun = 0;
const inner = workflow("inner", async (ctx) => {
  for (let n = 0; n < config.calls; n++)
    await ctx.step("ask", async () => {
      appendFileSync(witness, `${ctx.runId} ${n}\n`);
      if (++begun === killAt) process.kill(process.pid, "SIGKILL");
      await new Promise((resolve) => setImmediate(resolve));
      ctx.usage({ tokens: config.tokens });
    });
});
const outer = workflow("outer", async (ctx) => {
  await Promise.all(
    Array.from({ length: config.children }, (_, n) => ctx.child(`one-${n}`, inner, undefined)),
  );
});
const store = await openSqliteStore({ file });
const engine = createEngine({ store, workflows: [outer, inner], claimMs: 1_000, sweepMs: 20, quietMs: 20 });
await engine.start(outer, undefined, { id: "r", budget: { tokens: budget } });
if (raise !== undefined) await engine.resume("r", { budget: { tokens: raise } });
const { run, children } = await atRest();
const open = children.filter(({ status }) => status !== "completed");
const tokens = [run, ...open].reduce((sum, { usage }) => sum + usage.tokens, 0);
const waits = open.flatMap(({ waiting }) => waiting.map(({ kind }) => kind));
process.stdout.write(JSON.stringify({ status: run.status, waits, tokens } satisfies BudgetReport));
await engine.close();
await store.close();

async function atRest(): Promise<{ run: Run; children: readonly Run[] }> {
  for (;;) {
    const settled = await engine.settled("r");
    const { runs } = await engine.list({ parent: "r", limit: 100 });
    const moving = runs.find(({ status }) => status === "queued" || status === "running");
    if (moving) await engine.settled(moving.id);
    else if (settled.status === "completed" || runs.length === config.children)
      return { run: settled, children: runs };
  }
}
