import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { run } from "../../../test/support/retention.ts";
import { type Context, type HoldfastError, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import type { CheckpointRecord } from "../records.ts";
import type { Append, Store } from "../store/contract.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";

const agentRow = {
  stock_ticker: "AAPL",
  agent_type: "financial_analyst",
  analysis_id: ANALYSIS,
  progress_pct: 60,
  current_subtask: "red_flag_detection",
  completed_subtasks: ["10k_parsing", "ratio_calculation", "peer_comparison"],
  pending_subtasks: ["red_flag_detection"],
  working_memory: { filings: ["10-K 2025"] },
  interim_results: { ratios: { pe: 31.2 } },
  agent_config: { model: "large" },
  agent_version: "1.0",
} as const;

const record: CheckpointRecord = { table: "agent_checkpoints", row: agentRow };

const marks = (body: (ctx: Context) => Promise<unknown>) => workflow("marks", (ctx) => body(ctx));

/** A store that lets a test see each append. */
function watched(store: Store): { readonly store: Store; readonly appends: Append[] } {
  const appends: Append[] = [];
  const append: Store["append"] = (batch) => {
    appends.push(...batch);
    return store.append(batch);
  };
  return { store: { ...store, append }, appends };
}

describe("a checkpoint with a record", () => {
  it("writes the row in the append of its event, which holds the same values (S0-24)", async () => {
    const { store, appends } = watched(createMemoryStore({ clock: createFakeClock() }));
    const lab = createLab(store);
    const flow = marks(async (ctx) => {
      await ctx.step("parse", () => 1);
      await ctx.checkpoint("peer_comparison", { trigger: "phase_completed", record });
    });
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a");
    const [kept, ...others] = (await store.records?.("a")) ?? [];
    expect(others).toEqual([]);
    const carrier = appends.filter(({ records }) => records);
    expect(carrier).toHaveLength(1);
    const [entry] = carrier[0]?.entries ?? [];
    expect(entry?.head).toContain('"record":"agent_checkpoints"');
    expect(kept?.seq).toBeGreaterThanOrEqual(entry?.seq ?? Infinity);
    expect(kept?.row).toMatchObject({ ...agentRow, retry_count: 0, failure_reason: null });
    expect(kept?.row["checkpoint_time"]).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(entry?.data).toContain(JSON.stringify(agentRow.interim_results));
  });

  it("isn't written again when the run is replayed", async () => {
    const lab = createLab();
    const flow = marks(async (ctx) => {
      await ctx.checkpoint("one", { record });
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a");
    await lab.crash(engine);
    const next = lab.engine([flow]);
    await lab.drive(next.answer("a", "ok", { choice: "yes" }));
    await lab.drive(next.result("a"));
    expect(await lab.store.records?.("a")).toHaveLength(1);
  });

  it("keeps only the event in a store without such tables", async () => {
    const inner = createMemoryStore({ clock: createFakeClock() });
    const { store, appends } = watched({
      ...inner,
      capabilities: { durability: "none", transactions: false },
    });
    const lab = createLab(store);
    const flow = marks((ctx) => ctx.checkpoint("one", { record }));
    await run(lab, lab.engine([flow]), flow, "a");
    expect(appends.filter(({ records }) => records)).toEqual([]);
    expect(appends.some(({ entries }) => entries[0]?.head.includes('"record"'))).toBe(true);
  });

  it("loses its row together with its values", async () => {
    const lab = createLab();
    const flow = marks((ctx) => ctx.checkpoint("one", { record }));
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a");
    expect(await lab.store.records?.("a")).toHaveLength(1);
    await lab.drive(engine.retention.prune({ maxAge: 0 }));
    expect(await lab.store.records?.("a")).toEqual([]);
  });

  it("refuses what a column can't hold, on every store alike, and writes nothing (S0-24, S2-11)", async () => {
    const bad: readonly [object, string][] = [
      [{ table: "agent_checkpoints", row: { ...agentRow, stock_ticker: "LONGER THAN TEN" } }, "stock_ticker"],
      [{ table: "agent_checkpoints", row: { ...agentRow, agent_type: "x".repeat(51) } }, "agent_type"],
      [{ table: "agent_checkpoints", row: { ...agentRow, analysis_id: "a-1" } }, "analysis_id"],
      [{ table: "agent_checkpoints", row: { ...agentRow, progress_pct: 101 } }, "progress_pct"],
      [{ table: "agent_checkpoints", row: { ...agentRow, progress_pct: Number.NaN } }, "progress_pct"],
      [
        { table: "agent_checkpoints", row: { ...agentRow, current_subtask: "x".repeat(101) } },
        "current_subtask",
      ],
      [
        { table: "agent_checkpoints", row: { ...agentRow, pending_subtasks: ["ok", ""] } },
        "pending_subtasks",
      ],
      [{ table: "agent_checkpoints", row: { ...agentRow, agent_version: "x".repeat(21) } }, "agent_version"],
      [{ table: "agent_checkpoints", row: { ...agentRow, retry_count: -1 } }, "retry_count"],
      [{ table: "agent_checkpoints", row: { ...agentRow, checkpoint_time: "yesterday" } }, "checkpoint_time"],
      [{ table: "agent_checkpoints", row: { ...agentRow, stock_tiker: "A" } }, "stock_ticker"],
      [
        { table: "workflow_checkpoints", row: { id: "c", workflow_id: "w", layer_index: 1, state: {} } },
        "dag_structure",
      ],
      [{ table: "other_checkpoints", row: {} }, "table"],
    ];
    for (const [value, column] of bad) {
      const lab = createLab();
      const given = value as CheckpointRecord;
      const flow = marks((ctx) =>
        ctx.checkpoint("one", { record: given }).catch((error: HoldfastError) => error),
      );
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "a" }));
      const refused = await lab.drive(engine.result("a"));
      expect(refused, column).toMatchObject({ code: "HF-3070", message: expect.stringContaining(column) });
      expect(await lab.store.records?.("a"), column).toEqual([]);
    }
  });
});
