import type { RateLimit } from "./rate-limit.ts";

/** How many runs of a queue may be advanced at once, and how fast they may start. */
export interface QueueOptions {
  /** Runs that are advanced at once, in all processes together. A run that waits takes up no place. */
  readonly concurrency?: number;
  /** The same for runs that have the same `key`. */
  readonly perKey?: number;
  /** How often runs may be taken up within a period. */
  readonly rate?: Required<Pick<RateLimit, "calls">> & Pick<RateLimit, "periodMs">;
}
