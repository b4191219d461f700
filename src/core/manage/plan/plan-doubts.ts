import type { JournalEvent } from "../../journal/events.ts";
import { entryPages, headEvents } from "../../journal/read.ts";
import type { StepRecord } from "../../journal/records.ts";
import type { RunState } from "../../journal/state.ts";
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
  let [ms, tokens, costUsd] = [0, 0, 0];
  const done = new Set<string>();
  const told = new Set<string>();
  const attempts = new Map<string, number>();
  const time = new OwnTime();
  for await (const page of entryPages(store, row.id, 1, row.seq)) {
    for (const event of page.flatMap((entry) => headEvents(row.id, entry))) {
      if (event.kind === "run_claimed") told.clear();
      if (event.kind === "step_evidence" || event.kind === "step_resolved") told.add(event.step);
      if (event.kind === "step_started") attempts.set(event.step, event.meta.attempt);
      if (!isDone(event, attempts)) continue;
      done.add(event.step);
      if (event.kind === "step_completed") ms += time.of(event.step, event.meta.ms ?? 0);
      if (event.kind === "child_finished") ms += await timeOf(store, event.meta.child);
      const usage =
        event.kind === "step_completed" || event.kind === "child_finished" ? event.meta.usage : undefined;
      tokens += usage?.tokens ?? 0;
      costUsd += usage?.costUsd ?? 0;
    }
  }
  return { reuse: { steps: done.size, ms, tokens, costUsd }, told };
}

/** What the steps of a finished child took, and of those below it. */
async function timeOf(store: Store, runId: string): Promise<number> {
  const row = await store.read(runId);
  return row ? (await survey(store, row)).reuse.ms : 0;
}

/** A step has a result now, which is not asked for anywhere else again. */
function isDone(event: JournalEvent, attempts: ReadonlyMap<string, number>): boolean {
  switch (event.kind) {
    case "step_completed":
    case "gate_answered":
      return true;
    case "child_finished":
      return event.meta.status === "completed";
    case "step_resolved":
      return event.meta.action === "done";
    case "step_evidence":
      return attempts.get(event.step) === event.meta.attempt;
    case "value_edited":
      return event.meta.what === "step";
    default:
      return false;
  }
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
