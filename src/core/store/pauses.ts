import { HoldfastError } from "../errors.ts";

/** The pause after the first failed attempt; each further one doubles it. */
export const FIRST_PAUSE_MS = 20;
export const LONGEST_PAUSE_MS = 2_000;

/** True when the store is closed, or has gone back in time: nothing more is asked of it. */
export const isOut = (error: unknown): boolean =>
  HoldfastError.is(error, "HF-3012") || HoldfastError.is(error, "HF-3020");
