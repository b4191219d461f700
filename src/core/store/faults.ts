import { type ErrorCode, HoldfastError } from "../errors.ts";

/** True when the store is closed, or has gone back in time: nothing more is asked of it. */
export const isOut = (error: unknown): boolean =>
  HoldfastError.is(error, "HF-3012") || HoldfastError.is(error, "HF-3020");

/** True when the store's file is damaged where something is written: waiting doesn't help, and others may be whole. */
export const isFileDamage = (error: unknown): error is HoldfastError => HoldfastError.is(error, "HF-3014");

/**
 * True when the trouble is one run's and says nothing of the others: on Temporal each run is an execution of its own,
 * which may fail to answer, be too large or be broken while the server is well.
 */
export const isOneRuns = (error: unknown): boolean =>
  HoldfastError.is(error, "HF-7003") ||
  HoldfastError.is(error, "HF-7004") ||
  HoldfastError.is(error, "HF-7006");

const AWAY: readonly ErrorCode[] = [
  ...(["HF-3002", "HF-3003", "HF-3009", "HF-3013", "HF-3024", "HF-3030"] as const),
  // A Temporal server, or the workers behind it.
  ...(["HF-7001", "HF-7003"] as const),
];

/** True when the store can't be used now, and may be back later. */
export const isAway = (error: unknown): boolean =>
  !HoldfastError.is(error) || AWAY.some((code) => HoldfastError.is(error, code));

/** True when it is the store that fails, and not what it was asked to do. */
export const isStoreFault = (error: unknown): boolean =>
  HoldfastError.is(error) && (error.code.startsWith("HF-3") || isAway(error));
