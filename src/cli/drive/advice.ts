import { HoldfastError } from "../../core/errors.ts";
import { placeInCode } from "../view/code-place.ts";

/** Errors of the code itself, which repeat until it is changed. */
const MISTAKES = ["TypeError", "ReferenceError", "SyntaxError", "RangeError", "AssertionError"];
/** Values that can't be saved, and names that can't be used. */
const REFUSED = ["HF-2001", "HF-1005", "HF-1018", "HF-1019"] as const;

/** The error that user code threw, if any. */
export function thrownBy(error: unknown): Error | undefined {
  if (!HoldfastError.is(error)) return error instanceof Error ? error : undefined;
  return error.cause instanceof Error ? error.cause : undefined;
}

interface Advice {
  /** Where in the user's code it was thrown. */
  readonly at: string | undefined;
  /** What to fix first; `undefined` when continuing without a change makes sense. */
  readonly mend: string | undefined;
}

export function adviceFor(error: unknown): Advice {
  const thrown = thrownBy(error);
  // A failed fetch is a TypeError too, with the network's error as its cause.
  const isOwn = thrown !== undefined && MISTAKES.includes(thrown.name) && thrown.cause === undefined;
  const isRefused = REFUSED.some((code) => HoldfastError.is(thrown, code) || hasCode(thrown, code));
  const at = placeInCode(thrown);
  if (!isOwn && !isRefused) return { at, mend: undefined };
  const how = HoldfastError.is(thrown) ? ` ${thrown.fix}` : "";
  return {
    at,
    mend: `Change the code${at === undefined ? "" : ` at ${at}`}: it would fail the same way again.${how}`,
  };
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
