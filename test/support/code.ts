import type { HoldfastError } from "../../src/index.ts";

/** `taken`, or the code of the error that it was refused with. */
export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "taken",
    (error: HoldfastError) => error.code,
  );
