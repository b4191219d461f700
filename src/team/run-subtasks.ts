import type { Context, StepCall } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { platform } from "../core/platform.ts";
import type { UsageReport } from "../core/usage.ts";
import type { Agent, AgentIdentity, AgentReport, Results, Subtask } from "./agent.ts";
import { MemoryDraft } from "./memory.ts";
import { MIGRATED } from "./migrate.ts";
import type { AgentProgress, SubtaskDone } from "./progress.ts";

/** What an agent works on, and what happens between its subtasks. */
export interface Job {
  readonly identity: AgentIdentity;
  readonly input: unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly team: Readonly<Record<string, Results>>;
  /** The name of a subtask's step. */
  stepName(subtask: string): string;
  /** Called before the first subtask that this process works on itself. */
  begins?(subtask: Subtask): Promise<void>;
  /** Called when a subtask has ended and its deliverable counts. */
  ended(subtask: Subtask, done: SubtaskDone): Promise<void>;
  /** Called when a subtask has failed for good. */
  failed(subtask: Subtask, error: unknown): Promise<void>;
}

/** Runs the pending subtasks, one step each, and rebuilds the agent's state from those that are done. */
export async function runSubtasks(ctx: Context, progress: AgentProgress, job: Job): Promise<void> {
  let hasBegun = false;
  for (const subtask of progress.agent.subtasks) {
    if (progress.completed.includes(subtask.name)) continue;
    const name = job.stepName(subtask.name);
    if (!hasBegun && ctx.recorded(name)?.status !== "completed") {
      hasBegun = true;
      await job.begins?.(subtask);
    }
    let done: SubtaskDone;
    try {
      done = await ctx.step(name, (call) => perform(ctx, progress, subtask, job, call), optionsOf(subtask));
    } catch (error) {
      progress.retries += (ctx.recorded(name)?.attempts ?? 1) - 1;
      await job.failed(subtask, error);
      throw error;
    }
    progress.adopt(ctx.memory.get(MIGRATED));
    progress.retries += (ctx.recorded(name)?.attempts ?? 1) - 1;
    progress.apply(subtask.name, done);
    await job.ended(subtask, done);
  }
}

function optionsOf({ effect, retry, timeoutMs, keyWindowMs }: Subtask) {
  return {
    ...(effect === undefined ? {} : { effect }),
    ...(retry === undefined ? {} : { retry }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(keyWindowMs === undefined ? {} : { keyWindowMs }),
  };
}

async function perform(
  ctx: Context,
  progress: AgentProgress,
  subtask: Subtask,
  job: Job,
  { key, attempt, signal }: StepCall,
): Promise<SubtaskDone> {
  const { agent } = progress;
  progress.adopt(ctx.memory.get(MIGRATED));
  const memory = new MemoryDraft(progress.memory);
  let said: AgentReport = {};
  const deliverable = await subtask.run({
    memory,
    results: platform().clone(progress.results),
    config: job.config,
    input: job.input,
    agent: job.identity,
    team: job.team,
    key,
    attempt,
    signal,
    ctx,
    report: (report) => {
      said = { ...said, ...checkReport(agent, report) };
    },
    usage: (usage: UsageReport) => ctx.usage(usage),
  });
  const isMissing = deliverable === undefined || deliverable === null;
  if (isMissing || subtask.isComplete?.(deliverable) === false) {
    const detail = { subtask: subtask.name, agent: agent.type, deliverable: subtask.deliverable };
    throw new HoldfastError("HF-4522", detail);
  }
  const delta = memory.delta();
  return {
    deliverable,
    ...(delta ? { memory: delta } : {}),
    ...(Object.keys(said).length > 0 ? { report: said } : {}),
  };
}

function checkReport({ type }: Agent, report: AgentReport): AgentReport {
  if (report.confidence !== undefined) checkConfidence(type, report.confidence);
  const { blockers, output_ref } = report;
  const isText = (one: unknown): boolean => typeof one === "string" && one !== "";
  if (blockers !== undefined && !(Array.isArray(blockers) && blockers.every(isText)))
    throw badReport(type, "its blockers must be a list of texts");
  if (output_ref !== undefined && !isText(output_ref)) throw badReport(type, "its output_ref must be a text");
  return report;
}

const badReport = (agent: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4534", { agent, problem, why: "A report is saved with the subtask it belongs to." });

/** Throws HF-4529 unless it is a number from 0 to 1. */
export function checkConfidence(agent: string, value: unknown): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw new HoldfastError("HF-4529", { agent, value: String(value) });
}
