import { headsOf } from "../../journal/read.ts";
import { decidedAt, type StepRecord } from "../../journal/records.ts";
import type { RunState } from "../../journal/state.ts";
import { isDone, type LoggedStep, StepLog } from "../../journal/step-log.ts";
import type { Store } from "../../store/contract.ts";
import { type Effect, NO_USAGE, type RunRow, shownUsage, unpricedOf } from "../../types.ts";
import { OwnTime } from "./own-time.ts";
import type { DoubtfulStep, Reuse, Treatment } from "./plan-types.ts";

/** True when the outcome of a call is unknown in the run's current state. */
export const isUnknown = ({ type, effect, status, reopened }: StepRecord): boolean =>
  type === "call" &&
  (status === "started" ||
    status === "in_doubt" ||
    (status === "failed" && reopened === true && effect === "once"));

/** Steps with an unknown outcome. */
export const unknowns = (state: RunState): Map<string, StepRecord> =>
  // Copies, because a replay consumes the records.
  new Map([...state.steps()].filter(([, one]) => isUnknown(one)).map(([key, one]) => [key, { ...one }]));

/** How a call with an unknown first outcome is repeated. */
export const again = (effect: Effect): Treatment =>
  effect === "keyed" ? "called again with the same key" : "called again";

/** The handling of an unknown outcome, as far as the record alone can tell. */
export function byRecord(step: string, { effect, attempt, status, rerun }: StepRecord): DoubtfulStep {
  if (status === "in_doubt") return { step, effect, attempt, treatment: "asked of a person" };
  const isAsked = effect === "once" && !rerun;
  const treatment = isAsked ? "verify hook asked first, or a person" : again(effect);
  return { step, effect, attempt, treatment };
}

/** Finished work, according to the heads of a run's journal. */
export interface Survey {
  readonly reuse: Reuse;
  /** Steps whose outcome a person has given since a worker last had the run. */
  readonly told: ReadonlySet<string>;
}

export async function survey(store: Store, row: RunRow): Promise<Survey> {
  const log = new StepLog();
  const told = new Set<LoggedStep>();
  for await (const { events } of headsOf(store, row.id, 1, row.seq))
    for (const event of events) {
      const news = log.take(event);
      if (event.kind === "run_claimed") told.clear();
      if (news && (event.kind === "step_evidence" || event.kind === "step_resolved")) told.add(news.step);
    }
  return { reuse: await reuseOf(store, log), told: new Set([...told].map(({ step }) => step)) };
}

/** Work that is not done again. */
async function reuseOf(store: Store, log: StepLog): Promise<Reuse> {
  const time = new OwnTime();
  const reuse = { steps: 0, ms: 0, tokens: 0, costUsd: 0, unpriced: 0 };
  const done = [...log.steps()].filter((step) => isDone(step) && !step.isDropped);
  for (const { step, record, attempts } of done.sort((a, b) => decidedAt(a.record) - decidedAt(b.record))) {
    const last = attempts.at(-1);
    reuse.steps++;
    if (last?.outcome !== "completed") continue;
    reuse.ms += time.of(step, last.ms ?? 0);
    if (record.child !== undefined) reuse.ms += await timeOf(store, record.child);
    const usage = last.usage ?? NO_USAGE;
    reuse.tokens += usage.tokens;
    reuse.costUsd += usage.costUsd;
    reuse.unpriced += unpricedOf(usage);
  }
  const { unpriced: _, ...shown } = shownUsage(reuse);
  return shown;
}

/** The total duration of the steps of a finished child, and of those below it. */
async function timeOf(store: Store, runId: string): Promise<number> {
  const row = await store.read(runId);
  return row ? (await survey(store, row)).reuse.ms : 0;
}

/** The given outcomes that count. */
export function decided(told: ReadonlySet<string>, state: RunState): DoubtfulStep[] {
  return [...told].flatMap((step) => {
    const record = state.find(step);
    if (record?.status !== "completed" && record?.status !== "failed") return [];
    const { effect, attempt } = record;
    return [{ step, effect, attempt, treatment: "outcome already decided" as const }];
  });
}
