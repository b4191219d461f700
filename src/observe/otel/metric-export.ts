import type { MetricData, MetricProducer } from "@opentelemetry/sdk-metrics";
import type { Measured, Metrics } from "../metrics/metrics.ts";
import type { Metric } from "../metrics/registry.ts";
import { isJson } from "./environment.ts";
import { peers } from "./peers.ts";
import { hrTime, SCOPE } from "./readable.ts";
import { resourceOf } from "./resource.ts";

/** Options of {@link exportMetrics}: what is sent, where and how often. */
export interface MetricExportOptions {
  /** Whose figures are sent besides what was counted. */
  readonly measured?: Measured;
  /** The name of the service, unless `OTEL_SERVICE_NAME` says otherwise. Default `holdfast`. */
  readonly service?: string;
  /** How often. Default: `OTEL_METRIC_EXPORT_INTERVAL`, or a minute. */
  readonly intervalMs?: number;
}

/** Metrics that are sent now and again. */
export interface MetricExport {
  flush(): Promise<void>;
  /** Sends once more, and stops. */
  close(): Promise<void>;
}

/** The numbers of OpenTelemetry's SDK for these words. */
const CUMULATIVE = 1;
const POINT = { histogram: 0, gauge: 2, counter: 3 } as const;
const DOUBLE = 1;

/**
 * Sends metrics to an OTLP receiver over HTTP, set up by OpenTelemetry's own environment variables. Needs
 * `@opentelemetry/api`, `resources`, `sdk-metrics` and an exporter (HF-4108 says which).
 *
 * @example
 * ```ts
 * import { createMetrics, exportMetrics } from "holdfast/observe";
 *
 * export const metrics = createMetrics();
 * export const sending = await exportMetrics(metrics, { service: "orders" });
 * ```
 */
export async function exportMetrics(
  metrics: Metrics,
  options: MetricExportOptions = {},
): Promise<MetricExport> {
  const { measured, intervalMs } = options;
  const [sdk, exporters, resource] = await Promise.all([
    peers.metrics(),
    peers.metricExporter(isJson("METRICS")),
    resourceOf(options.service),
  ]);
  const start = Date.now();
  const producer: MetricProducer = {
    async collect() {
      const all = await metrics.read(measured);
      const data = all.filter(({ points }) => points.length > 0).map((one) => dataOf(one, start, Date.now()));
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: SCOPE, metrics: data }] }, errors: [] };
    },
  };
  const every = intervalMs ?? Number(process.env["OTEL_METRIC_EXPORT_INTERVAL"] ?? 60_000);
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new exporters.OTLPMetricExporter(),
    exportIntervalMillis: every,
    exportTimeoutMillis: Math.min(every, 30_000),
    metricProducers: [producer],
  });
  const provider = new sdk.MeterProvider({ resource, readers: [reader] });
  return { flush: () => provider.forceFlush(), close: () => provider.shutdown() };
}

function dataOf({ spec, points }: Metric, start: number, end: number): MetricData {
  const { name, help: description, unit, kind, bounds = [] } = spec;
  const common = {
    descriptor: { name, description, unit, valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
    dataPointType: POINT[kind],
    isMonotonic: true,
    dataPoints: points.map(({ labels, value }) => ({
      startTime: hrTime(start),
      endTime: hrTime(end),
      attributes: { ...labels },
      value:
        typeof value === "number"
          ? value
          : {
              count: value.count,
              sum: value.sum,
              buckets: { boundaries: [...bounds], counts: [...value.counts] },
            },
    })),
  };
  // The SDK's enumerations are numbers; loading them here would load the SDK with the types.
  return common as unknown as MetricData;
}
