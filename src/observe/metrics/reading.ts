import type { Engine } from "../../core/engine/engine.ts";
import type { SloReport } from "../../core/manage/slo/slo.ts";
import type { Labels, LabelValues, Metric, MetricSpec, Point } from "./registry.ts";
import { READ } from "./specs.ts";

/** The parts of an engine that figures are read from. */
export type MeasuredEngine = Pick<Engine, "health" | "reports" | "queues" | "workers" | "slo">;

/** Gathers points, and adds up those whose labels have become the same. */
class Gauges {
  readonly #values: LabelValues;
  readonly #found = new Map<MetricSpec, Map<string, { labels: Labels; value: number }>>();

  constructor(values: LabelValues) {
    this.#values = values;
  }

  add(spec: MetricSpec, labels: Labels, value: number | null): void {
    if (value === null) return;
    const bounded = this.#values.bounded(labels);
    const points = this.#found.get(spec) ?? new Map<string, { labels: Labels; value: number }>();
    this.#found.set(spec, points);
    const key = JSON.stringify(bounded);
    points.set(key, { labels: bounded, value: (points.get(key)?.value ?? 0) + value });
  }

  get metrics(): Metric[] {
    return [...this.#found].map(([spec, points]) => ({
      spec,
      points: [...points.values()] as readonly Point[],
    }));
  }
}

/** What this process knows without asking anybody. */
export function ownFigures(
  engine: Pick<MeasuredEngine, "health">,
  info: Labels,
  values: LabelValues,
): Metric[] {
  const { store, runs, worker } = engine.health();
  const gauges = new Gauges(values);
  gauges.add(READ.info, info, 1);
  gauges.add(READ.up, {}, store.state === "ok" ? 1 : 0);
  gauges.add(READ.running, { state: "working" }, worker.running - worker.waiting);
  gauges.add(READ.running, { state: "waiting" }, worker.waiting);
  gauges.add(READ.unsaved, {}, runs.length);
  return gauges.metrics;
}

/** What the store knows. Each part is left out when it can't be read, so that the others are still there. */
export async function storeFigures(
  engine: MeasuredEngine,
  size: (() => Promise<number>) | undefined,
  values: LabelValues,
): Promise<Metric[]> {
  const gauges = new Gauges(values);
  const parts = [
    countRuns(engine, gauges),
    needs(engine, gauges),
    queues(engine, gauges),
    engine.workers
      .list()
      .then((all) => gauges.add(READ.workers, {}, all.filter(({ isStale }) => !isStale).length)),
    engine.slo.report().then((report) => objectives(report, gauges)),
    Promise.resolve(size?.()).then((bytes) => bytes !== undefined && gauges.add(READ.storage, {}, bytes)),
  ];
  await Promise.allSettled(parts);
  return gauges.metrics;
}

async function countRuns({ reports }: MeasuredEngine, gauges: Gauges): Promise<void> {
  const { each, more } = await reports.counts();
  for (const { workflow, status, count } of each) gauges.add(READ.runs, { workflow, status }, count);
  gauges.add(READ.truncated, {}, more ? 1 : 0);
}

async function needs({ reports }: MeasuredEngine, gauges: Gauges): Promise<void> {
  const { counts } = await reports.needsYou({ limit: 1 });
  for (const [need, count] of Object.entries(counts)) gauges.add(READ.needs, { need }, count);
}

async function queues({ queues: all, reports }: MeasuredEngine, gauges: Gauges): Promise<void> {
  for (const { name } of await all.list()) {
    const { running, waiting } = await reports.queue(name);
    gauges.add(READ.queueDepth, { queue: name }, waiting);
    gauges.add(READ.queueRunning, { queue: name }, running);
  }
}

function objectives({ objectives: all, runs }: SloReport, gauges: Gauges): void {
  for (const { name: objective, value, goal, alarm, state } of all) {
    gauges.add(READ.slo, { objective }, value);
    gauges.add(READ.sloGoal, { objective }, goal ?? null);
    gauges.add(READ.sloAlarm, { objective }, alarm ?? null);
    gauges.add(READ.sloState, { objective, state }, 1);
  }
  const { completed, failed, recoveries, unrecovered } = runs;
  const lost = recoveries + unrecovered;
  gauges.add(READ.completion, {}, completed + failed === 0 ? null : completed / (completed + failed));
  gauges.add(READ.success, {}, lost === 0 ? null : recoveries / lost);
}
