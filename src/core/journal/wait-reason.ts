import type { ErrorCode, HoldfastError } from "../errors.ts";
import type { Limit, Waiting } from "../types.ts";
import { toldByDetail } from "./older-texts.ts";

/** Why a run waits: as data for programs, beside the text for people. */
interface Reason {
  readonly code?: ErrorCode | undefined;
  readonly limits?: readonly Limit[] | undefined;
  readonly child?: string | undefined;
}

/** The error that a wait is about, with what else a person is told of it. */
export const about = (
  { code, message }: HoldfastError,
  ...more: readonly string[]
): Required<Pick<Waiting, "code" | "detail">> => ({ code, detail: [code, message, ...more].join(" ") });

/** A person has to look at it. */
export const forReview = (problem: HoldfastError, since: number): Waiting => ({
  kind: "review",
  step: "",
  since,
  ...about(problem, problem.why),
});

/** A wait for the end of another run. */
export const forChild = (child: string): Pick<Waiting, "kind" | "child" | "detail"> => ({
  kind: "child",
  child,
  detail: child,
});

/** Why a run waits, whichever version recorded it. */
export function reasonOf({ kind, detail, code, limits, child }: Waiting): Reason {
  const isData = code !== undefined || child !== undefined;
  return isData || detail === undefined ? { code, limits, child } : toldByDetail(kind, detail);
}

export const isAbout = (wait: Waiting, ...codes: readonly ErrorCode[]): boolean => {
  const { code } = reasonOf(wait);
  return code !== undefined && codes.includes(code);
};

/** The sentence for a person, without the code. */
export function sentenceOf(wait: Waiting): string | undefined {
  const { code } = reasonOf(wait);
  const { detail } = wait;
  return code !== undefined && detail?.startsWith(`${code} `) ? detail.slice(code.length + 1) : detail;
}
