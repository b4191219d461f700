import type { Grant } from "../guards/rate-gate.ts";
import type { ClaimLimit, QueuePart } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** The conditions of a claim, and what its queue's rate has granted: the run must begin in time. */
export interface Terms {
  readonly limits?: readonly ClaimLimit[];
  readonly grant?: Grant | undefined;
}

/** The queues that runs stand in, as a worker sees them. */
export interface QueueGate {
  /** True when the run stands in a queue that has limits, or is paused. */
  holds(row: Pick<RunRow, "queue">): Promise<boolean>;
  /** Claims a run if its queue has a place for it; returns whether it was claimed. */
  within(row: RunRow, claim: (terms: Terms) => Promise<boolean>): Promise<boolean>;
  /** Called when a run that was advanced here has ended or waits: there may be a place again. */
  freed(row: RunRow): boolean;
  /** True when it is known here that there is no place for the run now. */
  isFull(row: RunRow): boolean;
  /** The parts of queues that aren't asked for now: they have no place, or others come first. */
  leftOut(): readonly QueuePart[];
  /** Called when nothing else is due. Returns true when runs were left out that come next. */
  nextRound(): boolean;
  /** Calls back when a queue that was full may have a place. */
  onPlace(wake: () => void): void;
}
