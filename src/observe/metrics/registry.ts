/** What a metric measures, once for all exporters. Names follow OpenTelemetry; Prometheus' names are derived. */
export interface MetricSpec {
  /** Such as `holdfast.checkpoint.write.duration`. */
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  /** A unit of UCUM: `s`, `By`, `USD`; empty for plain numbers. */
  readonly unit: "" | "s" | "By" | "USD";
  readonly help: string;
  /** Of a histogram: the upper bounds of its buckets, ascending. */
  readonly bounds?: readonly number[];
}

export type Labels = Readonly<Record<string, string>>;

/** A histogram so far: `counts` has one more than the bounds, for everything above. */
export interface HistogramValue {
  readonly count: number;
  readonly sum: number;
  readonly counts: readonly number[];
}

export interface Point {
  readonly labels: Labels;
  readonly value: number | HistogramValue;
}

export interface Metric {
  readonly spec: MetricSpec;
  readonly points: readonly Point[];
}

/** How many values a label has before the rest becomes `other`. Names of workflows and models come from users. */
const MOST_VALUES = 100;
export const OTHER = "other";

/** Bounds the values of labels: the first hundred of each label keep their names, all later ones are `other`. */
export class LabelValues {
  readonly #known = new Map<string, Set<string>>();

  bounded(labels: Labels): Labels {
    return Object.fromEntries(
      Object.entries(labels).map(([name, value]) => [name, this.#value(name, value)] as const),
    );
  }

  #value(name: string, value: string): string {
    let known = this.#known.get(name);
    if (!known) this.#known.set(name, (known = new Set()));
    if (known.has(value)) return value;
    if (known.size >= MOST_VALUES) return OTHER;
    known.add(value);
    return value;
  }
}

interface Series {
  readonly labels: Labels;
  value: number;
  readonly counts: number[];
  sum: number;
}

/** Counts in memory. It knows nothing of exporters. */
export class Registry {
  readonly values = new LabelValues();
  readonly #metrics = new Map<MetricSpec, Map<string, Series>>();

  add(spec: MetricSpec, labels: Labels, by = 1): void {
    this.#series(spec, labels).value += by;
  }

  set(spec: MetricSpec, labels: Labels, to: number): void {
    this.#series(spec, labels).value = to;
  }

  record(spec: MetricSpec, labels: Labels, figure: number): void {
    const series = this.#series(spec, labels);
    const above = (spec.bounds ?? []).findIndex((bound) => figure <= bound);
    const bucket = above < 0 ? (spec.bounds?.length ?? 0) : above;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.value++;
    series.sum += figure;
  }

  collect(): Metric[] {
    return [...this.#metrics].map(([spec, all]) => ({
      spec,
      points: [...all.values()].map(({ labels, value, counts, sum }) => ({
        labels,
        value: spec.kind === "histogram" ? { count: value, sum, counts: [...counts] } : value,
      })),
    }));
  }

  #series(spec: MetricSpec, labels: Labels): Series {
    let all = this.#metrics.get(spec);
    if (!all) this.#metrics.set(spec, (all = new Map()));
    const bounded = this.values.bounded(labels);
    const key = JSON.stringify(bounded);
    let series = all.get(key);
    if (!series) {
      const counts = spec.bounds ? [...spec.bounds, 0].map(() => 0) : [];
      all.set(key, (series = { labels: bounded, value: 0, counts, sum: 0 }));
    }
    return series;
  }
}
