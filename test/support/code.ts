import type { HoldfastError } from "../../src/index.ts";

/** Returns `taken`, or the code of the error. */
export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "taken",
    (error: HoldfastError) => error.code,
  );
