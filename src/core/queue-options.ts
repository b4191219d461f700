import type { RateLimit } from "./rate-limit.ts";

/** What the runs of a queue are grouped by. */
export type FairBy = "key" | `labels.${string}`;

/** How many runs of a queue may be advanced at once, and how fast they may start. */
export interface QueueOptions {
  /** Runs that are advanced at once, in all processes together. A run that waits takes up no place. */
  readonly concurrency?: number;
  /** The same for runs that have the same `key`. */
  readonly perKey?: number;
  /**
   * Who shares the queue: runs with the same `key`, or with the same value of a label, such as `labels.team`. Of those
   * with the same priority, each in turn gets a place, so that many runs of one don't keep out the others. Default:
   * whoever has been due the longest.
   */
  readonly fairBy?: FairBy;
  /** How often runs may be taken up within a period. */
  readonly rate?: Required<Pick<RateLimit, "calls">> & Pick<RateLimit, "periodMs">;
}
