import { checkWhole } from "../../check-options.ts";
import { StepLog } from "../../journal/step-log.ts";
import type { Store } from "../../store/contract.ts";
import type { Mutable } from "../../types.ts";
import { isWithin, type Period, type ReportQuery, readPeriod, runsIn } from "./period.ts";
import { journalOf } from "./stories.ts";

export interface StepQuery extends ReportQuery {
  /** The most runs to look at, newest first. Default 500. */
  readonly runs?: number;
}

/** A step of a workflow in all runs that were looked at. Steps that differ only in their index count as one. */
export interface StepFigures {
  readonly workflow: string;
  readonly step: string;
  /** How often it was asked for, and how often it was called for that. */
  readonly steps: number;
  readonly attempts: number;
  /** Attempts that failed, steps that failed for good, and steps whose outcome is unknown. */
  readonly failedAttempts: number;
  readonly failed: number;
  readonly inDoubt: number;
  /** The number of attempts that half of the steps and 95 % of them needed at most. */
  readonly attemptsP50: number;
  readonly attemptsP95: number;
}

export interface StepReport extends Period {
  /** The one with the most failed attempts first. */
  readonly steps: readonly StepFigures[];
  readonly runs: number;
  /** True when there are more runs than were looked at. */
  readonly more: boolean;
}

const RUNS = 500;
const MOST_RUNS = 10_000;

type Draft = Mutable<Omit<StepFigures, "attemptsP50" | "attemptsP95">> & { readonly counts: number[] };

/** Calls of the period, by workflow and step. The journals of its runs are read, so their number is limited. */
export async function stepReport(store: Store, query: StepQuery): Promise<StepReport> {
  const { runs: most = RUNS, ...rest } = query;
  checkWhole("runs", most, 1, MOST_RUNS);
  const period = await readPeriod(store, rest);
  const drafts = new Map<string, Draft>();
  let runs = 0;
  let more = false;
  for await (const row of runsIn(store, rest, period)) {
    more = runs === most;
    if (more) break;
    runs++;
    const log = new StepLog();
    for await (const event of journalOf(store, row)) log.take(event);
    for (const step of log.steps()) {
      const { record, attempts, isCopied } = step;
      const own = attempts.filter(({ startedAt }) => isWithin(period, startedAt));
      if (record.type !== "call" || isCopied || own.length === 0) continue;
      const draft = draftOf(drafts, row.workflow, step.step.replace(/\[\d+\]/g, "[…]"));
      draft.steps++;
      draft.attempts += own.length;
      draft.failedAttempts += own.filter(({ outcome }) => outcome === "failed").length;
      if (record.status === "failed" && record.retryAt === undefined) draft.failed++;
      if (record.status === "in_doubt") draft.inDoubt++;
      draft.counts.push(own.length);
    }
  }
  const steps = [...drafts.values()].map(figuresOf);
  steps.sort((a, b) => b.failedAttempts - a.failedAttempts || b.attempts - a.attempts);
  return { ...period, steps, runs, more };
}

function draftOf(drafts: Map<string, Draft>, workflow: string, step: string): Draft {
  const key = JSON.stringify([workflow, step]);
  const known = drafts.get(key);
  if (known) return known;
  const counters = { steps: 0, attempts: 0, failedAttempts: 0, failed: 0, inDoubt: 0 };
  const draft: Draft = { workflow, step, ...counters, counts: [] };
  drafts.set(key, draft);
  return draft;
}

function figuresOf({ counts, ...draft }: Draft): StepFigures {
  const sorted = counts.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { ...draft, attemptsP50: at(0.5), attemptsP95: at(0.95) };
}
