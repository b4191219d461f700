import { describe, expect, it } from "vitest";
import { useFolders } from "../../../../test/support/folders.ts";
import { createEngine, workflow } from "../../../index.ts";
import { openSqliteStore } from "../../../stores/sqlite/index.ts";

const newFolder = useFolders("archive-records");

const ROW = {
  stock_ticker: "AAPL",
  agent_type: "valuation_agent",
  analysis_id: "550e8400-e29b-41d4-a716-446655440000",
};

const analysis = workflow("analysis", async (ctx) => {
  for (const current_subtask of ["wacc_calculation", "terminal_value"]) {
    await ctx.step(current_subtask, () => current_subtask);
    const row = { ...ROW, current_subtask, working_memory: { current_subtask } };
    await ctx.checkpoint(current_subtask, { record: { table: "agent_checkpoints", row } });
  }
});

describe("archiveRecords", () => {
  it.each(["values", "delete"] as const)(
    "moves the rows of agents to the archive table when their %s go (S0-38)",
    async (kind) => {
      const file = `${newFolder()}/runs.db`;
      const store = await openSqliteStore({ file });
      const onExpiry = kind === "delete" ? ({ onExpiry: "delete" } as const) : {};
      const engine = createEngine({ store, retention: "forever" });
      engine.register(analysis);
      const run = await engine.start(analysis, undefined);
      await run.result();
      await engine.retention.prune({ maxAge: 0, archiveRecords: true, ...onExpiry });
      expect(await store.records?.(run.id)).toEqual([]);
      expect(await archivedIn(store)).toEqual(["wacc_calculation", "terminal_value"]);
      expect(await engine.get(run.id)).toEqual(kind === "delete" ? null : expect.anything());
      await engine.close();
      await store.close();
    },
  );
});

async function archivedIn(store: Awaited<ReturnType<typeof openSqliteStore>>): Promise<unknown[]> {
  let found: unknown[] = [];
  await store
    .transaction?.(
      (sql) => {
        const rows = sql.all(
          "SELECT current_subtask FROM agent_checkpoints_archive ORDER BY checkpoint_time",
        );
        found = (rows as { readonly current_subtask: unknown }[]).map((row) => row.current_subtask);
        throw new Error("only reads");
      },
      () => {
        throw new Error("never");
      },
    )
    .catch(() => undefined);
  return found;
}
