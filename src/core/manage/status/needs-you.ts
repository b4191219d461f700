import { checkFunction, checkKeys, checkWhole, keysOf } from "../../check-options.ts";
import { lastEvent, listed } from "../../journal/door.ts";
import { isKeyAway, isUnreadable } from "../../journal/unreadable.ts";
import { isAbout } from "../../journal/wait-reason.ts";
import type { Store } from "../../store/contract.ts";
import type { Run, RunRow, RunStatus, WaitKind } from "../../types.ts";
import { groupOf } from "../reports/error-groups.ts";
import { type Standing, standingOf } from "./standing.ts";

/** Why a run needs a person. */
export type NeedKind = (typeof NEED_KINDS)[number];

/**
 * The costliest wait first: what may already have happened outside and is remembered there for a limited time, what stands
 * still although it could go on, what only a person can decide, and what is safe as it is.
 */
export const NEED_KINDS = [
  "in doubt",
  "recovery loop",
  "stalled",
  "review",
  "gate",
  "budget",
  "held",
  "key",
  "migration",
  "failed",
] as const;

const OF_WAITS: Partial<Record<WaitKind, NeedKind>> = {
  decision: "in doubt",
  review: "review",
  gate: "gate",
  budget: "budget",
  content: "held",
  policy: "held",
  migration: "migration",
  key: "key",
};

/** A run that waits until a person does something. */
export interface Need {
  readonly kind: NeedKind;
  readonly run: Run;
  readonly standing: Standing;
  /** When the wait ends by itself, and not well: a gate that closes. */
  readonly until: number | null;
  /** The group of errors that a failed run belongs to; see `engine.reports.errors`. */
  readonly errorGroup: string | null;
}

export interface NeedsQuery {
  /** The number of needs to skip. */
  readonly from?: number;
  /** The most to return. Default 50. */
  readonly limit?: number;
  /** Only runs for which it returns true. */
  readonly where?: (run: Run) => boolean;
}

export interface NeedsPage {
  readonly needs: readonly Need[];
  /** The number of all, by kind. */
  readonly counts: Readonly<Record<NeedKind, number>>;
  readonly total: number;
  /** Where the next page begins; `null` on the last one. */
  readonly next: number | null;
  /** True when there are more runs than were looked at. */
  readonly more: boolean;
}

const LIMIT = 50;
const MOST = 200;
/** The most rows of each status that are looked at, newest first. */
const MOST_ROWS = 500;
const STATUSES: readonly RunStatus[] = ["waiting", "failed", "running", "queued"];

/** All runs that need a person, the costliest wait first. */
export async function needsYou(store: Store, query: NeedsQuery): Promise<NeedsPage> {
  checkKeys(query, keysOf<NeedsQuery>({ from: true, limit: true, where: true }));
  const from = checkWhole("from", query.from ?? 0, 0);
  const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
  const { where = () => true } = query;
  checkFunction("where", where);
  const now = await store.now();
  const pages = await Promise.all(
    STATUSES.map((status) => store.list({ status: [status], limit: MOST_ROWS })),
  );
  const found = pages
    .flatMap(({ runs }) => runs)
    .map(listed)
    .filter(where)
    .flatMap((row) => needOf(row, now) ?? [])
    .sort(byCost);
  const needs = (
    await Promise.all(found.slice(from, from + limit).map((one) => known(store, one, now)))
  ).filter(({ standing }) => standing.needsYou);
  const counts = Object.fromEntries(
    NEED_KINDS.map((kind) => [kind, found.filter((one) => one.kind === kind).length]),
  ) as Record<NeedKind, number>;
  return {
    needs,
    counts,
    total: found.length,
    next: from + limit < found.length ? from + limit : null,
    more: pages.some(({ cursor }) => cursor !== null),
  };
}

/** What a run needs, as far as its row tells; `null` when it goes on by itself. */
export function needOf(run: RunRow, now: number): (Need & { readonly run: RunRow }) | null {
  const standing = standingOf(run, now);
  if (!standing.needsYou) return null;
  const kind = kindOf(standing);
  const errorGroup = kind === "failed" ? groupOf(run) : null;
  return { kind, run, standing, until: standing.wait?.until ?? null, errorGroup };
}

function kindOf({ stalled, wait }: Standing): NeedKind {
  if (stalled) return "stalled";
  // Its workers died as often as the policy allows.
  if (wait && isAbout(wait, "HF-2108")) return "recovery loop";
  return (wait && OF_WAITS[wait.kind]) ?? "failed";
}

/** What closes soonest comes first, then what has waited longest. */
const byCost = (a: Need, b: Need): number =>
  NEED_KINDS.indexOf(a.kind) - NEED_KINDS.indexOf(b.kind) ||
  (a.until ?? Infinity) - (b.until ?? Infinity) ||
  a.standing.since - b.standing.since ||
  (a.run.id < b.run.id ? -1 : 1);

/** A failed run that was undone can't be resumed; only its journal tells. */
async function known(store: Store, need: Need & { readonly run: RunRow }, now: number): Promise<Need> {
  if (need.kind !== "failed") return need;
  try {
    const event = await lastEvent(store, need.run, ["run_failed"]);
    const undone = event?.kind === "run_failed" && event.meta.compensated === true;
    return undone ? { ...need, standing: standingOf(need.run, now, { undone }) } : need;
  } catch (error) {
    if (isUnreadable(error) || isKeyAway(error)) return need;
    throw error;
  }
}
