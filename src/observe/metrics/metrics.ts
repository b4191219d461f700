import { type Clock, systemClock } from "../../core/clock.ts";
import type { Observable } from "../../core/journal/observer.ts";
import { counting } from "./counting.ts";
import { prometheusText } from "./prometheus.ts";
import { type MeasuredEngine, ownFigures, storeFigures } from "./reading.ts";
import { type Metric, Registry } from "./registry.ts";

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** How long figures from the store are used again before they are read anew. Default 10 s. */
  readonly cacheMs?: number;
  readonly clock?: Clock;
}

/** An engine with its store: what is read when somebody asks for figures. */
export interface Measured {
  readonly engine: MeasuredEngine;
  readonly store: { readonly name: string; readonly size?: () => Promise<number> };
}

/** Metrics of engines, for `createEngine({ observe })`. */
export interface Metrics extends Observable {
  /** What was counted here, and with an engine also what it and its store know. */
  read(measured?: Measured): Promise<readonly Metric[]>;
  /** The same in Prometheus' text format. */
  prometheus(measured?: Measured): Promise<string>;
}

const CACHE_MS = 10_000;

/**
 * Counts what engines do. `holdfast serve` and `holdfast worker` have one of their own; use it to serve figures of an engine in
 * your own process. No package has to be installed for it.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { createMetrics } from "holdfast/observe";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const metrics = createMetrics();
 * const store = await openSqliteStore();
 * const engine = createEngine({ store, observe: metrics });
 * export const scrape = (): Promise<string> => metrics.prometheus({ engine, store });
 * ```
 */
export function createMetrics({ cacheMs = CACHE_MS, clock = systemClock }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const recent = new WeakMap<object, { readonly at: number; readonly figures: Promise<Metric[]> }>();
  /** Several scrapes at once read the store once. */
  const fromStore = ({ engine, store }: Measured): Promise<Metric[]> => {
    const known = recent.get(engine);
    const now = clock.monotonic();
    if (known && now - known.at < cacheMs) return known.figures;
    const figures = storeFigures(engine, store.size?.bind(store), registry.values);
    recent.set(engine, { at: now, figures });
    return figures;
  };
  const read = async (measured?: Measured): Promise<readonly Metric[]> => {
    if (!measured) return registry.collect();
    const { engine, store } = measured;
    const stored = await fromStore(measured);
    return [...ownFigures(engine, { store: store.name }, registry.values), ...registry.collect(), ...stored];
  };
  return {
    observe: (engine) => counting(registry, engine),
    read,
    prometheus: async (measured) => prometheusText(await read(measured)),
  };
}
