import { createHash } from "node:crypto";
import { isTraceparent } from "../../core/journal/observer.ts";
import type { RunIdentity } from "../../core/types.ts";

/** The place of a span: which trace, and which span in it. */
export interface SpanPlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** A run's own place in its trace, and the span that it was started under. */
export interface TracePlace extends SpanPlace {
  readonly parent: SpanPlace | undefined;
}

const hash = (parts: readonly (string | number)[], bytes: number): string => {
  const text = createHash("sha256")
    .update(parts.join("\n"))
    .digest("hex")
    .slice(0, bytes * 2);
  // Ids of nothing but zeros are invalid.
  return /^0+$/.test(text) ? `${text.slice(1)}1` : text;
};

type Named = Pick<RunIdentity, "id" | "createdAt">;

/**
 * The place of a run, from what every process knows of it: so whoever takes it over after a crash goes on in the same
 * trace. It is in the trace of whoever started it, if that is recorded.
 */
export function placeOf(run: Named, trace: string | undefined): TracePlace {
  const parent = placeIn(trace);
  return {
    traceId: parent?.traceId ?? hash(["trace", run.id, run.createdAt], 16),
    spanId: hash(["run", run.id, run.createdAt], 8),
    parent,
  };
}

/** The span of one attempt at a step; `asked`: which time the question of a gate was asked. */
export const stepSpanId = (run: Named, step: string, attempt: number, asked = 0): string =>
  hash(["step", run.id, run.createdAt, step, attempt, ...(asked > 0 ? [asked] : [])], 8);

/** The span of the time in which one claim held the run. */
export const stretchSpanId = (run: Named, epoch: number): string =>
  hash(["stretch", run.id, run.createdAt, epoch], 8);

/** The span that a `traceparent` names. */
export function placeIn(traceparent: string | undefined): SpanPlace | undefined {
  if (!isTraceparent(traceparent)) return undefined;
  const [, traceId = "", spanId = ""] = traceparent.split("-");
  return { traceId, spanId };
}

export const traceparentOf = ({ traceId, spanId }: SpanPlace, isSampled: boolean): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

/** Whether a trace is among the share that is exported. Every process decides alike. */
export const isSampled = (traceId: string, share: number): boolean =>
  share >= 1 || Number.parseInt(traceId.slice(-8), 16) < share * 2 ** 32;
