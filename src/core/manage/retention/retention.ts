import { checkKeys, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { checkId } from "../../ids.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import { isBeingDropped } from "../../journal/dropped.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { Run, RunRow, RunStatus } from "../../types.ts";
import { checkArchiveTable } from "./archives.ts";
import { limitCopies } from "./cache.ts";
import { forksInUse, type Tombstone, tombstones } from "./erase.ts";
import { pinRun } from "./pin.ts";
import { type PolicyRules, type RetentionOptions, type RetentionPolicy, readPolicy } from "./policy.ts";
import { ReportDraft, type RetentionReport, trimming } from "./report.ts";
import { due, type Pass, RunPruner } from "./run.ts";
import { sharesOf } from "./shares.ts";
import { unhurried } from "./store.ts";

const OPTIONS = ["workflow", "run", "limit", "batch", "signal", "actor", "reason"];

/**
 * Drops values that a policy doesn't keep. Each write is an act on one run, on condition that the run is unchanged
 * since it was read, and is recorded in its journal (`values_dropped`). Heads stay, so the record of what happened
 * still verifies. It may be interrupted anywhere: whatever should be kept is there, and the next call continues.
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

  /** Predicts what `prune` would do now. Changes nothing. */
  async preview(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return retain(this.#parts, readPolicy(policy), options, false);
  }

  /** Drops what the policy does not keep. */
  async prune(policy: RetentionPolicy, options: RetentionOptions = {}): Promise<RetentionReport> {
    return retain(this.#parts, readPolicy(policy), options, true);
  }

  /** The deletions on record, oldest first: those for which a tombstone was left. */
  deleted(): AsyncGenerator<Tombstone, void, undefined> {
    return tombstones(this.#parts);
  }

  /** Keeps all values of a run and of the runs below it, for all checkpoints, regardless of any policy. */
  async pin(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    return pinRun(this.#parts, runId, true, act);
  }

  /** Makes the run subject to policies again. Individually pinned checkpoints stay pinned. */
  async unpin(runId: string, act: Act = {}): Promise<Run> {
    checkId(runId);
    return pinRun(this.#parts, runId, false, act);
  }
}

/** Goes through all runs once. Repeated callers pass `settled` on, so that unchanged runs need not be read again. */
export async function retain(
  parts: EngineParts,
  rules: PolicyRules,
  options: RetentionOptions,
  writes: boolean,
  settled = new Map<string, number>(),
): Promise<RetentionReport> {
  checkKeys(options, OPTIONS);
  checkAct(options);
  const limit = options.limit === undefined ? Infinity : checkWhole("limit", options.limit);
  const batch = checkWhole("batch", options.batch ?? 500);
  checkArchiveTable(parts.store, rules);
  const report = new ReportDraft(limitCopies(parts.store, rules, writes));
  const status = concerned(rules);
  if (status?.length === 0) return report.finish();
  const store = unhurried(parts.store, parts.ports.clock);
  const now = await parts.time.read();
  const spared = once(() => sparedRuns(store, rules, options));
  const forks = once(() => forksInUse(parts));
  const shares = byName((workflow) => sharesOf(store, workflow, rules.of(workflow).keepLast ?? Infinity));
  const pass: Pass = { rules, options, batch, now, spared, forks, shares, report, settled, writes };
  // Records without values are of interest only where runs are deleted.
  const deletes = rules.every.some(({ onExpiry }) => onExpiry === "delete");
  const which = { ...(deletes ? {} : { pruned: false }), ...(status ? { status } : {}) };
  const seen = new Set<string>();
  const rows =
    options.run === undefined
      ? everyRun(store, { ...which, ...inWorkflow(options) })
      : oneRun(store, options.run, options.workflow, rules);
  for await (const row of rows) {
    if (report.touched >= limit || options.signal?.aborted) report.complete = false;
    if (!report.complete) break;
    seen.add(row.id);
    const { aged, trims } = due(pass, row);
    if (aged || (trims.length > 0 && (await mayExceed(pass, row))))
      await new RunPruner(parts, pass, row.id).work();
  }
  // Another process may have dropped the rest.
  if (report.complete && options.run === undefined)
    for (const id of settled.keys()) if (!seen.has(id)) settled.delete(id);
  return report.finish();
}

/** One run and, where checkpoints are counted by workflow, the others of its workflow. */
async function* oneRun(
  store: Store,
  runId: string,
  workflow: string | undefined,
  rules: PolicyRules,
): AsyncGenerator<RunRow> {
  const row = await store.read(runId);
  if (!row || (workflow !== undefined && row.workflow !== workflow)) return;
  yield row;
  if (rules.of(row.workflow).keepPer !== "workflow") return;
  for await (const other of everyRun(store, { workflow: row.workflow, pruned: false }))
    if (other.id !== runId) yield other;
}

/** Saves examining runs that keep all they have. */
async function mayExceed({ rules, shares }: Pass, { id, workflow }: RunRow): Promise<boolean> {
  const { keepPer, keepPerPhase } = rules.of(workflow);
  if (keepPer !== "workflow" || keepPerPhase !== undefined) return true;
  const share = (await shares(workflow)).get(id);
  return share === undefined || share.listed > share.left;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= work());
}

function byName<T>(work: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const done = new Map<string, Promise<T>>();
  return (name) => {
    const known = done.get(name) ?? work(name);
    done.set(name, known);
    return known;
  };
}

const inWorkflow = ({ workflow }: RetentionOptions): { workflow?: string } => defined({ workflow });

/** The statuses of runs that may have to lose something, `null` for all, so that the store need not list the others. */
function concerned({ every }: PolicyRules): readonly RunStatus[] | null {
  if (every.some((rules) => trimming(rules).length > 0)) return null;
  return [
    ...(every.some(({ maxAge }) => maxAge !== undefined) ? (["completed", "cancelled"] as const) : []),
    ...(every.some(({ failedMaxAge }) => failedMaxAge !== undefined) ? (["failed"] as const) : []),
  ];
}

/**
 * The completed runs that are kept as the latest of their workflow. A run that is already being dropped doesn't count.
 */
async function sparedRuns(
  store: Store,
  rules: PolicyRules,
  options: RetentionOptions,
): Promise<ReadonlySet<string>> {
  const spared = new Set<string>();
  if (!rules.every.some(({ keepSuccessful = 0 }) => keepSuccessful > 0)) return spared;
  const found = new Map<string, Finished[]>();
  for await (const row of everyRun(store, { status: ["completed"], pruned: false, ...inWorkflow(options) })) {
    const { id, workflow, finishedAt } = row;
    if ((rules.of(workflow).keepSuccessful ?? 0) === 0) continue;
    const runs = found.get(workflow) ?? [];
    runs.push({ id, at: finishedAt ?? 0 });
    found.set(workflow, runs);
  }
  for (const [workflow, runs] of found) {
    let left = rules.of(workflow).keepSuccessful ?? 0;
    for (const { id } of runs.sort(byEnd)) {
      if (left === 0) break;
      if (await isBeingDropped(store, id)) continue;
      spared.add(id);
      left--;
    }
  }
  return spared;
}

interface Finished {
  readonly id: string;
  readonly at: number;
}

/** The latest to end first. */
const byEnd = (a: Finished, b: Finished): number => b.at - a.at || (a.id < b.id ? 1 : -1);
