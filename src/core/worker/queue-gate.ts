import type { RunRow } from "../types.ts";

/** The conditions of a claim: how many other runs of a queue, and of a key in it, may be running. */
export interface ClaimLimits {
  readonly limits?: readonly { readonly queue: string; readonly key?: string; readonly most: number }[];
}

/** The queues that runs stand in, as a worker sees them. */
export interface QueueGate {
  /** True when the run stands in a queue that has limits, or is paused. */
  holds(row: Pick<RunRow, "queue">): Promise<boolean>;
  /** Claims a run if its queue has a place for it; returns whether it was claimed. */
  within(row: RunRow, claim: (limits: ClaimLimits) => Promise<boolean>): Promise<boolean>;
  /** Called when a run that was advanced here has ended or waits: there may be a place again. */
  freed(row: RunRow): boolean;
  /** True when it is known here that there is no place for the run now. */
  isFull(row: RunRow): boolean;
  /** Calls back when a queue that was full may have a place. */
  onPlace(wake: () => void): void;
}
