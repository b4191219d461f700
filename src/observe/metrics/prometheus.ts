import type { HistogramValue, Labels, Metric, MetricSpec } from "./registry.ts";

/** The type of Prometheus' text format. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const UNITS = { "": "", s: "_seconds", By: "_bytes", USD: "_usd" } as const;

/** The name by Prometheus' rules: the unit in full, and `_total` for what only grows. */
export const prometheusName = ({ name, unit, kind }: Pick<MetricSpec, "name" | "unit" | "kind">): string =>
  `${name.replaceAll(".", "_")}${UNITS[unit]}${kind === "counter" ? "_total" : ""}`;

/** Metrics in Prometheus' text format. */
export const prometheusText = (metrics: readonly Metric[]): string =>
  metrics
    .filter(({ points }) => points.length > 0)
    .map(metricText)
    .join("");

function metricText({ spec, points }: Metric): string {
  const name = prometheusName(spec);
  const lines = points.flatMap(({ labels, value }) =>
    typeof value === "number"
      ? [`${name}${labelText(labels)} ${numberText(value)}`]
      : histogramLines(name, labels, value, spec.bounds ?? []),
  );
  return [`# HELP ${name} ${helpText(spec.help)}`, `# TYPE ${name} ${spec.kind}`, ...lines, ""].join("\n");
}

/** Buckets are cumulative. */
function histogramLines(
  name: string,
  labels: Labels,
  { count, sum, counts }: HistogramValue,
  bounds: readonly number[],
): string[] {
  let below = 0;
  const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
    below += counts[index] ?? 0;
    return `${name}_bucket${labelText({ ...labels, le: numberText(bound) })} ${below}`;
  });
  return [
    ...buckets,
    `${name}_sum${labelText(labels)} ${numberText(sum)}`,
    `${name}_count${labelText(labels)} ${count}`,
  ];
}

const numberText = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";

const helpText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${helpText(value).replaceAll('"', '\\"')}"`,
  );
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}
