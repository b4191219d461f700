import type { AgentState } from "../../context.ts";
import type { RunStatus } from "../../types.ts";
import { encode } from "../../values/codec.ts";
import type { Checkpoint, DecisionMade } from "./checkpoint-view.ts";

/**
 * A checkpoint in version 1.0 of the interchange format: plain JSON. Times are ISO 8601; `elapsed_time` is in seconds.
 */
export interface CheckpointJson {
  readonly version: "1.0";
  readonly checkpoint_id: string;
  readonly workflow_id: string;
  readonly timestamp: string;
  readonly phase: string;
  readonly status: "in_progress" | "paused" | "completed" | "failed" | "cancelled";
  readonly agents: Readonly<Record<string, AgentJson>>;
  readonly decisions: readonly DecisionJson[];
  readonly metrics: {
    readonly elapsed_time: number;
    readonly api_calls: number;
    readonly tokens_used: number;
    /** In megabytes; `null` when it wasn't measured. */
    readonly memory_peak: number | null;
  };
}

export interface AgentJson {
  readonly status: string;
  readonly confidence: number | null;
  /** Its last decision. */
  readonly last_decision: string | null;
  /** The step of this checkpoint that holds its result. */
  readonly output_ref: string | null;
  readonly blockers: readonly string[];
  /** Bytes as they are, anything else in the journal's encoding; in base64. */
  readonly state: string | null;
}

export interface DecisionJson {
  readonly timestamp: string;
  readonly agent: string | null;
  readonly type: string | null;
  readonly description: string;
  readonly rationale: string | null;
  readonly confidence: number | null;
  readonly alternatives_considered: readonly string[];
}

/**
 * Converts a checkpoint to version 1.0 of the interchange format, for programs that read it.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
import { checkpointToJson } from "holdfast/manage";
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
  const { id, run, at, phase, status, agents, decisions, metrics, usage } = checkpoint;
  return {
    version: "1.0",
    checkpoint_id: id,
    workflow_id: run,
    timestamp: iso(at),
    phase,
    status: STATUS[status],
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, state]) => [name, agentJson(checkpoint, name, state)]),
    ),
    decisions: decisions.map(decisionJson),
    metrics: {
      elapsed_time: metrics.elapsedMs / 1_000,
      api_calls: metrics.calls,
      tokens_used: usage.tokens,
      memory_peak: measured.memoryPeakMb ?? null,
    },
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
  const { status, confidence = null, blockers = [], state } = agent;
  const last = decisions.findLast((decision) => decision.agent === name);
  const place = name in steps ? "steps" : name in loops ? "loops" : undefined;
  return {
    status,
    confidence,
    last_decision: last?.description ?? null,
    output_ref: place === undefined ? null : `${id}#/${place}/${escaped(name)}`,
    blockers,
    state: state === undefined ? null : stateText(state),
  };
}

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

/** An agent's state in a checkpoint: bytes as they are, anything else in the journal's encoding; in base64. */
export function stateText(state: unknown): string {
  const bytes = state instanceof Uint8Array ? state : new TextEncoder().encode(encode(state));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
