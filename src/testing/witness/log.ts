import type { Effect } from "../../core/types.ts";

/** One effect as the outside world saw it. The witness writes it down before it answers. */
export interface WitnessCall {
  /** Order of arrival. */
  readonly n: number;
  readonly runId: string;
  readonly step: string;
  readonly effect: Effect;
  readonly attempt: number;
  readonly epoch: number;
  /** Fingerprint of the idempotency key the call carried. */
  readonly key: string;
  /** Digest of the arguments the call carried. */
  readonly args: string;
  /** Which process called. */
  readonly caller: string;
}

/** A write that the store acknowledged to an engine. */
export interface AckedWrite {
  readonly runId: string;
  readonly seq: number;
  /** The entry's head, exactly as written. */
  readonly head: string;
}

/** A promise that was broken, in one sentence. */
export interface Violation {
  readonly invariant: "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I10";
  readonly runId: string;
  readonly message: string;
}
