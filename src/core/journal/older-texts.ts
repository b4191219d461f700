import { type ErrorCode, isErrorCode } from "../errors.ts";
import { ALL_LIMITS, type Limit, type WaitKind } from "../types.ts";
import type { Crossed } from "./events.ts";

/**
 * Parses facts that earlier versions recorded only as sentences, and that are data now. This is the only place that
 * parses Holdfast's own text: nothing is added here, and sentences may be changed without looking here.
 */

interface Told {
  readonly code?: ErrorCode;
  readonly limits?: readonly Limit[];
  readonly child?: string;
}

/** A wait: `HF-2119 Run r has reached its budget: turns 3 of 3.`, or the id of a child. */
export function toldByDetail(kind: WaitKind, detail: string): Told {
  if (kind === "child") return { child: detail };
  const [code = ""] = detail.split(" ", 1);
  if (!isErrorCode(code)) return {};
  if (kind !== "budget") return { code };
  return { code, limits: ALL_LIMITS.filter((limit) => new RegExp(`[:,] ${limit} \\d`).test(detail)) };
}

/** A child that its parent has resumed: `pay 2`, the step and the attempt at it. */
export function attemptInReason(reason: string): number | undefined {
  const [, attempt] = / (\d+)$/.exec(reason) ?? [];
  return attempt === undefined ? undefined : Number(attempt);
}

/** The mark of a crossed threshold: `writer: below 0.5`. */
export function crossedInLabel(label: string): Crossed | undefined {
  const [, agent, to] = /^(.*): (below|above) \S+$/s.exec(label) ?? [];
  return agent === undefined ? undefined : { agent, to: to === "below" ? "below" : "above" };
}
