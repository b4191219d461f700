import type { Observable } from "../core/journal/observer.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { createMetrics, type Measured, type Metrics } from "./metrics/metrics.ts";
import { isWanted } from "./otel/environment.ts";
import { exportMetrics, type MetricExport } from "./otel/metric-export.ts";
import { openTracing } from "./otel/tracing.ts";

/** Metrics, and traces if the environment names a receiver for them. */
export interface Telemetry {
  readonly metrics: Metrics;
  /** For `createEngine({ observe })`. */
  readonly observe: readonly Observable[];
  /** Sends metrics, if the environment names a receiver for them. */
  begin(measured: Measured): Promise<void>;
  /** Sends what is left. Close the engine first. */
  close(): Promise<void>;
}

/**
 * What `holdfast serve` and `holdfast worker` use: metrics for Prometheus always, and OTLP over HTTP as soon as
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { openTelemetry } from "holdfast/observe";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const telemetry = await openTelemetry();
 * const store = await openSqliteStore();
 * const engine = createEngine({ store, observe: telemetry.observe });
 * await telemetry.begin({ engine, store });
 * ```
 */
export async function openTelemetry({
  logger = silentLogger,
}: {
  readonly logger?: Logger;
} = {}): Promise<Telemetry> {
  const metrics = createMetrics();
  const tracing = isWanted("TRACES") ? await openTracing({ logger }) : undefined;
  let sending: MetricExport | undefined;
  const failed = (error: unknown): void => logger.warn("telemetry was not sent", { error: String(error) });
  return {
    metrics,
    observe: tracing ? [metrics, tracing] : [metrics],
    async begin(measured) {
      if (isWanted("METRICS")) sending = await exportMetrics(metrics, { measured });
    },
    async close() {
      await Promise.all([tracing?.close().catch(failed), sending?.close().catch(failed)]);
    },
  };
}
