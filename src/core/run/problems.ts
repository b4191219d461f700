import { HoldfastError } from "../errors.ts";

/** Errors that stop the work on a run, and that waiting does not mend. */

/** Something outside the run's steps has failed, and would fail again. */
export const broken = (run: string, error: unknown): HoldfastError =>
  new HoldfastError("HF-2189", { run, message: String(error) }, { cause: error });
