import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import { incidentsOf, type RecoveryIncident } from "../reports/recoveries.ts";

/** What the runs of the last day tell. */
export interface RunFigures {
  readonly completed: number;
  readonly failed: number;
  readonly completedAfterRecovery: number;
  /** Takeovers that are over: when, and how long after the loss was noticed. */
  readonly recoveries: readonly { readonly at: number; readonly ms: number }[];
  /** Runs that lost their worker and haven't been taken over: how long ago. */
  readonly unrecovered: readonly number[];
  /** Iterations of the runs that ended. */
  readonly iterations: readonly number[];
  /** Money of the runs that ended, where it is known. */
  readonly costs: readonly number[];
  /** The same of those that lost a worker. */
  readonly costsAfterRecovery: readonly number[];
  readonly looked: number;
  /** True when there are more runs than were looked at. */
  readonly more: boolean;
}

/** The most runs that are looked at, newest first. */
const MOST_RUNS = 5_000;

type Lists = "unrecovered" | "iterations" | "costs" | "costsAfterRecovery";
type Tally = { -readonly [K in keyof RunFigures]: K extends Lists ? number[] : RunFigures[K] } & {
  recoveries: { readonly at: number; readonly ms: number }[];
};

type Known = Map<string, { readonly seq: number; readonly incidents: readonly RecoveryIncident[] }>;

/** Reads what runs tell. Journals are read once: what they told is remembered until they grow. */
export class RunMeasure {
  readonly #store: Store;
  #known: Known = new Map();

  constructor(store: Store) {
    this.#store = store;
  }

  async since(since: number, now: number): Promise<RunFigures> {
    const tally: Tally = {
      completed: 0,
      failed: 0,
      completedAfterRecovery: 0,
      recoveries: [],
      unrecovered: [],
      iterations: [],
      costs: [],
      costsAfterRecovery: [],
      looked: 0,
      more: false,
    };
    const known: Known = new Map();
    for await (const row of everyRun(this.#store)) {
      tally.more = tally.looked === MOST_RUNS;
      if (tally.more) break;
      tally.looked++;
      if (row.updatedAt < since && row.finishedAt !== null) continue;
      const incidents = await this.#incidents(row);
      known.set(row.id, { seq: row.seq, incidents });
      count(tally, row, incidents, since, now);
    }
    this.#known = known;
    return tally;
  }

  async #incidents(row: RunRow): Promise<readonly RecoveryIncident[]> {
    const known = this.#known.get(row.id);
    if (known?.seq === row.seq) return known.incidents;
    return incidentsOf(this.#store, row).catch(() => []);
  }
}

function count(
  tally: Tally,
  row: RunRow,
  incidents: readonly RecoveryIncident[],
  since: number,
  now: number,
): void {
  const { status, claim, finishedAt, turns, usage } = row;
  tally.recoveries.push(
    ...incidents.flatMap(({ at, recoveryMs: ms }) => (at < since || ms === null ? [] : [{ at, ms }])),
  );
  // Its claim has ended, and nobody has taken it.
  if (status === "running" && claim.until > 0 && claim.until < now) tally.unrecovered.push(now - claim.until);
  if (finishedAt === null || finishedAt < since) return;
  if (status !== "completed" && status !== "failed") return;
  tally[status]++;
  const isRecovered = incidents.length > 0;
  if (status === "completed" && isRecovered) tally.completedAfterRecovery++;
  if (turns > 0) tally.iterations.push(turns);
  if (usage.costUsd > 0) {
    tally.costs.push(usage.costUsd);
    if (isRecovered) tally.costsAfterRecovery.push(usage.costUsd);
  }
}
