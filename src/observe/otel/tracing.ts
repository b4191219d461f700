import type { Context } from "@opentelemetry/api";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { badOption, checkKeys, checkMethod, keysOf } from "../../core/check-options.ts";
import type { Observable, ObservedCall, Observer } from "../../core/journal/observer.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Parent } from "../../core/types.ts";
import { isSampled, placeOf, stepSpanId, traceparentOf } from "../traces/ids.ts";
import type { Span } from "../traces/span.ts";
import { Tracer } from "../traces/tracer.ts";
import { isJson } from "./environment.ts";
import { peers } from "./peers.ts";
import { contextOf, readable } from "./readable.ts";
import { resourceOf } from "./resource.ts";

/** A span processor of OpenTelemetry's SDK, such as a `BatchSpanProcessor`. */
export interface SpanProcessorLike {
  onEnd(span: never): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Options of {@link openTracing}: where spans go, and how many. */
export interface TracingOptions {
  /**
   * Takes the spans. Default: a batch processor with an OTLP exporter over HTTP, set up by OpenTelemetry's own
   * environment variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_PROTOCOL` …).
   */
  readonly processor?: SpanProcessorLike;
  /** The share of traces that are exported, from 0 to 1. Every process chooses the same ones. Default 1. */
  readonly sample?: number;
  /** False exports the types of errors without their messages. Default true; what the engine redacts is redacted. */
  readonly messages?: boolean;
  /** The name of the service, unless `OTEL_SERVICE_NAME` says otherwise. Default `holdfast`. */
  readonly service?: string;
  readonly logger?: Logger;
}

/** Traces of runs, for `createEngine({ observe })`. */
export interface Tracing extends Observable {
  /** Exports what is finished. */
  flush(): Promise<void>;
  /** The same, and stops the processor. Close the engine first. */
  close(): Promise<void>;
}

/**
 * Exports the spans of runs: one trace for each run, across crashes, pauses and resumes. Needs `@opentelemetry/api`, and
 * without a `processor` the SDK and an exporter (HF-4108 says which).
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { openTracing } from "holdfast/observe";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const tracing = await openTracing({ service: "orders" });
 * export const engine = createEngine({ store: await openSqliteStore(), observe: tracing });
 * ```
 */
export async function openTracing(options: TracingOptions = {}): Promise<Tracing> {
  checkTracing(options);
  const { sample = 1, messages = true, logger = silentLogger } = options;
  const [api, resource] = await Promise.all([peers.api(), resourceOf(options.service)]);
  const processor = (options.processor ?? (await batched())) as SpanProcessor;
  const tracers = new Set<Tracer>();
  const failed = (error: unknown): void =>
    logger.warn("spans of a run could not be made", { error: String(error) });
  const out = (spans: readonly Span[]): void => {
    for (const span of spans) if (isSampled(span.traceId, sample)) processor.onEnd(readable(span, resource));
  };
  const settled = async (): Promise<void> => {
    for (const tracer of tracers) await tracer.idle();
  };
  return {
    observe(engine) {
      const tracer = new Tracer(engine, { out, messages, failed });
      tracers.add(tracer);
      return observerOf(tracer, api, sample);
    },
    async flush() {
      await settled();
      await processor.forceFlush();
    },
    async close() {
      await settled();
      await processor.shutdown();
    },
  };
}

type Api = Awaited<ReturnType<typeof peers.api>>;

function observerOf(tracer: Tracer, { context, trace, isSpanContextValid }: Api, sample: number): Observer {
  return {
    wrote: (run, events) => tracer.wrote(run, events),
    call<R>(call: ObservedCall, work: () => R): R {
      const { run, step, attempt } = call;
      const { traceId } = placeOf(run, call.trace);
      const place = { traceId, spanId: stepSpanId(run, step, attempt) };
      const inside: Context = trace.setSpanContext(
        context.active(),
        contextOf(place, isSampled(traceId, sample)),
      );
      return context.with(inside, work);
    },
    traceparent(parent: Parent | null) {
      const place = parent
        ? tracer.traceOf(parent.runId)?.placeOf(parent.step)
        : trace.getSpanContext(context.active());
      if (!place || !isSpanContextValid({ traceFlags: 0, ...place })) return undefined;
      return traceparentOf(place, isSampled(place.traceId, sample));
    },
  };
}

async function batched(): Promise<SpanProcessor> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    peers.traces(),
    peers.traceExporter(isJson("TRACES")),
  ]);
  return new BatchSpanProcessor(new OTLPTraceExporter());
}

function checkTracing(options: TracingOptions): void {
  checkKeys(
    options,
    keysOf<TracingOptions>({ processor: true, sample: true, messages: true, service: true, logger: true }),
  );
  const { processor, sample = 1 } = options;
  if (typeof sample !== "number" || !(sample >= 0 && sample <= 1))
    throw badOption("sample", "it must be a number from 0 to 1");
  for (const method of ["onEnd", "forceFlush", "shutdown"] as const)
    if (processor) checkMethod("processor", processor, method);
}
