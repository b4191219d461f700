import { describe, expect, it } from "vitest";
import { createEngine, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";

const flow = workflow("flow", async (ctx) => {
  const agent = { stock_ticker: "AAPL", agent_type: "valuation_agent", analysis_id: ANALYSIS };
  for (const done of ["wacc", "terminal_value"]) {
    const memory = { [done]: "large ".repeat(done === "wacc" ? 1 : 3_000) };
    await ctx.step(done, () => done);
    await ctx.checkpoint(done, {
      record: {
        table: "agent_checkpoints",
        row: { ...agent, current_subtask: done, working_memory: memory },
      },
    });
  }
  // A row that speaks for another run.
  const row = {
    id: "c1",
    workflow_id: "another",
    layer_index: 1,
    state: {},
    dag_structure: {},
    execution_config: {},
  };
  await ctx.checkpoint("foreign", { record: { table: "workflow_checkpoints", row } });
  return "done";
});

async function exported() {
  const store = createMemoryStore();
  const engine = createEngine({ store });
  engine.register(flow);
  const run = await engine.start(flow, undefined, { id: "carried" });
  await run.result();
  const lines: string[] = [];
  for await (const line of engine.transfer.exportRun(run.id)) lines.push(line);
  await engine.close();
  return { store, lines };
}

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe("the records of a run that is imported", () => {
  it("are made again from its events when it is accepted, and those of other runs are not", async () => {
    const { store: from, lines } = await exported();
    const store = createMemoryStore();
    const engine = createEngine({ store });
    engine.register(flow);
    await engine.transfer.importRuns(given(lines), { accept: { actor: "Ada", reason: "moved" } });
    const own = (await from.records?.("carried"))?.filter(({ table }) => table === "agent_checkpoints");
    expect(own).toHaveLength(2);
    expect(await store.records?.("carried")).toEqual(own);
    await engine.close();
  });

  it("are not there while nobody has accepted the run", async () => {
    const { lines } = await exported();
    const store = createMemoryStore();
    const engine = createEngine({ store });
    engine.register(flow);
    await engine.transfer.importRuns(given(lines));
    expect(await store.records?.("carried")).toEqual([]);
    await engine.close();
  });
});
