import { checkKeys } from "../../check-options.ts";
import type { AgentState } from "../../context.ts";
import {
  type AgentJson,
  type CheckpointJson,
  confidenceOf,
  type DecisionJson,
  type OutputJson,
  stateText,
} from "../../phase-checkpoint.ts";
import { type RunStatus, terminal } from "../../types.ts";
import type { Checkpoint, DecisionMade } from "./checkpoint-view.ts";
import { checkCheckpoint } from "./checkpoint-view.ts";

/**
 * Converts a checkpoint to version 1.0 of the interchange format, for programs that read it.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { checkpointToJson } from "holdfast/manage";
 *
 * export async function handOver(engine: Engine, runId: string): Promise<string> {
 *   return JSON.stringify(checkpointToJson(await engine.checkpoints.show(runId)));
 * }
 * ```
 */
export function checkpointToJson(
  checkpoint: Checkpoint,
  measured: { readonly memoryPeakMb?: number } = {},
): CheckpointJson {
  checkCheckpoint(checkpoint);
  checkKeys(measured, ["memoryPeakMb"]);
  const { id, run, at, phase, phaseNumber, status, agents, decisions, metrics, usage } = checkpoint;
  return {
    version: "1.0",
    checkpoint_id: id,
    workflow_id: run,
    timestamp: iso(at),
    phase: phaseNumber,
    status: STATUS[status],
    resumable: !terminal(status),
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, state]) => [name, agentJson(checkpoint, name, state)]),
    ),
    decisions: decisions.map(decisionJson),
    outputs: outputsOf(checkpoint),
    metrics: {
      elapsed_time: metrics.elapsedMs / 1_000,
      api_calls: metrics.calls,
      tokens_used: usage.tokens,
      memory_peak: measured.memoryPeakMb ?? null,
    },
    confidence: confidenceOf(agents),
    state: { phase },
  };
}

const STATUS: Readonly<Record<RunStatus, CheckpointJson["status"]>> = {
  queued: "in_progress",
  running: "in_progress",
  waiting: "in_progress",
  paused: "paused",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

function agentJson({ id, decisions, steps, loops }: Checkpoint, name: string, agent: AgentState): AgentJson {
  const { type = null, status, confidence = null, blockers = [], state } = agent;
  const last = decisions.findLast((decision) => decision.agent === name);
  const place = name in steps ? "steps" : name in loops ? "loops" : undefined;
  return {
    agent_type: type,
    status,
    confidence,
    last_decision: last?.type ?? last?.description ?? null,
    output_ref: place === undefined ? null : `${id}#/${place}/${escaped(name)}`,
    blockers,
    state: state === undefined ? null : stateText(state),
  };
}

/** The results of finished steps, by reference. */
const outputsOf = ({ id, steps }: Checkpoint): OutputJson[] =>
  Object.keys(steps).map((step) => ({ agent: null, subtask: step, ref: `${id}#/steps/${escaped(step)}` }));

const decisionJson = (decision: DecisionMade): DecisionJson => ({
  timestamp: iso(decision.at),
  agent: decision.agent ?? null,
  type: decision.type ?? null,
  description: decision.description,
  rationale: decision.rationale ?? null,
  confidence: decision.confidence ?? null,
  alternatives_considered: decision.alternatives ?? [],
});

const iso = (at: number): string => new Date(at).toISOString();

/** Escapes a part of a JSON Pointer. */
const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");
