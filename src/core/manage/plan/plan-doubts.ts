import type { JournalEvent } from "../../journal/events.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import type { RunState, StepRecord } from "../../run/replay.ts";
import type { RunRow } from "../../types.ts";
import { entryPages, headEvents } from "../checkpoints/positions.ts";
import { OwnTime } from "./own-time.ts";
import type { DoubtfulStep, Reuse } from "./plan-types.ts";

/** Steps whose outcome is not known, as the run stands. */
export function unknowns(state: RunState): Map<string, StepRecord> {
  const isUnknown = ({ type, effect, status, reopened }: StepRecord): boolean =>
    type === "call" &&
    (status === "started" ||
      status === "in_doubt" ||
      (status === "failed" && reopened === true && effect === "once"));
  // Copies: a replay uses the records up.
  return new Map(
    [...state.steps()].filter(([, one]) => isUnknown(one)).map(([key, one]) => [key, { ...one }]),
  );
}

/** What becomes of an unknown outcome, as far as the record alone can tell. */
export function byRecord(step: string, { effect, attempt, status, rerun }: StepRecord): DoubtfulStep {
  const isAsked = status === "in_doubt" || (effect === "once" && !rerun);
  const again = effect === "keyed" ? "called again with the same key" : "called again";
  return { step, effect, attempt, treatment: isAsked ? "asked of a person" : again };
}

/** What the headers of a run's journal say about work that is done. */
export interface Survey {
  readonly reuse: Reuse;
  /** Steps whose outcome somebody has told since a worker last had the run. */
  readonly told: ReadonlySet<string>;
}

export async function survey({ store }: Pick<ExecutionDeps, "store">, row: RunRow): Promise<Survey> {
  let [steps, ms, tokens, costUsd] = [0, 0, 0, 0];
  const told = new Set<string>();
  const time = new OwnTime();
  for await (const page of entryPages(store, row.id, 1, row.seq)) {
    for (const event of page.flatMap((entry) => headEvents(row.id, entry))) {
      if (event.kind === "run_claimed") told.clear();
      if (event.kind === "step_evidence" || event.kind === "step_resolved") told.add(event.step);
      if (!isDone(event)) continue;
      steps++;
      if (event.kind === "step_completed") ms += time.of(event.step, event.meta.ms ?? 0);
      const usage = event.kind === "gate_answered" ? undefined : event.meta.usage;
      tokens += usage?.tokens ?? 0;
      costUsd += usage?.costUsd ?? 0;
    }
  }
  return { reuse: { steps, ms, tokens, costUsd }, told };
}

type Done = JournalEvent & { kind: "step_completed" | "gate_answered" | "child_finished" };

const isDone = (event: JournalEvent): event is Done =>
  event.kind === "step_completed" ||
  event.kind === "gate_answered" ||
  (event.kind === "child_finished" && event.meta.status === "completed");

/** Those of the told outcomes that count. */
export function decided(told: ReadonlySet<string>, state: RunState): DoubtfulStep[] {
  return [...told].flatMap((step) => {
    const record = state.find(step);
    if (record?.status !== "completed" && record?.status !== "failed") return [];
    const { effect, attempt } = record;
    return [{ step, effect, attempt, treatment: "outcome already decided" as const }];
  });
}
