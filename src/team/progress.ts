import { isRecord } from "../core/check-options.ts";
import { twoDecimals } from "../core/records.ts";
import type { Agent, AgentReport, Results } from "./agent.ts";
import { applyDelta, type MemoryDelta } from "./memory.ts";
import type { AgentCheckpointState } from "./migrate.ts";

/** What the step of a subtask returns: everything that the subtask changed, so that it is saved at once or not at all. */
export interface SubtaskDone {
  readonly deliverable: unknown;
  readonly memory?: MemoryDelta;
  readonly report?: AgentReport;
}

export interface ConfidencePoint {
  readonly subtask: string;
  readonly confidence: number;
}

/** How far somebody is, as people read it. */
export interface ProgressText {
  readonly done: number;
  readonly total: number;
  /** With two decimals, as in `progress_pct`. */
  readonly percent: number;
  /** `3 of 5 subtasks`. */
  readonly text: string;
}

export function progressText(done: number, total: number, noun = "subtasks"): ProgressText {
  const percent = total === 0 ? 0 : twoDecimals((100 * done) / total);
  return { done, total, percent, text: `${done} of ${total} ${noun}` };
}

const OWN: readonly string[] = [
  "completed_subtasks",
  "working_memory",
  "interim_results",
  "agent_version",
] satisfies (keyof AgentCheckpointState)[];

/** An agent's state. It is rebuilt from the results of its subtasks whenever the run is taken up again. */
export class AgentProgress {
  readonly agent: Agent;
  completed: string[] = [];
  results: Results = {};
  memory: Map<string, unknown>;
  confidence: number | null = null;
  history: ConfidencePoint[] = [];
  blockers: readonly string[] = [];
  outputs: { readonly subtask: string; readonly ref: string }[] = [];
  /** Failed or interrupted attempts. */
  retries = 0;
  /** Fields that a migration has added to the checkpoint. */
  extra: Results = {};
  #adopted: string | undefined;

  constructor(agent: Agent) {
    this.agent = agent;
    this.memory = new Map(Object.entries(agent.memory));
  }

  get pending(): string[] {
    return this.agent.subtasks.map(({ name }) => name).filter((name) => !this.completed.includes(name));
  }

  get text(): ProgressText {
    return progressText(this.completed.length, this.agent.subtasks.length);
  }

  apply(subtask: string, { deliverable, memory, report = {} }: SubtaskDone): void {
    this.completed.push(subtask);
    this.results[subtask] = deliverable;
    applyDelta(this.memory, memory);
    const { confidence, blockers, output_ref } = report;
    if (confidence !== undefined) {
      this.confidence = confidence;
      this.history.push({ subtask, confidence });
    }
    if (blockers) this.blockers = blockers;
    if (output_ref !== undefined) this.outputs.push({ subtask, ref: output_ref });
  }

  /** Goes on from what a migration returned. */
  adopt(migrated: unknown): void {
    if (!isRecord(migrated)) return;
    const { agent_version, working_memory, interim_results } = migrated;
    if (agent_version === this.#adopted) return;
    this.#adopted = String(agent_version);
    if (isRecord(working_memory)) this.memory = new Map(Object.entries(working_memory));
    if (isRecord(interim_results)) this.results = { ...interim_results };
    this.extra = Object.fromEntries(Object.entries(migrated).filter(([key]) => !OWN.includes(key)));
  }

  /** A copy, to come back to. */
  snapshot(): AgentProgress {
    const copy = new AgentProgress(this.agent);
    Object.assign(copy, {
      completed: [...this.completed],
      results: { ...this.results },
      memory: new Map(this.memory),
      confidence: this.confidence,
      history: [...this.history],
      blockers: this.blockers,
      outputs: [...this.outputs],
      retries: this.retries,
      extra: this.extra,
    });
    return copy;
  }
}
