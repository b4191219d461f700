export type { Observable, ObservedCall, ObservedEngine, Observer } from "../core/journal/observer.ts";
export { createMetrics, type Measured, type Metrics, type MetricsOptions } from "./metrics/metrics.ts";
export { exportMetrics, type MetricExport, type MetricExportOptions } from "./otel/metric-export.ts";
export { openTracing, type SpanProcessorLike, type Tracing, type TracingOptions } from "./otel/tracing.ts";
export { openTelemetry, type Telemetry } from "./telemetry.ts";
