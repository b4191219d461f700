import type { Effect } from "../../core/types.ts";

/** Identifies a call of a step. */
export interface CallPlace {
  readonly runId: string;
  /** Empty in the workflow's function, outside all steps. */
  readonly step: string;
  readonly effect: Effect;
  readonly attempt: number;
  readonly epoch: number;
  /** The fingerprint of the idempotency key. */
  readonly key: string;
  /** The digest of the declared arguments; empty when there are none. */
  readonly args: string;
}

/** One effect as the outside world saw it. The witness records it before it answers. */
export interface WitnessCall extends CallPlace {
  /** Order of arrival. */
  readonly n: number;
  /** The calling process. */
  readonly caller: string;
}

/** A write that the store acknowledged to an engine. */
export interface AckedWrite {
  readonly runId: string;
  readonly seq: number;
  /** The entry's head, exactly as written. */
  readonly head: string;
}

/** A broken guarantee, in one sentence. */
export interface Violation {
  readonly invariant: "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I10";
  readonly runId: string;
  readonly message: string;
}
