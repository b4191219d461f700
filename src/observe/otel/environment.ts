import { env } from "node:process";

/** The signals that OpenTelemetry's environment variables speak of. */
export type Signal = "TRACES" | "METRICS";

/** An own variable for the signal comes before the one for all. */
const settingOf = (signal: Signal, name: string): string | undefined =>
  env[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];

/** True when OTLP is sent as JSON, as asked for by `OTEL_EXPORTER_OTLP_PROTOCOL=http/json`. Default: protobuf. */
export const isJson = (signal: Signal): boolean => settingOf(signal, "PROTOCOL") === "http/json";

/** True when the environment names a receiver, and doesn't turn exports off. */
export const isWanted = (signal: Signal): boolean =>
  settingOf(signal, "ENDPOINT") !== undefined &&
  env["OTEL_SDK_DISABLED"]?.toLowerCase() !== "true" &&
  env[`OTEL_${signal}_EXPORTER`] !== "none";
