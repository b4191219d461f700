import { defined } from "../../defined.ts";
import type { StepType } from "../../journal/events.ts";
import type { StepRecord } from "../../journal/records.ts";
import type { RunState } from "../../journal/state.ts";
import { countedName, groupOf, isMember } from "../../keys.ts";
import type { Run, RunStatus, Waiting, WaitKind } from "../../types.ts";

/** A run's progress. `total` is known if the run announced it: with `ctx.plan`, and by the members of its groups. */
export interface Progress {
  readonly done: number;
  readonly total?: number;
  readonly percent?: number;
  /** `3 of 5`, or `3 done` when no total is known. */
  readonly text: string;
}

/** A step that has begun and has no outcome yet. */
export interface StepUnderWay {
  readonly step: string;
  readonly type: StepType;
  /** `in_doubt`: it is unknown whether it happened. `failed`: it is retried at `until`. */
  readonly status: "started" | "in_doubt" | "failed";
  readonly attempt: number;
  readonly since: number;
  readonly until?: number;
}

export interface Measured {
  readonly progress: Progress;
  /** Planned steps without a result, by key. */
  readonly pending: readonly string[];
}

/** Measures a state against its plans. The plans of finished iterations don't count. */
export function measure(state: RunState, stepsDone: number, status?: RunStatus): Measured {
  const { plans } = state.facts;
  if (plans.size === 0) return { progress: { done: stepsDone, text: `${stepsDone} done` }, pending: [] };
  const members = countMembers(state);
  const loops = new Map(state.loops());
  let [done, total] = [0, 0];
  const pending: string[] = [];
  for (const [place, { steps = [], of }] of plans) {
    if (of !== undefined) {
      total += of;
      done += Math.min(of, members.get(place) ?? 0);
    }
    for (const key of numbered(place, steps)) {
      // A group that has begun is counted by its members.
      if (plans.get(key)?.of !== undefined) continue;
      total++;
      if (state.find(key)?.status === "completed" || loops.get(key)?.done) done++;
      else pending.push(key);
    }
  }
  const isNamed = [...plans.values()].some(({ steps = [] }) => steps.length > 0);
  if (!isNamed) return { progress: ofGroups(stepsDone, status === "completed" ? 0 : total - done), pending };
  // The run completed without the planned steps that it never asked for.
  if (status === "completed")
    return { progress: { done, total: done, percent: 100, text: `${done} of ${done}` }, pending: [] };
  return { progress: nOfM(done, total), pending };
}

function nOfM(done: number, total: number): Progress {
  const percent = total === 0 ? {} : { percent: Math.floor((100 * done) / total) };
  return { done, total, ...percent, text: `${done} of ${total}` };
}

/**
 * Groups announce only their own members: how many are left is known while one is at work, and nothing about the steps
 * after it.
 */
const ofGroups = (stepsDone: number, left: number): Progress =>
  left === 0 ? { done: stepsDone, text: `${stepsDone} done` } : nOfM(stepsDone, stepsDone + left);

/** A run's progress as far as its row tells, for lists. The budget of turns is the only total that a row has. */
export function rowProgress({
  stepsDone,
  turns,
  budget,
}: Pick<Run, "stepsDone" | "turns" | "budget">): Progress {
  const total = budget?.turns;
  if (total === undefined) return { done: stepsDone, text: `${stepsDone} done` };
  const percent = Math.min(100, Math.floor((100 * turns) / total));
  return { done: turns, total, percent, text: `turn ${turns} of ${total}` };
}

/** A name that is planned twice is a step and its `#2`. */
function* numbered(prefix: string, names: readonly string[]): Generator<string> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    yield prefix + countedName(name, count);
  }
}

/** The number of completed members of each group. */
function countMembers(state: RunState): ReadonlyMap<string, number> {
  const members = new Map<string, number>();
  for (const [key, { status }] of state.steps()) {
    if (!isMember(key) || status !== "completed") continue;
    const group = groupOf(key);
    members.set(group, (members.get(group) ?? 0) + 1);
  }
  return members;
}

const isOpen = (record: StepRecord): boolean =>
  record.status === "started" || record.status === "in_doubt" || record.retryAt !== undefined;

/** The steps in progress, in the order they were begun. */
export function underWay(state: RunState): StepUnderWay[] {
  const open = [...state.steps()].filter(([, record]) => isOpen(record));
  return open
    .sort(([, a], [, b]) => a.since - b.since || a.seq - b.seq)
    .map(([step, { type, status, attempt, since, until, retryAt }]) => {
      const end = retryAt ?? until;
      return {
        step,
        type,
        status: status as StepUnderWay["status"],
        attempt,
        since,
        ...defined({ until: end }),
      };
    });
}

const KINDS: Partial<Record<StepType, WaitKind>> = {
  gate: "gate",
  timer: "timer",
  signal: "signal",
  child: "child",
};

/** Everything a run waits for: waiting or interrupted steps, and what holds the run itself back. */
export function openWaits(state: RunState, waiting: readonly Waiting[]): Waiting[] {
  const waits: Waiting[] = [];
  for (const { step, type, status, since, until } of underWay(state)) {
    const kind = status === "in_doubt" ? "decision" : status === "failed" ? "retry" : KINDS[type];
    if (!kind) continue;
    const { names, child } = state.find(step) as StepRecord;
    waits.push({
      kind,
      step,
      since,
      ...defined({ until, names, child, detail: child }),
    });
  }
  const known = new Set(waits.map(({ step }) => step));
  return [...waits, ...waiting.filter(({ step }) => !known.has(step))];
}
