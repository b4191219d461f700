export type { Observable, ObservedCall, ObservedEngine, Observer } from "../core/journal/observer.ts";
export type { LogLevel } from "../core/log-line.ts";
export { type JsonLoggerOptions, jsonLogger, type PinoLike, pinoLogger } from "./logs/json-logger.ts";
export { logEvents } from "./logs/log-events.ts";
export { createMetrics, type Measured, type Metrics, type MetricsOptions } from "./metrics/metrics.ts";
export { exportMetrics, type MetricExport, type MetricExportOptions } from "./otel/metric-export.ts";
export { openTracing, type SpanProcessorLike, type Tracing, type TracingOptions } from "./otel/tracing.ts";
export { openTelemetry, type Telemetry } from "./telemetry.ts";
