import type { Decision } from "../../../core/context.ts";
import type { JournalEvent } from "../../../core/journal/events.ts";
import { readRow } from "../../../core/journal/positions.ts";
import { shownRow } from "../../../core/journal/row-shape.ts";
import { RunState } from "../../../core/journal/state.ts";
import { isDone, StepLog } from "../../../core/journal/step-log.ts";
import { measure, type Progress, underWay } from "../../../core/manage/checkpoints/progress.ts";
import { Ledger } from "../../../core/manage/reports/costs.ts";
import { journalOf, type Story, storyOf } from "../../../core/manage/reports/stories.ts";
import type { Store } from "../../../core/store/contract.ts";
import { ended, type RunRow } from "../../../core/types.ts";
import { type RunOrigin, readOrigin, withTags } from "../../run-origin.ts";
import { nextActs } from "../../view/next-acts.ts";
import { type Standing, standingOf } from "../../view/standing.ts";
import { type Fetched, fetched, valuesOf } from "../../view/stored-values.ts";
import { unaskedOf } from "../../view/unasked.ts";
import { endedAgent, isFileRun, namesIn, unitStories } from "../../view/units.ts";

export interface ShowOptions {
  readonly input: boolean;
  readonly output: boolean;
  readonly attempts: boolean;
  readonly decisions: boolean;
  readonly lineage: boolean;
  readonly all: boolean;
  /** Includes the inner steps of workflow-file agents. */
  readonly steps: boolean;
  readonly reveal: boolean;
}

/** Everything that `show` says about a run, read from its journal in one pass. */
export interface RunReading {
  readonly row: RunRow;
  readonly origin: RunOrigin;
  readonly now: number;
  readonly standing: Standing;
  readonly progress: Progress;
  /** Tokens without a known price. */
  readonly unpriced: number;
  /** As shown: workflow-file agents with their inner steps folded in, unless every step is requested. */
  readonly stories: readonly Story[];
  readonly every: readonly Story[];
  /** Planned steps that haven't begun. */
  readonly pending: readonly string[];
  readonly acts: readonly string[];
  readonly lineage: Lineage;
  /** Finished steps that its code didn't ask for again. */
  readonly unasked: readonly string[];
  readonly input?: Fetched;
  readonly output?: Fetched;
  /** The run's own error. */
  readonly failure?: Fetched;
  /** The values that steps returned, by step. */
  readonly outputs: ReadonlyMap<string, Fetched>;
  /** The errors of attempts, by position. */
  readonly errors: ReadonlyMap<number, Fetched>;
  readonly decisions: readonly Decided[];
}

export interface Decided extends Partial<Decision> {
  readonly seq: number;
  readonly at: number;
  readonly step: string;
}

export interface Lineage {
  /** Takeovers after a crash, and resumes by people. */
  readonly recoveries: number;
  readonly resumes: number;
  readonly children: readonly { readonly step: string; readonly runId: string }[];
}

/** The number of steps shown with their value, unless all are requested. */
const MOST_OUTPUTS = 50;

export async function readRun(store: Store, runId: string, options: ShowOptions): Promise<RunReading> {
  const row = shownRow(await readRow(store, runId));
  const fold = new Fold();
  for await (const event of journalOf(store, row)) fold.take(event);
  const { state, log, ledger, by, undone } = fold;
  const children = [...log.children].map(([child, { step }]) => ({ step, runId: child }));
  const now = await store.now();
  const open = ended(row.status) ? [] : underWay(state);
  const name = namesIn(state, options.steps);
  const standing = standingOf(row, now, {
    open: open.map((one) => ({ ...one, step: name(one.step) })),
    by,
    undone,
  });
  const { progress, pending } = measure(state, row.stepsDone, row.status);
  const every = [...log.steps()].map(storyOf);
  const all = options.steps || !isFileRun(state) ? every : unitStories(every, fold.ended);
  const begun = new Set(every.flatMap(({ step }) => [step, name(step)]));
  return {
    row,
    origin: withTags(row, await readOrigin(store, runId)),
    now,
    standing,
    progress,
    unpriced: ledger.total.unpriced,
    stories: all,
    every,
    pending: pending.filter((step) => !begun.has(step)),
    acts: nextActs(row, standing.can, standing.stalledSince !== null, (step) => ({
      rerunAfter: log.find(step)?.record.rerunAfter,
      now,
    })),
    lineage: { recoveries: ledger.takeovers, resumes: ledger.resumes, children },
    unasked: unaskedOf(state),
    ...(await values(store, row, fold, options)),
  };
}

async function values(store: Store, row: RunRow, fold: Fold, options: ShowOptions) {
  const reader = valuesOf(store);
  const at = (seq: number): Promise<Fetched> => fetched(() => reader.at(row.id, seq));
  const outputs = new Map<string, Fetched>();
  const errors = new Map<number, Fetched>();
  const done = [...fold.log.steps()].filter((step) => isDone(step) && step.record.type !== "timer");
  if (options.output)
    for (const { step, record } of options.all ? done : done.slice(-MOST_OUTPUTS))
      outputs.set(step, await at(record.seq));
  for (const seq of fold.failures(options.attempts)) errors.set(seq, await at(seq));
  const decisions: Decided[] = [];
  for (const { seq, at: time, step } of options.decisions ? fold.decisions : []) {
    const found = await at(seq);
    decisions.push({ ...("value" in found ? (found.value as Decision) : {}), seq, at: time, step });
  }
  const { outcome } = fold.state;
  return {
    ...(options.input ? { input: await at(1) } : {}),
    ...(options.output && outcome && row.status === "completed" ? { output: await at(outcome.seq) } : {}),
    ...(outcome && row.status === "failed" ? { failure: await at(outcome.seq) } : {}),
    outputs,
    errors,
    decisions,
  };
}

/** The sum of the heads. */
class Fold {
  readonly state = new RunState();
  readonly log = new StepLog();
  readonly ledger = new Ledger();
  readonly decisions: JournalEvent[] = [];
  /** Agents that have answered, and the position. */
  readonly ended = new Map<string, { readonly seq: number; readonly at: number }>();
  /** Who paused or cancelled it last. */
  by: string | undefined;
  undone = false;

  take(event: JournalEvent): void {
    this.state.apply(event);
    this.ledger.take(event, this.log.take(event));
    const agent = endedAgent(event);
    if (agent !== undefined) this.ended.set(agent, event);
    switch (event.kind) {
      case "decision_made":
        return void this.decisions.push(event);
      case "pause_requested":
      case "cancel_requested":
      case "run_cancelled":
        this.by = event.actor ?? (event.kind === "run_cancelled" ? this.by : undefined);
        break;
      case "run_failed":
        this.undone = event.meta.compensated === true;
        break;
      default:
    }
  }

  /** The positions of failures worth showing: of all attempts, or the last of each unfinished step. */
  failures(all: boolean): number[] {
    return [...this.log.steps()].flatMap((step) => {
      const failed = step.attempts.filter(({ outcome }) => outcome === "failed");
      const shown = all ? failed : isDone(step) ? [] : failed.slice(-1);
      return shown.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
    });
  }
}
