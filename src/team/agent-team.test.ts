import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../test/support/lab.ts";
import type { Workflow } from "../index.ts";
import { type Agent, defineAgent, defineTeam, type HookInfo, type SubtaskCall } from "./index.ts";

const ANALYSIS = "550e8400-e29b-41d4-a716-446655440000";
const INPUT = { analysis_id: ANALYSIS, stock_ticker: "AAPL" };

type Work = (call: SubtaskCall, name: string) => unknown;

/** An agent whose subtasks all do the same. */
const agent = (type: string, names: readonly string[], work: Work, more: Partial<Agent> = {}): Agent =>
  defineAgent({
    type,
    version: "1.0",
    subtasks: names.map((name) => ({
      name,
      deliverable: `${name}_table`,
      target: "PostgreSQL",
      retry: false,
      run: (call: SubtaskCall) => work(call, name),
    })),
    ...more,
  });

const FOUR = ["historical_roi", "ma_review", "mgmt_compensation", "capital_allocation_scoring"];
const asWorkflow = (team: unknown) => team as Workflow<never, unknown>;

describe("a team of agents", () => {
  it("runs each subtask once and returns the deliverables by agent (S0-11, S0-18)", async () => {
    const calls: string[] = [];
    const work: Work = ({ agent: { type, stock_ticker } }, name) => {
      calls.push(`${type} ${name}`);
      return { name, stock_ticker };
    };
    const team = defineTeam({
      name: "team",
      agents: [agent("strategy_analyst", FOUR, work), agent("other", ["a", "b"], work)],
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, INPUT, { id: ANALYSIS }));
    const result = await lab.drive(engine.result(ANALYSIS));
    expect(result).toMatchObject({
      status: "completed",
      stock_ticker: "AAPL",
      progress: { text: "6 of 6 subtasks", percent: 100 },
      agents: {
        strategy_analyst: {
          progress: { done: 4, total: 4, percent: 100, text: "4 of 4 subtasks" },
          results: { ma_review: { name: "ma_review", stock_ticker: "AAPL" } },
        },
      },
    });
    expect(calls).toHaveLength(6);
    expect(new Set(calls).size).toBe(6);
  });

  it("keeps the finished subtask when the next one meets a rate limit (S0-01, S0-04, S0-19)", async () => {
    const calls: string[] = [];
    let isLimited = true;
    const work: Work = (_, name) => {
      calls.push(name);
      if (name === "ma_review" && isLimited) throw Object.assign(new Error("rate limit"), { status: 429 });
      return { name };
    };
    const failures: (HookInfo & { checkpoint: string })[] = [];
    const resumed: HookInfo[] = [];
    const team = defineTeam({
      name: "team",
      agents: [agent("strategy_analyst", FOUR, work), agent("other", ["a", "b"], work)],
      hooks: { onFailure: (info) => failures.push(info), onResume: (info) => resumed.push(info) },
    });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, INPUT, { id: ANALYSIS }));
    const run = await lab.drive(engine.settled(ANALYSIS));
    expect(run).toMatchObject({ status: "failed" });
    expect(run.error).toContain("1 of 2 agents failed: strategy_analyst");
    expect(run.error).toContain("1 of 4 subtasks complete (25 %)");
    // The other agent was not disturbed.
    expect(calls).toEqual(expect.arrayContaining(["a", "b"]));
    expect(failures).toMatchObject([{ subtask: "ma_review", progress: { text: "1 of 4 subtasks" } }]);
    isLimited = false;
    await lab.drive(engine.resume(ANALYSIS));
    expect(await lab.drive(engine.result(ANALYSIS))).toMatchObject({
      agents: { strategy_analyst: { progress: { text: "4 of 4 subtasks" }, retry_count: 1 } },
    });
    expect(calls.filter((name) => name === "historical_roi")).toHaveLength(1);
    expect(calls.filter((name) => name === "ma_review")).toHaveLength(2);
    expect(resumed).toMatchObject([{ subtask: "ma_review", progress: { done: 1, total: 4 } }]);
  });

  it("keeps working memory across a crash, and drops what a failed attempt has written (S0-07, S0-43)", async () => {
    const seen: unknown[] = [];
    const one = defineAgent({
      type: "one",
      version: "1.0",
      memory: { started: true },
      subtasks: [
        {
          name: "first",
          deliverable: "d",
          target: "t",
          retry: { attempts: 2, baseMs: 1 },
          run: ({ memory, attempt }) => {
            memory.set(`attempt ${attempt}`, { list: [attempt] });
            if (attempt === 1) throw new Error("again");
            memory.delete("started");
            return { attempt };
          },
        },
        {
          name: "second",
          deliverable: "d",
          target: "t",
          run: ({ memory, attempt, results }) => {
            if (attempt === 1) return hangs();
            seen.push(memory.dump(), results);
            const before = memory.dump();
            memory.set("more", 1);
            memory.restore(before);
            return { ok: true };
          },
        },
      ],
    });
    const team = defineTeam({ name: "team", agents: [one] });
    const lab = createLab();
    const engine = lab.engine([asWorkflow(team)]);
    await lab.drive(engine.start(team, INPUT, { id: ANALYSIS }));
    await lab.clock.advance(5_000);
    const after = await lab.afterCrash(engine, [asWorkflow(team)], ANALYSIS);
    expect(after.run.status).toBe("completed");
    expect(seen).toEqual([{ "attempt 2": { list: [2] } }, { first: { attempt: 2 } }]);
  });
});
