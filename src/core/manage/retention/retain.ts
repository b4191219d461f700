import { checkKeys, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { checkAct } from "../../journal/act.ts";
import { isBeingDropped } from "../../journal/dropped.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { once } from "../../once.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow, RunStatus } from "../../types.ts";
import { checkArchiveTable } from "./archives.ts";
import { limitCopies } from "./cache.ts";
import { forksInUse } from "./erase.ts";
import type { PolicyRules, RetentionOptions } from "./policy.ts";
import { ReportDraft, type RetentionReport, trimming } from "./report.ts";
import { due, type Pass, RunPruner } from "./run.ts";
import { sharesOf } from "./shares.ts";
import { unhurried } from "./store.ts";

const OPTIONS = ["workflow", "run", "limit", "batch", "signal", "actor", "reason"];

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
