import { checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { digest } from "../../hash.ts";
import { lastEvent } from "../../journal/load.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import type { ReportQuery } from "./period.ts";

/** Runs that have failed in the same way: of one workflow, with errors that differ only in numbers, ids and quoted names. */
export interface ErrorGroup {
  /** Equal for the same group at any time; `engine.list` finds the runs of a group by it. */
  readonly id: string;
  readonly workflow: string;
  /** The steps that the newest of them failed on. */
  readonly steps: readonly string[];
  /** The code that the error begins with, such as `HF-2101`; `null` when it has none. */
  readonly code: string | null;
  /** The message with what differs replaced by `…`. */
  readonly shape: string;
  /** The newest message as it is. */
  readonly message: string;
  readonly count: number;
  /** How many of them failed in each of 24 equal parts of the report's time. */
  readonly overTime: readonly number[];
  /** When the first and the last of them failed. */
  readonly first: number;
  readonly newest: number;
  /** The newest runs, at most ten. */
  readonly examples: readonly string[];
}

export interface ErrorQuery extends ReportQuery {
  /** The most runs to look at, newest first. Default 2,000. */
  readonly limit?: number;
}

export interface ErrorReport {
  readonly groups: readonly ErrorGroup[];
  /** The number of failed runs that were looked at, and whether there are more. */
  readonly runs: number;
  readonly more: boolean;
  /** The time that it is about: as asked for, or else from the first failure on, and until now. */
  readonly from: number;
  readonly to: number;
}

const PARTS = 24;
const LIMIT = 2_000;
const EXAMPLES = 10;

export async function errorReport(store: Store, query: ErrorQuery): Promise<ErrorReport> {
  const limit = checkWhole("limit", query.limit ?? LIMIT);
  const { since = 0, until = Number.POSITIVE_INFINITY, workflow } = query;
  const groups = new Map<string, RunRow[]>();
  let runs = 0;
  let more = false;
  for await (const row of everyRun(store, { status: ["failed"], ...defined({ workflow }) })) {
    if (row.updatedAt < since || row.createdAt >= until) continue;
    if (runs === limit) {
      more = true;
      break;
    }
    runs++;
    const id = groupOf(row);
    const group = groups.get(id);
    if (group) group.push(row);
    else groups.set(id, [row]);
  }
  const to = Math.min(until, await store.now());
  const all = [...groups.values()].flat();
  const from = since > 0 ? since : all.reduce((first, { updatedAt }) => Math.min(first, updatedAt), to);
  return { groups: await described(store, groups, { from, to }), runs, more, from, to };
}

interface Time {
  readonly from: number;
  readonly to: number;
}

function overTime(rows: readonly RunRow[], { from, to }: Time): readonly number[] {
  const parts = Array.from({ length: PARTS }, () => 0);
  const each = Math.max(1, to - from) / PARTS;
  for (const { updatedAt } of rows) {
    const part = Math.min(PARTS - 1, Math.max(0, Math.floor((updatedAt - from) / each)));
    parts[part] = (parts[part] ?? 0) + 1;
  }
  return parts;
}

async function described(
  store: Store,
  groups: ReadonlyMap<string, readonly RunRow[]>,
  time: Time,
): Promise<ErrorGroup[]> {
  const found: ErrorGroup[] = [];
  for (const [id, rows] of groups) {
    const sorted = [...rows].sort((a, b) => b.updatedAt - a.updatedAt);
    const [newest] = sorted;
    if (!newest) continue;
    const message = newest.error ?? "";
    found.push({
      id,
      workflow: newest.workflow,
      steps: await stepsOf(store, newest),
      code: /\bHF-\d{4}\b/.exec(message)?.[0] ?? null,
      shape: shapeOf(message),
      message,
      count: rows.length,
      overTime: overTime(rows, time),
      first: sorted.at(-1)?.updatedAt ?? newest.updatedAt,
      newest: newest.updatedAt,
      examples: sorted.slice(0, EXAMPLES).map(({ id }) => id),
    });
  }
  return found.sort((a, b) => b.newest - a.newest);
}

async function stepsOf(store: Store, row: RunRow): Promise<readonly string[]> {
  const event = await lastEvent(store, row, ["run_failed"]).catch(() => undefined);
  return event?.kind === "run_failed" ? event.meta.steps : [];
}

/** The id of the group that a failed run belongs to. */
export const groupOf = ({ workflow, error }: Pick<RunRow, "workflow" | "error">): string =>
  digest(`${workflow}\n${shapeOf(error ?? "")}`).slice(0, 16);

const VARIES =
  /"[^"]{0,200}"|'[^']{0,200}'|\b[0-9a-f]{8}-[0-9a-f-]{20,40}\b|\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b|\d+/gi;

/** A message without what differs from run to run. Codes of errors stay. */
export const shapeOf = (message: string): string =>
  message
    .split(/(HF-\d{4})/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(VARIES, "…")))
    .join("");
