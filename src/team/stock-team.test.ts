import { describe, expect, it } from "vitest";
import { STOCK_AGENTS } from "../../examples/stock-team/subtasks.ts";
import { createLab } from "../../test/support/lab.ts";
import type { StoredRecord } from "../core/records.ts";
import type { Workflow } from "../index.ts";
import { Coordinator, type Delivery, defineAgent, defineTeam, type SubtaskCall } from "./index.ts";

const ID = "550e8400-e29b-41d4-a716-446655440000";
const asWorkflow = (team: unknown) => team as Workflow<never, unknown>;

const agents = (run: (call: SubtaskCall, name: string) => unknown) =>
  STOCK_AGENTS.map(({ type, subtasks }) =>
    defineAgent({
      type,
      version: "1.0",
      config: { data_source: "offline" },
      subtasks: subtasks.map((subtask) => ({
        ...subtask,
        retry: false as const,
        run: (call: SubtaskCall) => run(call, subtask.name),
      })),
    }),
  );

describe("the 13 stock agents", () => {
  it("have the subtasks, deliverables and targets of the decision record (S0-23, S0-32, S0-33, S0-34)", () => {
    const of = (type: string) =>
      STOCK_AGENTS.find((agent) => agent.type === type)?.subtasks.map(
        ({ name, deliverable, target }) => `${name} → ${deliverable} (${target})`,
      );
    expect(STOCK_AGENTS).toHaveLength(13);
    expect(of("financial_analyst")).toEqual([
      "10k_parsing → financial_statements_json (PostgreSQL)",
      "ratio_calculation → ratio_table (PostgreSQL)",
      "peer_comparison → comparison_matrix (Redis L2)",
      "red_flag_detection → findings (Neo4j)",
    ]);
    expect(of("strategy_analyst")).toEqual([
      "historical_roi → roi_timeseries (PostgreSQL)",
      "ma_review → ma_findings (Neo4j)",
      "mgmt_compensation → compensation_analysis (Neo4j)",
      "capital_allocation_scoring → final_score (Neo4j + message)",
    ]);
    expect(of("valuation_agent")).toEqual([
      "dcf_assumptions → assumption_table (PostgreSQL)",
      "cash_flow_projection → fcf_model (PostgreSQL)",
      "wacc_calculation → wacc_result (PostgreSQL)",
      "terminal_value → terminal_value_calc (PostgreSQL)",
      "sensitivity_analysis → scenario_table (Neo4j)",
    ]);
    for (const { subtasks } of STOCK_AGENTS) expect([4, 5]).toContain(subtasks.length);
  });

  it("take at most 5 KB a checkpoint, journal and record together, so 25 MB a batch (S0-21)", async () => {
    const findings = "The ratio of debt to equity has fallen from 1.9 to 1.4 in five years. ";
    const team = defineTeam({
      name: "stock-team",
      agents: agents((_, name) => ({ name, figures: [1.2, 3.4, 5.6], text: findings.repeat(3) })),
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    const coordinator = new Coordinator(engine, team);
    await lab.drive(coordinator.start(ID, { stock_ticker: "AAPL" }));
    await lab.drive(engine.result(ID));
    const runs = [ID, ...(await coordinator.agents(ID)).map(({ run }) => run)];
    let bytes = 0;
    const records: StoredRecord[] = [];
    for (const run of runs) {
      bytes += JSON.stringify(await lab.store.entries(run, { from: 1, limit: 1_000 })).length;
      const rows = (await lab.store.records?.(run)) ?? [];
      records.push(...rows);
      bytes += JSON.stringify(rows).length;
    }
    expect(records).toHaveLength(54);
    for (const { row } of records) expect(JSON.stringify(row).length).toBeLessThanOrEqual(5_000);
    const each = bytes / records.length;
    expect(each).toBeLessThanOrEqual(5_000);
    expect(each * 5 * 5 * 200).toBeLessThanOrEqual(25_000_000);
  });

  it("stop at the manager's gate with their progress, and keep their memory overnight (S0-03, S0-16)", async () => {
    const seen: unknown[] = [];
    const late = ["report_writer"];
    const all = agents(({ memory, team: _ }, name) => {
      const before = memory.get<number>("subtasks") ?? 0;
      memory.set("subtasks", before + 1);
      if (name === "memo") seen.push(memory.dump());
      return { name };
    });
    const team = defineTeam({
      name: "stock-team",
      agents: all,
      stages: [
        {
          name: "research",
          agents: all.map(({ type }) => type).filter((type) => !late.includes(type)),
          gate: { name: "pm_gate" },
          pauseMs: 60_000,
        },
        { name: "report", agents: late },
      ],
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    await lab.drive(engine.settled(ID));
    const [gate] = await engine.gates(ID);
    expect(gate?.show).toMatchObject({
      stage: "research",
      progress: "50 of 54 subtasks",
      agents: {
        valuation_agent: "5 of 5 subtasks (100 %)",
        report_writer: "0 of 4 subtasks (0 %)",
      },
    });
    await lab.drive(engine.pause(ID, { actor: "pm", reason: "going home" }));
    await lab.crash(engine);
    await lab.clock.advance(30_000);
    const next = lab.engine([asWorkflow(team)]);
    await lab.drive(next.resume(ID));
    await lab.drive(next.settled(ID));
    await lab.drive(next.answer(ID, "pm_gate", { choice: "approve", actor: "pm" }));
    expect(await lab.drive(next.result(ID))).toMatchObject({ progress: { text: "54 of 54 subtasks" } });
    expect(seen).toEqual([{ subtasks: 4 }]);
  });

  it("end early when the manager says no", async () => {
    const all = agents(() => 1).slice(0, 2);
    const [first, second] = all.map(({ type }) => type);
    const team = defineTeam({
      name: "stock-team",
      agents: all,
      stages: [
        { name: "one", agents: [first as string], gate: true },
        { name: "two", agents: [second as string] },
      ],
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    await lab.drive(engine.settled(ID));
    await lab.drive(engine.answer(ID, "one gate", { choice: "reject", actor: "pm" }));
    expect(await lab.drive(engine.result(ID))).toMatchObject({
      status: "rejected",
      progress: { text: "4 of 8 subtasks" },
    });
  });

  it("call the hook after each subtask when its checkpoint is durable, and land deliverables once (S0-32, S0-42)", async () => {
    const told: string[] = [];
    const landed: Delivery[] = [];
    const lab = createLab();
    const team = defineTeam({
      name: "stock-team",
      agents: agents(({ agent }, name) => ({ [agent.stock_ticker]: name })).slice(1, 2),
      hooks: {
        afterSubtask: async ({ agent, subtask, progress }) => {
          const rows = (await lab.store.records?.(agent.id)) ?? [];
          told.push(`${subtask}: ${progress.text}, ${rows.length} rows`);
        },
      },
      targets: { Neo4j: (delivery) => landed.push(delivery) },
    });
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
    await lab.drive(engine.result(ID));
    expect(told).toEqual([
      "historical_roi: 1 of 4 subtasks, 1 rows",
      "ma_review: 2 of 4 subtasks, 2 rows",
      "mgmt_compensation: 3 of 4 subtasks, 3 rows",
      "capital_allocation_scoring: 4 of 4 subtasks, 4 rows",
    ]);
    expect(landed).toMatchObject([
      { subtask: "ma_review", deliverable: "ma_findings", target: "Neo4j", value: { AAPL: "ma_review" } },
      { subtask: "mgmt_compensation", deliverable: "compensation_analysis" },
    ]);
    expect(landed[0]?.key).not.toBe(landed[1]?.key);
  });

  it.each([
    ["stop", 1, "failed", ["financial_analyst"]],
    ["accept", 1, "completed", ["financial_analyst", "strategy_analyst", "valuation_agent"]],
    ["finish-others", 2, "failed", ["financial_analyst", "strategy_analyst", "valuation_agent"]],
  ] as const)(
    "with onAgentFailure %s and %i at a time",
    async (onAgentFailure, concurrency, status, begun) => {
      const began = new Set<string>();
      const team = defineTeam({
        name: "stock-team",
        onAgentFailure,
        concurrency,
        agents: agents(({ agent }) => {
          began.add(agent.type);
          if (agent.type === "financial_analyst") throw new Error("no data");
          return 1;
        }).slice(0, 3),
      });
      const lab = createLab();
      const engine = lab.engine([asWorkflow(team)]);
      await lab.drive(engine.start(team, { stock_ticker: "AAPL" }, { id: ID }));
      expect((await lab.drive(engine.settled(ID))).status).toBe(status);
      expect([...began]).toEqual(begun);
      if (status === "completed")
        expect(await engine.result(ID)).toMatchObject({
          failed: { financial_analyst: expect.stringContaining("stopped at 10k_parsing") as string },
        });
    },
  );
});
