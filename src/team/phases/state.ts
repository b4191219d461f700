import {
  type AgentJson,
  type ConfidenceJson,
  type ConfidenceReportJson,
  confidenceOf,
  type DecisionJson,
  type OutputJson,
} from "../../core/phase-checkpoint.ts";
import type { Mutable } from "../../core/types.ts";
import { encode } from "../../core/values/codec.ts";
import type { Results } from "../agent.ts";
import type { AgentProgress } from "../progress.ts";
import type { Evaluation } from "./types.ts";

/** An agent in a phase. Its state is plain data here, and base64 in a checkpoint. */
export type PhaseAgent = Mutable<Omit<AgentJson, "agent_type" | "state">> & {
  readonly agent_type: "orchestrator" | "specialist" | "evaluator";
  state: unknown;
};

/** A decision of a known agent. */
export type PhaseDecisionMade = DecisionJson & { readonly agent: string; readonly type: string };

/** An output of a known agent. */
export type PhaseOutput = Required<OutputJson> & { readonly agent: string };

/** Everything that has been said and done in a run. Plain data. */
export interface TeamState {
  agents: Record<string, PhaseAgent>;
  decisions: PhaseDecisionMade[];
  outputs: PhaseOutput[];
  history: ConfidenceReportJson[];
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
  history: ConfidenceReportJson[];
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
export const confidenceSnapshot = ({ agents, history }: TeamState, threshold: number): ConfidenceJson => ({
  ...confidenceOf(agents),
  threshold,
  history,
});
