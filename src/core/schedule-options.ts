import type { Budget } from "./types.ts";

export const OVERLAPS = ["skip", "queue", "cancel", "allow"] as const;

/**
 * What a tick does while the run of the tick before hasn't ended. `skip`: nothing. `queue`: it starts when that run has
 * ended. `cancel`: that run is cancelled first. `allow`: it starts beside it.
 */
export type Overlap = (typeof OVERLAPS)[number];

/** What each run of a schedule is started with. */
export interface ScheduledStart {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly queue?: string;
  readonly key?: string;
  readonly priority?: number;
  readonly budget?: Budget;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** When a schedule ticks: exactly one of `cron`, `everyMs` and `at`. */
export interface ScheduleOptions extends ScheduledStart {
  /** Five fields, or six with seconds first: `0 2 * * *`. */
  readonly cron?: string;
  /** The time zone of `cron`, such as `Europe/Berlin`. Default `UTC`. */
  readonly timezone?: string;
  /** The time between two ticks, at least a second. They are counted from `startAt`, or from the schedule's creation. */
  readonly everyMs?: number;
  /** The one moment of a schedule that ticks once: epoch milliseconds, a Date, or text with a time zone. */
  readonly at?: Moment;
  readonly input?: unknown;
  /** Default `skip`. */
  readonly overlap?: Overlap;
  /** The most ticks that wait with `overlap: "queue"`. Later ones are left out. Default 10. */
  readonly maxQueued?: number;
  /**
   * How many ticks are made up for after all workers were down: the newest `most` of those at most `withinMs` late.
   * Default: one, at most a day late. A tick that is handled within a minute is on time.
   */
  readonly catchUp?: Partial<CatchUp>;
  /** Each run starts up to this much later than its tick; by how much depends on schedule and tick alone. Default 0. */
  readonly jitterMs?: number;
  /** No tick before this moment, or after `endAt`. */
  readonly startAt?: Moment;
  readonly endAt?: Moment;
}

/** A moment from outside; it is stored as epoch milliseconds. */
export type Moment = number | string | Date;

/** How much of what was missed is made up for. */
export interface CatchUp {
  /** The number of late ticks, the newest first. */
  readonly most: number;
  /** Ticks that are later than this are left out. */
  readonly withinMs: number;
}
