import { HoldfastError } from "../../errors.ts";
import type { Act } from "../../journal/act.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { onDemand } from "../../on-demand.ts";
import type { Documents } from "../../store/documents.ts";
import type { Histogram } from "../../store/histogram.ts";
import type { WriteClock } from "../../store/write-times.ts";
import { Figures } from "./figures.ts";
import type { RunFigures, RunMeasure } from "./measure.ts";
import {
  changedTarget,
  type KnownTarget,
  type SetTarget,
  SLO_NAMES,
  SLOS,
  type SloKind,
  type SloName,
  type TargetChange,
  targetsKept,
} from "./targets.ts";

/** One objective: what was measured, beside its target. */
export interface SloFigure extends SloKind, KnownTarget {
  readonly name: SloName;
  /** `null` when there was nothing to measure. */
  readonly value: number | null;
  /** The number of writes, recoveries, runs or probes that it is about. */
  readonly measured: number;
  /** `watched`: it has no goal. */
  readonly state: "met" | "missed" | "alarm" | "unknown" | "watched";
  /** The share of what may go wrong that hasn't yet; below 0 when more has. `null` without a goal or a figure. */
  readonly budgetLeft: number | null;
}

export interface SloReport {
  readonly at: number;
  readonly objectives: readonly SloFigure[];
  /** False when at least one goal is missed. */
  readonly ok: boolean;
  readonly runs: Pick<RunFigures, "completed" | "failed" | "completedAfterRecovery" | "looked" | "more"> & {
    readonly recoveries: number;
    /** Runs whose worker is lost and that nobody has taken over. */
    readonly unrecovered: number;
    readonly costAfterRecovery: number | null;
  };
  /** Failed attempts to write in the last hour, and the runs they were for. */
  readonly writeFailures: { readonly count: number; readonly runs: Readonly<Record<string, number>> };
  /** Probes of the store within 30 days that failed; the newest of them. */
  readonly probes: {
    readonly count: number;
    readonly failed: number;
    readonly failedAt: number | null;
    /** How long the store was away. */
    readonly awayMs: number;
  };
}

const DAY_MS = 86_400_000;

const measuring = onDemand(() => import("./measure.ts"));

/** What can be measured, and how much of the allowed failures is used: 1 is all of it. */
interface Measured {
  readonly value: number | null;
  readonly measured: number;
  readonly used: (goal: number) => number | null;
}

/**
 * Service levels: how fast and how reliable a store and its runs are, measured over all its processes.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function missed(engine: Engine): Promise<string[]> {
 *   const { objectives } = await engine.slo.report();
 *   return objectives.filter(({ state }) => state === "missed" || state === "alarm").map(({ name }) => name);
 * }
 * ```
 */
export class Slo {
  readonly #parts: EngineParts;
  readonly #figures: Figures;
  #measure: RunMeasure | undefined;
  readonly #targets: ReturnType<typeof targetsKept>;

  constructor(parts: EngineParts, writes: WriteClock) {
    this.#parts = parts;
    const documents = () => this.#documents();
    const newVersion = () => parts.ports.ids.token();
    this.#figures = new Figures(documents, newVersion, writes);
    this.#targets = targetsKept(documents, newVersion);
  }

  /** All objectives, measured now. */
  async report(): Promise<SloReport> {
    const now = await this.#parts.store.now();
    const targets = await this.targets();
    const { RunMeasure } = await measuring();
    this.#measure ??= new RunMeasure(this.#parts.store);
    const runs = await this.#measure.since(now - DAY_MS, now);
    const writes = await this.#figures.writes(now - SLOS.write.windowMs);
    const probes = await this.#figures.probes(now - SLOS.availability.windowMs);
    const of = measuredOf(runs, writes.histogram, probes, now);
    const objectives = SLO_NAMES.map((name) => judged(name, of[name], targets[name]));
    const { completed, failed, completedAfterRecovery, looked, more } = runs;
    return {
      at: now,
      objectives,
      ok: objectives.every(({ state }) => state !== "missed" && state !== "alarm"),
      runs: {
        completed,
        failed,
        completedAfterRecovery,
        looked,
        more,
        recoveries: runs.recoveries.length,
        unrecovered: runs.unrecovered.length,
        costAfterRecovery: mean(runs.costsAfterRecovery),
      },
      writeFailures: { count: writes.failures, runs: writes.failedRuns },
      probes: {
        count: probes?.probes ?? 0,
        failed: probes?.failed ?? 0,
        failedAt: probes?.failedAt ?? null,
        awayMs: probes?.awayMs ?? 0,
      },
    };
  }

