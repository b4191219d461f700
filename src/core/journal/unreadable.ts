import { HoldfastError } from "../errors.ts";

/** True when stored data isn't as it was written: waiting won't help. */
export const isDamage = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-3010") || HoldfastError.is(error, "HF-3011");

/** True when it is damaged or dropped: an older snapshot may still work. */
export const isUnreadable = (error: unknown): error is HoldfastError =>
  isDamage(error) || HoldfastError.is(error, "HF-1023");

/** True when the run's values can't be read here and now, for want of a key or of compression; they are fine. */
export const isKeyAway = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-3030") ||
  HoldfastError.is(error, "HF-3031") ||
  HoldfastError.is(error, "HF-3032") ||
  HoldfastError.is(error, "HF-3120");
