import type { HrTime, SpanContext, SpanStatus } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { SpanPlace } from "../traces/ids.ts";
import type { Span } from "../traces/span.ts";

/** The numbers that OpenTelemetry's API gives to these words; they are part of its stable interface. */
const KINDS = { internal: 0, server: 1, client: 2 } as const;
const [UNSET, ERROR] = [0, 2] as const;
const SAMPLED = 1;

export const SCOPE = { name: "holdfast" };

export const hrTime = (ms: number): HrTime => {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
};

export const contextOf = ({ traceId, spanId }: SpanPlace, isSampled = true): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? SAMPLED : 0,
});

/** A span in the form that exporters take. No tracer has made it, so its ids are those that follow from the run. */
export function readable(span: Span, resource: Resource): ReadableSpan {
  const { traceId, parentSpanId, start, end, error, events, links } = span;
  const context = contextOf(span);
  const status: SpanStatus = error === null ? { code: UNSET } : { code: ERROR, message: error };
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context,
    ...(parentSpanId === undefined
      ? {}
      : { parentSpanContext: contextOf({ traceId, spanId: parentSpanId }) }),
    startTime: hrTime(start),
    endTime: hrTime(end),
    duration: hrTime(end - start),
    status,
    attributes: span.attributes,
    links: links.map(({ attributes, ...place }) => ({ context: contextOf(place), attributes })),
    events: events.map(({ name, at, attributes }) => ({ name, time: hrTime(at), attributes })),
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
