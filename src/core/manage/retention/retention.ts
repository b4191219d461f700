import type { Act } from "../../journal/act.ts";
import { everyRun } from "../../journal/query.ts";
import type { EngineParts } from "../../parts.ts";
import type { Store } from "../../store.ts";
import type { RunRow } from "../../types.ts";
import { checkKeys, type RetentionPolicy, type RulesOf, readCount, readPolicy } from "./policy.ts";
import { ReportDraft, type RetentionReport } from "./report.ts";
import { due, type Pass, RunPruner } from "./run.ts";
import { unhurried } from "./store.ts";

export interface RetentionOptions extends Act {
  /** Only runs of this workflow. */
  readonly workflow?: string;
  /** Stop after so many runs have lost values. */
  readonly limit?: number;
  /** Entries and blobs dropped in one write. Default 500. */
  readonly batch?: number;
  /** Stops between two writes. What is left is dropped by the next call. */
  readonly signal?: AbortSignal;
}

const OPTIONS = ["workflow", "limit", "batch", "signal", "actor", "reason"];

/**
 * Drops values that a policy does not keep. Each write is an act on one run, on condition that the run is as it was read, and is recorded
 * in its journal (`values_dropped`). Headers stay, so the record of what happened still verifies. It may be broken off anywhere: what
 * should be kept is there, and the next call goes on.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const engine = createEngine({ store: await openSqliteStore() });
 * const { bytes } = await engine.retention.preview("default");
 * if (bytes > 1_000_000_000) await engine.retention.prune("default", { reason: "disk space" });
 * await engine.close();
 * ```
 */
export class Retention {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** What `prune` would do now. Changes nothing. */
  async preview(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return retain(this.#parts, readPolicy(policy), options, false);
  }

  /** Drops what the policy does not keep. */
  async prune(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return retain(this.#parts, readPolicy(policy), options, true);
  }
}

/** Goes through all runs once. `settled` is carried on by whoever does that often: runs that stand still need not be read again. */
export async function retain(
  parts: EngineParts,
  rulesOf: RulesOf,
  options: RetentionOptions,
  writes: boolean,
  settled = new Map<string, number>(),
): Promise<RetentionReport> {
  checkKeys(options, OPTIONS);
  const limit = options.limit === undefined ? Infinity : readCount("limit", options.limit);
  const batch = readCount("batch", options.batch ?? 500);
  const store = unhurried(parts.store, parts.ports.clock);
  const now = await parts.time.read();
  const spared = await sparedRuns(store, rulesOf, options);
  const report = new ReportDraft();
  const pass: Pass = { rulesOf, options, batch, now, spared, report, settled, writes };
  for await (const row of everyRun(store, { pruned: false, ...inWorkflow(options) })) {
    if (report.touched >= limit || options.signal?.aborted) report.complete = false;
    if (!report.complete) break;
    const { aged, trims } = due(pass, row);
    if (aged || trims.length > 0) await new RunPruner(parts, pass, row.id).work();
  }
  return report.finish();
}

const inWorkflow = ({ workflow }: RetentionOptions): { workflow?: string } =>
  workflow === undefined ? {} : { workflow };

/** The completed runs that are kept because they are the latest of their workflow. */
async function sparedRuns(
  store: Store,
  rulesOf: RulesOf,
  options: RetentionOptions,
): Promise<ReadonlySet<string>> {
  const latest = new Map<string, RunRow[]>();
  for await (const row of everyRun(store, { status: ["completed"], pruned: false, ...inWorkflow(options) })) {
    const { keepSuccessful = 0 } = rulesOf(row.workflow);
    if (keepSuccessful === 0) continue;
    const kept = [...(latest.get(row.workflow) ?? []), row].sort(byEnd);
    latest.set(row.workflow, kept.slice(0, keepSuccessful));
  }
  return new Set([...latest.values()].flat().map(({ id }) => id));
}

/** The latest to end first. */
const byEnd = (a: RunRow, b: RunRow): number =>
  (b.finishedAt ?? 0) - (a.finishedAt ?? 0) || (a.id < b.id ? 1 : -1);
