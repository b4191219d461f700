import { checkOneOf, checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { readRow } from "../../journal/positions.ts";
import { StepLog } from "../../journal/step-log.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import {
  type Account,
  accountOf,
  type Books,
  type Cost,
  costOf,
  Ledger,
  mergeBooks,
  newBooks,
} from "./costs.ts";
import { journalOf } from "./stories.ts";

export const COST_GROUPS = ["workflow", "step", "model", "label", "day"] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

export interface CostQuery {
  /** Only this run; without it, all runs. */
  readonly run?: string;
  readonly workflow?: string;
  /** Only runs created at this time or later. */
  readonly since?: number;
  /** At most this many runs, the newest. Default: all. */
  readonly limit?: number;
  /** How to group; `day`: by the day (UTC) on which runs were created. Default: by step for one run, by workflow for all. */
  readonly by?: CostGroup;
}

/** Tokens and money: spent, spent on failed attempts, and not spent again because runs went on instead of starting anew. */
export interface CostReport {
  readonly by: CostGroup;
  readonly total: Account;
  /** The most expensive first. */
  readonly groups: readonly (Account & { readonly name: string })[];
  readonly recovery: RecoveryEffect;
  /** True when the limit has left out older runs. */
  readonly more: boolean;
  /** For one run: what the runs it started have reported. */
  readonly children?: Cost;
}

/** What it is worth that interrupted runs went on (S1-66). */
export interface RecoveryEffect {
  /** The share of runs that were taken over or resumed; `null` without runs. */
  readonly interrupted: number | null;
  /**
   * What the runs would have cost if each of these had started from the beginning, as a multiple of what they cost: in
   * money, or in tokens where no price is known. `null` when nothing was used.
   */
  readonly withoutRecovery: number | null;
}

function effectOf({ runs, interrupted, costUsd, tokens, saved }: Books): RecoveryEffect {
  const [spent, more] = costUsd > 0 ? [costUsd, saved.costUsd] : [tokens, saved.tokens];
  return {
    interrupted: runs === 0 ? null : interrupted / runs,
    withoutRecovery: spent === 0 ? null : (spent + more) / spent,
  };
}

/** The labels of a run, which group its cost. */
export type LabelsOf = (row: RunRow) => Promise<Readonly<Record<string, string>>>;

export async function costReport(
  store: Store,
  query: CostQuery,
  labelsOf: LabelsOf = async ({ labels }) => labels,
): Promise<CostReport> {
  const by = checkOneOf("by", query.by ?? (query.run === undefined ? "workflow" : "step"), COST_GROUPS);
  const total = newBooks();
  const groups = new Map<string, Books>();
  const limit = checkWhole("limit", query.limit ?? Number.MAX_SAFE_INTEGER);
  let children: Cost | undefined;
  let more = false;
  for await (const row of chosen(store, query)) {
    more = total.runs === limit;
    if (more) break;
    const ledger = await ledgerOf(store, row);
    mergeBooks(total, ledger.total);
    if (query.run !== undefined) children = costOf(ledger.children);
    for (const [name, account] of await groupsOf(row, ledger, by, labelsOf)) {
      const group = groups.get(name) ?? newBooks();
      groups.set(name, group);
      mergeBooks(group, account);
    }
  }
  const sorted = [...groups].sort(([, a], [, b]) => b.costUsd - a.costUsd || b.tokens - a.tokens);
  return {
    by,
    total: accountOf(total),
    groups: sorted.map(([name, books]) => ({ name, ...accountOf(books) })),
    recovery: effectOf(total),
    more,
    ...defined({ children }),
  };
}

async function* chosen(store: Store, { run, workflow, since = 0 }: CostQuery): AsyncGenerator<RunRow> {
  if (run !== undefined) return yield await readRow(store, run);
  yield* everyRun(store, defined({ workflow, createdAfter: since > 0 ? since : undefined }));
}

/** The books of one run. */
export async function ledgerOf(store: Store, row: RunRow): Promise<Ledger> {
  const ledger = new Ledger();
  const log = new StepLog();
  for await (const event of journalOf(store, row)) ledger.take(event, log.take(event));
  ledger.total.runs = 1;
  ledger.total.interrupted = ledger.takeovers + ledger.resumes > 0 ? 1 : 0;
  return ledger;
}

async function groupsOf(
  row: RunRow,
  ledger: Ledger,
  by: CostGroup,
  labelsOf: LabelsOf,
): Promise<Iterable<readonly [string, Books]>> {
  if (by === "step") return ledger.bySteps;
  if (by === "model") return ledger.byModels;
  if (by === "workflow") return [[row.workflow, ledger.total]];
  if (by === "day") return [[new Date(row.createdAt).toISOString().slice(0, 10), ledger.total]];
  const names = Object.entries(await labelsOf(row)).map(([key, value]) => `${key}=${value}`);
  return (names.length === 0 ? ["(no label)"] : names).map((name) => [name, ledger.total] as const);
}
