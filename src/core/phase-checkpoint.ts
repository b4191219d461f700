import { encode } from "./values/codec.ts";

/**
 * The checkpoint system design's own JSON, version 1.0: what an export of a checkpoint holds, and what a team with
 * phases writes. Times are ISO 8601.
 */
export interface CheckpointJson {
  readonly version: "1.0";
  readonly checkpoint_id: string;
  readonly workflow_id: string;
  readonly timestamp: string;
  /** The number of the phase; 1 for the first. */
  readonly phase: number;
  readonly status: "in_progress" | "paused" | "completed" | "failed" | "cancelled";
  /** False when the run has ended for good. */
  readonly resumable: boolean;
  readonly agents: Readonly<Record<string, AgentJson>>;
  readonly decisions: readonly DecisionJson[];
  readonly outputs: readonly OutputJson[];
  readonly metrics: MetricsJson;
  readonly confidence: ConfidenceJson;
  /** Where in the run it is. */
  readonly state: { readonly phase: string; readonly iteration?: number };
}

export interface AgentJson {
  /** Its role, such as `specialist`. */
  readonly agent_type: string | null;
  readonly status: string;
  /** From 0 to 1. */
  readonly confidence: number | null;
  /** The type of its last decision. */
  readonly last_decision: string | null;
  /** Where its output is. */
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

/** Where a result is. */
export interface OutputJson {
  readonly agent: string | null;
  readonly subtask: string;
  readonly ref: string;
  readonly phase?: number;
  readonly deliverable?: string;
}

export interface MetricsJson {
  /** Seconds. */
  readonly elapsed_time: number;
  readonly api_calls: number;
  readonly tokens_used: number;
  /** In megabytes; `null` when it wasn't measured. */
  readonly memory_peak: number | null;
}

/** The confidence of the agents at one time. */
export interface ConfidenceJson {
  /** Their mean. */
  readonly overall: number | null;
  readonly agents: Readonly<Record<string, number>>;
  readonly threshold?: number;
  /** What was reported, in order. */
  readonly history?: readonly ConfidenceReportJson[];
}

export interface ConfidenceReportJson {
  readonly timestamp: string;
  readonly phase: number;
  readonly agent: string;
  readonly subtask: string;
  readonly confidence: number;
}

/** The confidence of those agents that have reported one. */
export function confidenceOf(
  agents: Readonly<Record<string, { readonly confidence?: number | null }>>,
): Pick<ConfidenceJson, "overall" | "agents"> {
  const known = Object.entries(agents).flatMap(([name, { confidence }]) =>
    typeof confidence === "number" ? ([[name, confidence]] as const) : [],
  );
  const sum = known.reduce((total, [, confidence]) => total + confidence, 0);
  const overall = known.length === 0 ? null : Math.round((1_000 * sum) / known.length) / 1_000;
  return { overall, agents: Object.fromEntries(known) };
}

/** An agent's state in a checkpoint: bytes as they are, anything else in the journal's encoding; in base64. */
export function stateText(state: unknown): string {
  const bytes = state instanceof Uint8Array ? state : new TextEncoder().encode(encode(state));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
