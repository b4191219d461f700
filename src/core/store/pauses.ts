import { HoldfastError } from "../errors.ts";

/** The pause after the first failed attempt; each further one doubles it. */
export const FIRST_PAUSE_MS = 20;
export const LONGEST_PAUSE_MS = 2_000;

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
