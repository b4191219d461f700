import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { placeInCode } from "./view/code-place.ts";

export interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  /** Where in the user's code it was thrown. */
  readonly at?: string;
  /** The error that the user's code threw, with its fields and causes. */
  readonly cause?: Readonly<Record<string, unknown>>;
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
    const at = placeInCode(error.cause);
    const isTold = at !== undefined && message.includes(at);
    return {
      code,
      message,
      ...defined({ at: isTold ? undefined : at }),
      why,
      safe,
      fix: fix.split("\n"),
      docs: `holdfast explain ${code.slice(3)}`,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal",
    message,
    ...defined({ at: placeInCode(error) }),
    why: "Holdfast has no explanation for this error. It comes from your code, or it is a bug in Holdfast.",
    safe: "Unknown. Everything that the store has acknowledged is kept.",
    fix: ["Run the command again with -v to see the whole stack."],
    docs: "",
  };
}
