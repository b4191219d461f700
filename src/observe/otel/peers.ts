import type * as Api from "@opentelemetry/api";
import type * as MetricsAsJson from "@opentelemetry/exporter-metrics-otlp-http";
import type * as MetricsAsProtobuf from "@opentelemetry/exporter-metrics-otlp-proto";
import type * as TracesAsJson from "@opentelemetry/exporter-trace-otlp-http";
import type * as TracesAsProtobuf from "@opentelemetry/exporter-trace-otlp-proto";
import type * as Resources from "@opentelemetry/resources";
import type * as Metrics from "@opentelemetry/sdk-metrics";
import type * as Traces from "@opentelemetry/sdk-trace-base";
import { loadPackage } from "../../adapters/load-package.ts";

const USER = "OpenTelemetry";

// Written out, because declarations can't hold what is inferred here: classes with private members.
interface Peers {
  api(): Promise<typeof Api>;
  resources(): Promise<typeof Resources>;
  traces(): Promise<typeof Traces>;
  metrics(): Promise<typeof Metrics>;
  traceExporter(isJson: boolean): Promise<typeof TracesAsJson | typeof TracesAsProtobuf>;
  metricExporter(isJson: boolean): Promise<typeof MetricsAsJson | typeof MetricsAsProtobuf>;
}

/** The packages of OpenTelemetry. Each is installed beside Holdfast by whoever exports something, and loaded when needed. */
export const peers: Peers = {
  api: () => loadPackage("@opentelemetry/api", USER, () => import("@opentelemetry/api")),
  resources: () => loadPackage("@opentelemetry/resources", USER, () => import("@opentelemetry/resources")),
  traces: () =>
    loadPackage("@opentelemetry/sdk-trace-base", USER, () => import("@opentelemetry/sdk-trace-base")),
  metrics: () => loadPackage("@opentelemetry/sdk-metrics", USER, () => import("@opentelemetry/sdk-metrics")),
  traceExporter: async (isJson: boolean) =>
    isJson
      ? loadPackage(
          "@opentelemetry/exporter-trace-otlp-http",
          USER,
          () => import("@opentelemetry/exporter-trace-otlp-http"),
        )
      : loadPackage(
          "@opentelemetry/exporter-trace-otlp-proto",
          USER,
          () => import("@opentelemetry/exporter-trace-otlp-proto"),
        ),
  metricExporter: async (isJson: boolean) =>
    isJson
      ? loadPackage(
          "@opentelemetry/exporter-metrics-otlp-http",
          USER,
          () => import("@opentelemetry/exporter-metrics-otlp-http"),
        )
      : loadPackage(
          "@opentelemetry/exporter-metrics-otlp-proto",
          USER,
          () => import("@opentelemetry/exporter-metrics-otlp-proto"),
        ),
};
