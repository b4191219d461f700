import { loadPackage } from "../../adapters/load-package.ts";

const USER = "OpenTelemetry";

/** The packages of OpenTelemetry. Each is installed beside Holdfast by whoever exports something, and loaded when needed. */
export const peers = {
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
