import { HoldfastError } from "../errors.ts";

/** What is stored is not as it was written: waiting will not mend that. */
export const isDamage = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-3010") || HoldfastError.is(error, "HF-3011");

/** Damaged, or dropped: an older snapshot may still do. */
export const isUnreadable = (error: unknown): error is HoldfastError =>
  isDamage(error) || HoldfastError.is(error, "HF-1023");

/** The key of the run's values cannot be had now: nothing is wrong with them. */
export const isKeyAway = (error: unknown): error is HoldfastError =>
  HoldfastError.is(error, "HF-3030") ||
  HoldfastError.is(error, "HF-3031") ||
  HoldfastError.is(error, "HF-3032");
