import { HoldfastError } from "../../core/errors.ts";
import { retryAfterMs } from "../../core/run/retry.ts";
import { causesOf } from "../../core/values/stack.ts";
import { placeInCode } from "../view/code-place.ts";

/** Errors of the code itself, which repeat until it is changed. */
const MISTAKES = ["TypeError", "ReferenceError", "SyntaxError", "RangeError", "AssertionError"];

/** The error that user code threw, if any. */
export function thrownBy(error: unknown): Error | undefined {
  if (!HoldfastError.is(error)) return error instanceof Error ? error : undefined;
  return error.cause instanceof Error ? error.cause : undefined;
}

interface Advice {
  /** Where in the user's code it was thrown. */
  readonly at: string | undefined;
  /** What to do before the run is resumed; `undefined` when resuming it is enough. */
  readonly first: string | undefined;
  /** True when the run fails in the same way until its code has changed. */
  readonly isMistake: boolean;
  /** How long the receiver asks to wait, such as `10m`. */
  readonly wait: string | undefined;
}

/** What the error that ended a run says about how to continue it. */
export function adviceFor(thrown: Error | undefined): Advice {
  const at = placeInCode(thrown);
  const wait = waitFor(thrown);
  const own = causesOf(thrown).find((one) => HoldfastError.is(one)) as HoldfastError | undefined;
  const isMistake = own === undefined ? isProgramming(thrown) : isRefusal(own);
  if (!isMistake) return { at, first: own?.fix, isMistake, wait };
  const place = at === undefined ? "" : ` at ${at}`;
  return {
    at,
    first: own?.fix ?? `Change the code${place}: it would fail the same way again.`,
    isMistake,
    wait,
  };
}

/** A failed fetch is a TypeError too, with the network's error as its cause. */
const isProgramming = (thrown: Error | undefined): boolean =>
  thrown !== undefined && MISTAKES.includes(thrown.name) && thrown.cause === undefined;

/** True for errors of ours about the call itself: the same call gets the same answer. */
const isRefusal = ({ code }: HoldfastError): boolean =>
  /^HF-(?:1|45|46)/.test(code) || REFUSED.includes(code);

/** Values that can't be saved, and calls that aren't awaited or ended. */
const REFUSED: readonly string[] = ["HF-2001", "HF-2002", "HF-2290", "HF-2291"];

function waitFor(thrown: Error | undefined): string | undefined {
  const [ms] = causesOf(thrown)
    .map((one) => retryAfterMs(one, Date.now()))
    .filter((one) => one !== undefined && one > 0);
  if (ms === undefined) return undefined;
  return ms < 60_000 ? `${Math.ceil(ms / 1_000)}s` : `${Math.ceil(ms / 60_000)}m`;
}
