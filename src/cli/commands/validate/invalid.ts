import { HoldfastError } from "../../../core/errors.ts";
import { describe } from "../../error-document.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Outcome } from "../../outcome.ts";

/** The outcome for invalid input. */
export const invalid = (
  subject: string,
  count: string,
  why: string,
  fix: string,
): Pick<Outcome, "error" | "exit"> => ({
  error: describe(new HoldfastError("HF-4358", { subject, count, why, fix })),
  exit: EXIT.invalid,
});

/** The outcome for damaged data. */
export const damaged = (
  subject: string,
  count: string,
  why: string,
  safe: string,
  fix: string,
): Pick<Outcome, "error" | "exit"> => ({
  error: describe(new HoldfastError("HF-4359", { subject, count, why, safe, fix })),
  exit: EXIT.integrity,
});
