import type { CatchUp, Overlap, ScheduledStart } from "../schedule-options.ts";

/** A schedule's definition, checked and complete. */
export interface ScheduleDefinition extends ScheduledStart {
  readonly workflow: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly everyMs?: number;
  readonly at?: number;
  readonly input?: unknown;
  readonly overlap: Overlap;
  readonly maxQueued: number;
  readonly catchUp: CatchUp;
  readonly jitterMs: number;
  readonly startAt?: number;
  readonly endAt?: number;
}

export const TICK_OUTCOMES = ["started", "skipped", "queued", "dropped", "missed", "refused"] as const;

/**
 * What became of a tick. `skipped`: the run before it was going on. `dropped`: too many were queued. `missed`: too late
 * to be made up for. `refused`: its run couldn't be created, because the input isn't valid, for example.
 */
export type TickOutcome = (typeof TICK_OUTCOMES)[number];

/** A tick that was acted on. */
export interface TickDone {
  readonly tick: number;
  readonly outcome: TickOutcome;
  readonly runId?: string;
  /** With `missed`: the last of the ticks that were. */
  readonly to?: number;
  /** With `refused`: why. */
  readonly why?: string;
}

/** An act on a schedule: what was done, by whom, why. */
export interface ScheduleEdit {
  readonly at: number;
  readonly act: "create" | "declare" | "update" | "pause" | "resume" | "trigger" | "backfill";
  readonly actor?: string;
  readonly reason?: string;
  /** The names of the changed options. */
  readonly changed?: readonly string[];
}

/** A schedule as it is kept. */
export interface ScheduleRecord {
  readonly definition: ScheduleDefinition;
  /** The digest of the definition that code declared last. */
  readonly declared?: string;
  readonly createdAt: number;
  /** Intervals are counted from here. */
  readonly anchor: number;
  /** Ticks up to here are done with. */
  readonly from: number;
  /** The last tick that was ever acted on: up to here, runs may exist. */
  readonly high: number | null;
  readonly paused: { readonly at: number; readonly actor?: string; readonly reason?: string } | null;
  /** Ticks whose runs are to be created. They are taken off once the runs exist. */
  readonly starting: readonly number[];
  /** The run that is cancelled before they are. */
  readonly cancels: string | null;
  /** Ticks that wait for the run before them. */
  readonly queued: readonly number[];
  /** The last run that a tick started. */
  readonly lastRun: string | null;
  /** The newest ticks that were acted on, oldest first. */
  readonly ticks: readonly TickDone[];
  readonly counts: Readonly<Record<TickOutcome, number>>;
  readonly history: readonly ScheduleEdit[];
}

/** A schedule as people see it. */
export interface Schedule
  extends Omit<ScheduleRecord, "from" | "high" | "anchor" | "starting" | "cancels" | "declared"> {
  readonly name: string;
  /** New with every change. */
  readonly version: string;
  readonly status: "active" | "paused" | "ended";
  /** The last tick that was acted on. */
  readonly lastTick: number | null;
  /** The next tick; `null` when it is paused or has ended. */
  readonly nextTick: number | null;
  /** True when code declares it. */
  readonly isDeclared: boolean;
}
