import { STOCK_AGENTS } from "../../examples/stock-team/subtasks.ts";
import { createEngine, type Workflow } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";
import { defineAgent, defineTeam, type SubtaskCall } from "../../src/team/index.ts";

/** The configuration of a process that works on the analyses. */
export interface TeamConfig {
  readonly store: string;
  /** The address of the witness, which sees every subtask. */
  readonly witness: string;
  /** Ids of the analyses. */
  readonly analyses: readonly string[];
}

const { store: url, witness, analyses } = JSON.parse(process.argv[2] ?? "") as TeamConfig;

async function call({ agent, key, memory, results }: SubtaskCall, subtask: string): Promise<unknown> {
  const { analysis_id, type } = agent;
  const body = JSON.stringify({ analysis_id, type, subtask, key, before: Object.keys(results) });
  const response = await fetch(witness, { method: "POST", body });
  memory.set("last", subtask);
  return response.json();
}

const agents = STOCK_AGENTS.map(({ type, needs = [], subtasks }) =>
  defineAgent({
    type,
    version: "1.0",
    needs,
    subtasks: subtasks.map((subtask) => ({
      ...subtask,
      effect: "keyed" as const,
      retry: false as const,
      run: (given: SubtaskCall) => call(given, subtask.name),
    })),
  }),
);
const late = ["valuation_agent", "risk_analyst"];
const team = defineTeam({
  name: "stock-team",
  agents,
  stages: [
    {
      name: "research",
      agents: agents.map(({ type }) => type).filter((type) => ![...late, "report_writer"].includes(type)),
    },
    { name: "valuation", agents: late },
    { name: "report", agents: ["report_writer"] },
  ],
});
const store = await openStore(url);
const engine = createEngine({
  store,
  workflows: [team as unknown as Workflow<never, unknown>],
  // A process that gets no processor for a second is alive; one that is dead is seen to be dead at once.
  claimMs: 5_000,
  sweepMs: 50,
  recovery: { maxAttempts: 10_000 },
});
for (const id of analyses) await engine.start(team, { analysis_id: id, stock_ticker: "AAPL" }, { id });
const results = await Promise.all(analyses.map((id) => engine.result(id)));
await engine.close();
await store.close();
console.log(JSON.stringify(results));
