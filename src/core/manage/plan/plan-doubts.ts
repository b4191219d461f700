import { headsOf } from "../../journal/read.ts";
import { decidedAt, type StepRecord } from "../../journal/records.ts";
import type { RunState } from "../../journal/state.ts";
import { isDone, type LoggedStep, StepLog } from "../../journal/step-log.ts";
import type { Store } from "../../store/contract.ts";
import type { Effect, RunRow } from "../../types.ts";
import { OwnTime } from "./own-time.ts";
import type { DoubtfulStep, Reuse, Treatment } from "./plan-types.ts";

/** Whether the outcome of a call is not known, as the run stands. */
export const isUnknown = ({ type, effect, status, reopened }: StepRecord): boolean =>
  type === "call" &&
  (status === "started" ||
    status === "in_doubt" ||
    (status === "failed" && reopened === true && effect === "once"));

/** Steps whose outcome is not known. */
export const unknowns = (state: RunState): Map<string, StepRecord> =>
  // Copies: a replay uses the records up.
  new Map([...state.steps()].filter(([, one]) => isUnknown(one)).map(([key, one]) => [key, { ...one }]));

/** How a call is made again whose first outcome is not known. */
export const again = (effect: Effect): Treatment =>
  effect === "keyed" ? "called again with the same key" : "called again";

/** What becomes of an unknown outcome, as far as the record alone can tell. */
export function byRecord(step: string, { effect, attempt, status, rerun }: StepRecord): DoubtfulStep {
  if (status === "in_doubt") return { step, effect, attempt, treatment: "asked of a person" };
  const isAsked = effect === "once" && !rerun;
  const treatment = isAsked ? "verify hook asked first, or a person" : again(effect);
  return { step, effect, attempt, treatment };
}

/** What the headers of a run's journal say about work that is done. */
export interface Survey {
  readonly reuse: Reuse;
  /** Steps whose outcome somebody has told since a worker last had the run. */
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
  const reuse = { steps: 0, ms: 0, tokens: 0, costUsd: 0 };
  const done = [...log.steps()].filter((step) => isDone(step) && !step.isDropped);
  for (const { step, record, attempts } of done.sort((a, b) => decidedAt(a.record) - decidedAt(b.record))) {
    const last = attempts.at(-1);
    reuse.steps++;
    if (last?.outcome !== "completed") continue;
    reuse.ms += time.of(step, last.ms ?? 0);
    if (record.child !== undefined) reuse.ms += await timeOf(store, record.child);
    reuse.tokens += last.usage?.tokens ?? 0;
    reuse.costUsd += last.usage?.costUsd ?? 0;
  }
  return reuse;
}

/** What the steps of a finished child took, and of those below it. */
async function timeOf(store: Store, runId: string): Promise<number> {
  const row = await store.read(runId);
  return row ? (await survey(store, row)).reuse.ms : 0;
}

/** Those of the told outcomes that count. */
export function decided(told: ReadonlySet<string>, state: RunState): DoubtfulStep[] {
  return [...told].flatMap((step) => {
    const record = state.find(step);
    if (record?.status !== "completed" && record?.status !== "failed") return [];
    const { effect, attempt } = record;
    return [{ step, effect, attempt, treatment: "outcome already decided" as const }];
  });
}
