import type { HoldfastError } from "../errors.ts";
import type { Waiting } from "../types.ts";

/** A person has to look at it. */
export const forReview = ({ code, message, why }: HoldfastError, since: number): Waiting => ({
  kind: "review",
  step: "",
  since,
  detail: `${code} ${message} ${why}`,
});
