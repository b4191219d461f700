import { encode } from "../../core/values/codec.ts";
import type { Results } from "../agent.ts";
import type { AgentProgress, ConfidencePoint } from "../progress.ts";
import type { Evaluation } from "./types.ts";

/** An agent in a checkpoint of a phase. */
export interface PhaseAgent {
  agent_type: "orchestrator" | "specialist" | "evaluator";
  status: string;
  confidence: number | null;
  blockers: readonly string[];
  /** The type of its last decision. */
  last_decision: string | null;
  output_ref: string | null;
  /** What it needs to go on, as plain data. */
  state: unknown;
}

/** A decision in a checkpoint of a phase. */
export interface PhaseDecisionMade {
  readonly timestamp: string;
  readonly agent: string;
  readonly type: string;
  readonly description: string;
  readonly rationale: string | null;
  readonly confidence: number | null;
  readonly alternatives_considered: readonly string[];
}

/** Where a result is. */
export interface PhaseOutput {
  readonly phase: number;
  readonly agent: string;
  readonly subtask: string;
  readonly deliverable: string;
  readonly ref: string;
}

/** A confidence that an agent has reported, and when. */
export interface ConfidenceReport extends ConfidencePoint {
  readonly timestamp: string;
  readonly phase: number;
  readonly agent: string;
}

/** Everything that has been said and done in a run. Plain data. */
export interface TeamState {
  agents: Record<string, PhaseAgent>;
  decisions: PhaseDecisionMade[];
  outputs: PhaseOutput[];
  history: ConfidenceReport[];
  /** By phase, by specialist, by subtask. */
  results: Record<string, Record<string, Results>>;
  evaluations: Record<string, Evaluation[]>;
}

export const newState = (): TeamState => ({
  agents: {},
  decisions: [],
  outputs: [],
  history: [],
  results: {},
  evaluations: {},
});

/** The parts that one specialist has added. */
export interface SpecialistState {
  agent: PhaseAgent;
  decisions: PhaseDecisionMade[];
  outputs: PhaseOutput[];
  history: ConfidenceReport[];
  results: Results;
  completed: boolean;
}

/** Adds what the list doesn't have yet, in the order of time. */
export function merged<T extends { readonly timestamp: string }>(
  list: readonly T[],
  more: readonly T[],
): T[] {
  const known = new Set(list.map((one) => encode(one)));
  const all = [...list, ...more.filter((one) => !known.has(encode(one)))];
  return all.sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}

/** A copy that owes nothing to a loop's draft. */
export function plain<T>(value: T): T {
  if (Array.isArray(value)) return value.map(plain) as T;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || value instanceof Map || value instanceof Set || value instanceof Uint8Array)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)])) as T;
}

/** The internal state of a specialist: progress, partial outputs, memory and the history of its confidence. */
export function internalState({
  completed,
  pending,
  results,
  memory,
  history,
  retries,
}: AgentProgress): unknown {
  return {
    completed_subtasks: [...completed],
    pending_subtasks: pending,
    interim_results: { ...results },
    working_memory: Object.fromEntries(memory),
    confidence_history: [...history],
    retry_count: retries,
  };
}

/** The confidence of a run: of each agent, their mean, and how it came about. */
export function confidenceSnapshot({ agents, history }: TeamState, threshold: number) {
  const known = Object.entries(agents).flatMap(([name, { confidence }]) =>
    confidence === null ? [] : ([[name, confidence]] as const),
  );
  const sum = known.reduce((total, [, confidence]) => total + confidence, 0);
  return {
    overall: known.length === 0 ? null : Math.round((1_000 * sum) / known.length) / 1_000,
    threshold,
    agents: Object.fromEntries(known),
    history,
  };
}
