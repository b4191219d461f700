export type { Observable, ObservedCall, ObservedEngine, Observer } from "../core/journal/observer.ts";
export { openTracing, type SpanProcessorLike, type Tracing, type TracingOptions } from "./otel/tracing.ts";
