import type { Health } from "../../worker/health.ts";
import type { LookedAt, Period } from "./period.ts";
import type { RecoveryReport } from "./recoveries.ts";

/** A figure beside its goal: `met`, `missed`, or so far off that somebody should be called. */
export interface Objective {
  /** `null` when there is nothing to measure. */
  readonly value: number | null;
  readonly goal: number;
  /** Beyond this, it is an alarm. */
  readonly alarm: number;
  readonly state: "met" | "missed" | "alarm" | "unknown";
}

/** How reliable runs are: the figures that a service is judged by. */
export interface Reliability extends Period, LookedAt {
  /** Completed runs divided by completed and failed ones. */
  readonly completion: Objective;
  /** From the last write of a lost worker to the first act of the next one: 95 of 100 took no longer, in milliseconds. */
  readonly recovery: Objective;
  /** The 95th percentile of the newest writes of this process, in milliseconds. */
  readonly write: Objective;
  readonly runs: RecoveryReport["runs"];
  readonly recoveries: { readonly count: number; readonly ms: RecoveryReport["ms"] };
  readonly writes: Health["writes"];
  readonly store: Health["store"];
}

/** The goals, each with the line beyond which it is an alarm. */
const GOALS = {
  completion: [0.98, 0.95],
  recovery: [60_000, 300_000],
  write: [15, 50],
} as const;

export function reliabilityOf(
  report: RecoveryReport,
  { writes, store }: Pick<Health, "writes" | "store">,
): Reliability {
  const { since, until, incidents, runs, ms, looked, more, unreadable } = report;
  return {
    since,
    until,
    completion: judged(runs.completionRate, ...GOALS.completion),
    recovery: judged(ms?.p95 ?? null, ...GOALS.recovery),
    write: judged(writes?.p95 ?? null, ...GOALS.write),
    runs,
    recoveries: { count: incidents.length, ms },
    writes,
    store,
    looked,
    more,
    unreadable,
  };
}

/** Less is better, unless the alarm is below the goal. */
function judged(value: number | null, goal: number, alarm: number): Objective {
  const sign = alarm < goal ? -1 : 1;
  const isPast = (line: number): boolean => value !== null && sign * value > sign * line;
  const state = value === null ? "unknown" : isPast(alarm) ? "alarm" : isPast(goal) ? "missed" : "met";
  return { value, goal, alarm, state };
}
