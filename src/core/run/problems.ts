import { HoldfastError } from "../errors.ts";

/** Errors that stop the work on a run, and that waiting doesn't fix. */

/** A failure outside the run's steps that would happen again. */
export const broken = (run: string, error: unknown): HoldfastError =>
  new HoldfastError("HF-2189", { run, message: String(error) }, { cause: error });
