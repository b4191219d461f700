import { checkKeys, checkParts, isRecord } from "../core/check-options.ts";
import type { Workflow } from "../core/context.ts";
import type { StateView } from "../core/types.ts";
import { workflow } from "../core/workflow.ts";
import type { Agent } from "./agent.ts";
import { type AgentInput, type AgentResult, type AgentSurroundings, AgentWork } from "./agent-work.ts";
import { type AgentCheckpointState, engineMigrations, MIGRATED } from "./migrate.ts";
import { AgentProgress, type SubtaskDone } from "./progress.ts";

/**
 * The workflow of one agent: a step and a checkpoint for each subtask. Teams make these themselves; use it to run an
 * agent alone.
 *
 * @example
 * ```ts
 * import type { Engine, RunHandle } from "holdfast";
 * import { type Agent, type AgentResult, agentWorkflow } from "holdfast/team";
 *
 * export const runAlone = (engine: Engine, agent: Agent, analysis_id: string): Promise<RunHandle<AgentResult>> =>
 *   engine.start(agentWorkflow(agent), { analysis_id, stock_ticker: "AAPL" });
 * ```
 */
export function agentWorkflow(
  agent: Agent,
  surroundings: AgentSurroundings = {},
): Workflow<AgentInput, AgentResult> {
  checkParts("agent", agent, { type: "text", version: "text", subtasks: "list", migrations: "list" });
  checkKeys(surroundings, ["hooks", "targets"]);
  const read = (view: StateView, version: string) => readState(agent, view, version);
  const migrations = engineMigrations(agent.migrations, read);
  const options = { version: agent.version, migrations, triggers: OWN_MARKS };
  return workflow(agent.type, options, (ctx, input: AgentInput) =>
    new AgentWork(ctx, agent, input, surroundings).work(),
  );
}

/** An agent marks its own checkpoints; only pressure is the engine's to tell. */
const OWN_MARKS = {
  confidence: false,
  errors: false,
  phases: false,
  agents: false,
  evaluations: false,
} as const;

/** The state of an agent's run as a checkpoint that migrations can change. */
function readState(agent: Agent, view: StateView, version: string): AgentCheckpointState {
  const progress = new AgentProgress(agent);
  progress.adopt(view.memory[MIGRATED]);
  const before = view.memory[MIGRATED];
  const { completed_subtasks: known } = isRecord(before) ? before : {};
  progress.completed = Array.isArray(known) ? known.map(String) : [];
  const names = new Set([...agent.subtasks.map(({ name }) => name), ...Object.keys(view.steps)]);
  for (const name of names) {
    const done = view.steps[name];
    const isSubtask = isRecord(done) && "deliverable" in done;
    if (isSubtask && !progress.completed.includes(name)) progress.apply(name, done as unknown as SubtaskDone);
  }
  return {
    completed_subtasks: progress.completed,
    working_memory: Object.fromEntries(progress.memory),
    interim_results: progress.results,
    agent_version: version,
    ...progress.extra,
  };
}