  /** The targets: those of the requirements, unless somebody has set others. */
  async targets(): Promise<Readonly<Record<SloName, KnownTarget>>> {
    const set = new Map((await this.#targets.all()).map(({ key, value }) => [key, value]));
    return Object.fromEntries(
      SLO_NAMES.map((name): [SloName, KnownTarget] => {
        const found = set.get(name);
        const { goal, alarm, severity } = found ?? SLOS[name];
        return [name, { goal, alarm, severity, set: found ? { by: found.by, at: found.at } : null }];
      }),
    ) as Record<SloName, KnownTarget>;
  }

  /** Changes a target; parts that aren't given stay as they are. `null`: back to the built-in one. */
  async setTarget(name: SloName, change: TargetChange | null, act: Act = {}): Promise<KnownTarget> {
    const at = await this.#parts.store.now();
    // Checked before anything is read.
    changedTarget(name, SLOS[name] ?? SLOS.write, change ?? {}, act);
    await this.#targets.change(name, (current) => {
      if (change === null) return null;
      const target = changedTarget(name, current ?? SLOS[name], change, act);
      return { ...target, by: act.actor ?? null, at } satisfies SetTarget;
    });
    return (await this.targets())[name];
  }

  /** Counts whether the store has answered, for its availability. */
  probed(isAnswered: boolean): void {
    this.#figures.probed(this.#parts.ports.clock.now(), isAnswered);
  }

  /** Adds what this process has counted to the store's records. */
  async flush(): Promise<void> {
    await this.#figures.flush(await this.#parts.store.now());
  }

  #documents(): Documents {
    const { name, documents } = this.#parts.store;
    if (!documents) throw new HoldfastError("HF-6011", { what: "service levels", store: name });
    return documents;
  }
}

function measuredOf(
  runs: RunFigures,
  writes: Histogram,
  probes: Awaited<ReturnType<Figures["probes"]>>,
  now: number,
): Readonly<Record<SloName, Measured>> {
  const ended = runs.completed + runs.failed;
  return {
    write: {
      value: writes.percentile(0.95),
      measured: writes.count,
      used: (goal) => writes.shareAbove(goal) / 0.05,
    },
    // The month's budget is what counts: time without probes uses nothing of it.
    availability: probes
      ? {
          ...good(SLOS.availability.windowMs - probes.awayMs, SLOS.availability.windowMs),
          measured: probes.probes,
        }
      : NOTHING,
    completion: good(runs.completed, ended),
    recovery: recoveryOf(runs, now - SLOS.recovery.windowMs),
    "recovery-rate": average(ended === 0 ? null : runs.recoveries.length / ended, ended),
    iterations: average(mean(runs.iterations), runs.iterations.length),
    cost: average(mean(runs.costs), runs.costs.length),
  };
}

const NOTHING: Measured = { value: null, measured: 0, used: () => null };

/** A share of what went well. A goal of all leaves nothing to use up. */
const good = (well: number, all: number): Measured =>
  all === 0
    ? NOTHING
    : {
        value: well / all,
        measured: all,
        used: (goal) => (goal >= 1 ? (well === all ? 0 : null) : (1 - well / all) / (1 - goal)),
      };

const mean = (figures: readonly number[]): number | null =>
  figures.length === 0 ? null : figures.reduce((sum, one) => sum + one, 0) / figures.length;

const average = (value: number | null, measured: number): Measured =>
  value === null ? NOTHING : { value, measured, used: (goal) => (goal === 0 ? null : value / goal) };

/** The target is for each recovery, so the longest counts, and those that still aren't over count too. */
function recoveryOf({ recoveries, unrecovered }: RunFigures, since: number): Measured {
  const all = [...recoveries.flatMap(({ at, ms }) => (at < since ? [] : ms)), ...unrecovered];
  if (all.length === 0) return NOTHING;
  const longest = all.reduce((most, one) => Math.max(most, one), 0);
  return { value: longest, measured: all.length, used: (goal) => (goal === 0 ? null : longest / goal) };
}

function judged(name: SloName, { value, measured, used }: Measured, target: KnownTarget): SloFigure {
  const { unit, better, windowMs } = SLOS[name];
  const isPast = (line: number | null): boolean =>
    value !== null && line !== null && (better === "less" ? value > line : value < line);
  const { goal, alarm } = target;
  const isWatched = goal === null && alarm === null;
  const judged = isPast(alarm) ? "alarm" : isPast(goal) ? "missed" : "met";
  const state = isWatched ? "watched" : value === null ? "unknown" : judged;
  const spent = goal === null || value === null ? null : used(goal);
  const budgetLeft = spent === null ? null : 1 - spent;
  return { name, unit, better, windowMs, value, measured, ...target, state, budgetLeft };
}
