import { HoldfastError } from "../core/errors.ts";

export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  /** Where in the user's code it was thrown. */
  readonly at?: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: readonly string[];
  /** A link to more information. */
  readonly docs: string;
}

/** Describes an error for programs. */
export function describe(error: unknown): ErrorDocument {
  if (HoldfastError.is(error)) {
    const { code, message, why, safe, fix } = error;
    return { code, message, why, safe, fix: fix.split("\n"), docs: `holdfast explain ${code.slice(3)}` };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal",
    message,
    why: "This was not foreseen, so it is a fault of Holdfast or of the code it ran.",
    safe: "Unknown: what the store has acknowledged is kept.",
    fix: ["Run it again with -v to see where it comes from."],
    docs: "",
  };
}
