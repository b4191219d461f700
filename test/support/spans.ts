import { isDeepStrictEqual } from "node:util";
import type { SpanProcessorLike } from "../../src/observe/index.ts";

/** What tests look at in an exported span, whatever exporter it came through. */
export interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly error: string | undefined;
}

interface Ended {
  readonly name: string;
  readonly spanContext: () => {
    readonly traceId: string;
    readonly spanId: string;
    readonly traceFlags: number;
  };
  readonly parentSpanContext?: { readonly spanId: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string };
  readonly startTime: readonly [number, number];
  readonly endTime: readonly [number, number];
  readonly links: readonly { readonly context: { readonly traceId: string; readonly spanId: string } }[];
  readonly events: readonly {
    readonly name: string;
    readonly attributes?: Readonly<Record<string, unknown>>;
  }[];
}

/** A processor that keeps what it is given. */
export function spanKeeper(): SpanProcessorLike & {
  readonly ended: Ended[];
  readonly seen: () => SeenSpan[];
} {
  const ended: Ended[] = [];
  return {
    ended,
    onEnd: (span: Ended) => void ended.push(span),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
    seen: () => ended.map(seenOf),
  };
}

export function seenOf(span: Ended): SeenSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanContext?.spanId,
    name: span.name,
    attributes: span.attributes,
    error: span.status.code === 2 ? span.status.message : undefined,
  };
}

/** Each span once. Fails when two spans have one id and different content. */
export function distinct<S extends { readonly spanId: string }>(spans: readonly S[]): S[] {
  const found = new Map<string, S>();
  for (const span of spans) {
    const before = found.get(span.spanId);
    if (before && !isDeepStrictEqual(before, span))
      throw new Error(`two spans have the id ${span.spanId}: ${JSON.stringify([before, span])}`);
    found.set(span.spanId, span);
  }
  return [...found.values()];
}

/** The spans of one trace as indented names. Fails when they are several traces, or when one has no parent among them. */
export function treeOf(spans: readonly Omit<SeenSpan, "attributes" | "error">[]): string[] {
  const all = distinct(spans);
  const traces = new Set(all.map(({ traceId }) => traceId));
  if (traces.size !== 1) throw new Error(`${traces.size} traces`);
  const ids = new Set(all.map(({ spanId }) => spanId));
  const roots = all.filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId));
  if (roots.length !== 1)
    throw new Error(`${roots.length} roots: ${roots.map(({ name }) => name).join(", ")}`);
  const below = (id: string | undefined, depth: number): string[] =>
    all
      .filter((span) => (depth === 0 ? span === roots[0] : span.parentSpanId === id))
      .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)]);
  return below(undefined, 0);
}
