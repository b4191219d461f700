import { appendFileSync } from "node:fs";
import { type Agent, defineAgent, type SubtaskCall } from "holdfast/team";
import { STOCK_AGENTS, type SubtaskSpec } from "./subtasks.ts";

/** Stands for Koyfin, Bloomberg and a model: every call costs, so every call is written down. */
function paidCall(agent: string, subtask: string): void {
  appendFileSync("calls.log", `${agent} ${subtask}\n`);
}

/** A number that depends only on the names, so that the example says the same every time. */
function figure(text: string): number {
  let sum = 7;
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) % 1_000;
  return sum;
}

function work({ agent, memory, results, team, attempt, report }: SubtaskCall, subtask: SubtaskSpec): unknown {
  paidCall(agent.type, subtask.name);
  // Crash it here.
  if (subtask.name === "ma_review" && attempt === 1 && agent.stock_ticker === "CRASH")
    process.kill(process.pid, "SIGKILL");
  const calls = (memory.get<number>("calls") ?? 0) + 1;
  memory.set("calls", calls);
  report({ confidence: 0.8 });
  return {
    ticker: agent.stock_ticker,
    [subtask.deliverable]: figure(`${agent.stock_ticker} ${subtask.name}`),
    uses: [...Object.keys(results), ...Object.keys(team)],
  };
}

export const agents: readonly Agent[] = STOCK_AGENTS.map(({ type, needs = [], subtasks }) =>
  defineAgent({
    type,
    version: "1.0",
    needs,
    config: { data_source: "offline" },
    subtasks: subtasks.map((subtask) => ({
      ...subtask,
      effect: "keyed" as const,
      run: (call: SubtaskCall) => work(call, subtask),
    })),
  }),
);
