import {
  addUsage,
  COUNTED,
  NO_USAGE,
  type RunProjection,
  type RunRow,
  type Waiting,
  type WaitKind,
} from "../types.ts";
import type { EventKind, JournalEvent, Migrated } from "./events.ts";
import { isForeign } from "./foreign.ts";
import { dueAt } from "./going-on.ts";
import { isDropped, renamedKey } from "./rename.ts";
import { type Mutable, projectionOf, rowOf } from "./row-copy.ts";
import { usageOf } from "./spent.ts";

/**
 * Computes the run row from the journal: the effect of each event on status, wake time and totals. The owner and
 * outside acts use the same function, so a row can always be rebuilt from its events.
 */
export function projectAll(
  run: RunProjection,
  events: readonly JournalEvent[],
  hasParent: boolean,
): RunProjection {
  let next = worked(run, events);
  for (const event of events) next = project(next, event, hasParent);
  if (next.status !== "running" && next.activeAt !== null) next = { ...next, activeAt: null };
  return { ...next, updatedAt: events.at(-1)?.at ?? run.updatedAt };
}

/** A row after these events, still with its old claim and position. */
export const projectRow = (row: RunRow, events: readonly JournalEvent[]): Mutable<RunRow> =>
  rowOf(row, projectAll(projectionOf(row), events, row.parent !== null), row);

/** A row after an append. */
interface Advanced {
  readonly row: RunRow;
  /** True when nothing but the counts differs. */
  readonly isCounted: boolean;
}

/** The owner's row after these events, at its new position. Most appends begin and end steps, and copy it once. */
export function advanced(row: RunRow, events: readonly JournalEvent[], head: string): Advanced {
  const seq = row.seq + events.length;
  if (row.status !== "running" || row.activeAt === null || !events.every(isOrdinary)) {
    const run = projectAll(projectionOf(row), events, row.parent !== null);
    return { row: rowOf(row, run, { claim: row.claim, seq, head }), isCounted: differsInCounts(run, row) };
  }
  const [first] = events;
  const at = first?.at ?? row.updatedAt;
  let done = 0;
  for (const { kind } of events) if (kind === "step_completed") done++;
  const next = rowOf(row, row, { claim: row.claim, seq, head });
  if (done > 0) next.recoveries = 0;
  next.stepsDone = row.stepsDone + done;
  next.activeMs = row.activeMs + Math.max(0, at - row.activeAt);
  next.activeAt = at;
  next.updatedAt = at;
  return { row: next, isCounted: next.recoveries === row.recoveries };
}

/** True for the beginning of a call, and for its end without anything that is counted. */
const isOrdinary = (event: JournalEvent): boolean =>
  event.kind === "step_started"
    ? event.meta.type === "call"
    : event.kind === "step_completed" && event.meta.usage === undefined;

/** True when nothing but the counts differs. */
function differsInCounts(run: RunProjection, before: RunProjection): boolean {
  for (const field of UNCOUNTED) if (run[field] !== before[field]) return false;
  return true;
}

/** Events by others, which don't prove that the worker is alive. */
const OUTSIDE: ReadonlySet<EventKind> = new Set<EventKind>([
  "run_claimed",
  "run_resumed",
  "pause_requested",
  "cancel_requested",
  "act_noted",
  "values_read",
  "run_cancelled",
  "budget_set",
  "signal_received",
  "gate_answered",
  "child_finished",
  "step_resolved",
  "step_evidence",
  "checkpoint_tagged",
  "values_dropped",
  "runs_deleted",
  "key_wrapped",
  "run_imported",
  "import_accepted",
]);

/** Counts the time from one write of the worker to its next. */
function worked(run: RunProjection, [first]: readonly JournalEvent[]): RunProjection {
  if (run.activeAt === null || !first || OUTSIDE.has(first.kind)) return run;
  if (first.kind === "checkpoint_marked" && first.step === "") return run;
  const ms = Math.max(0, first.at - run.activeAt);
  return { ...run, activeMs: run.activeMs + ms, activeAt: first.at };
}

/** Due at once. Not this process's time, because the store's clock may be behind it. */
const NOW = 0;

/** Applies events about the run itself; all others concern its steps. */
function project(run: RunProjection, event: JournalEvent, hasParent: boolean): RunProjection {
  switch (event.kind) {
    case "run_claimed":
      return {
        ...run,
        status: "running",
        waiting: [],
        wakeAt: NOW,
        recoveries: event.meta.recovery,
        activeAt: event.at,
      };
    case "run_waiting":
      return { ...run, status: "waiting", waiting: event.meta.waiting, wakeAt: dueAt(event.meta.waiting) };
    case "run_released":
      return { ...run, status: "queued", wakeAt: NOW };
    case "pause_requested": {
      const told = { ...run, error: event.meta.reason ?? null };
      return run.status === "running" ? { ...told, control: "pausing" } : paused(told);
    }
    case "run_paused":
      return paused(run);
    case "run_resumed":
      // An accepted cancel stays one: only its undoing is resumed.
      if (run.control === "compensating") return { ...resumed(run), control: "compensating" };
      return run.status === "running" ? { ...run, control: "none", error: null } : resumed(run);
    case "cancel_requested":
      return { ...(run.status === "running" ? run : resumed(run)), control: "compensating" };
    case "run_completed":
    case "run_failed":
    case "run_cancelled":
      return ended(run, event, hasParent);
    case "family_told":
      return { ...run, wakeAt: null };
    default:
      return projectRecord(run, event);
  }
}

/** Applies events that record facts without changing the run's status. */
function projectRecord(run: RunProjection, event: JournalEvent): RunProjection {
  switch (event.kind) {
    case "run_forked":
      // The source's usage stays with the source.
      return {
        ...run,
        ...blank(run.version, run.schema),
        stepsDone: run.stepsDone,
        snapshotSeq: run.snapshotSeq,
      };
    case "run_imported":
      return event.meta.waiting
        ? { ...run, status: "waiting", waiting: event.meta.waiting, wakeAt: null }
        : run;
    case "import_accepted":
      return accepted(run, event.meta.paused ?? false);
    case "run_migrated":
      return migrated(run, event.meta);
    case "budget_set": {
      // Without its own limits, the event says that those of a run above were raised.
      const budget = Object.keys(event.meta).length === 0 ? run.budget : { ...run.budget, ...event.meta };
      return woken({ ...run, budget }, ofKind("budget"));
    }
    case "checkpoint_tagged":
      return { ...run, pinned: event.meta.pins > 0 };
    case "values_dropped":
      return event.meta.all ? { ...run, prunedAt: event.at } : run;
    case "snapshot_taken":
      return { ...run, snapshotSeq: event.seq };
    default:
      return projectStep(run, event);
  }
}

/** Renames what the run waits for; it continues when nothing can end the wait any more. */
function migrated(run: RunProjection, change: Migrated): RunProjection {
  const over = run.waiting.filter(({ kind, step }) => kind === "migration" || isDropped(step, change));
  const waiting = run.waiting.map((wait) =>
    over.includes(wait) ? wait : { ...wait, step: renamedKey(wait.step, change) },
  );
  const next = { ...run, version: change.to, schema: change.schema, waiting };
  return woken(next, (wait) => over.includes(wait));
}

/** Continues in the state in which it came: paused, if it was. */
function accepted(run: RunProjection, wasPaused: boolean): RunProjection {
  if (run.status !== "waiting" || !run.waiting.some(isForeign)) return run;
  if (wasPaused || run.control === "pausing") return paused(run);
  return { ...resumed(run), control: run.control };
}

/** True for what sets `recoveries` back to 0 below: from then on, deaths of workers are counted anew. */
export const isProgress = ({ kind }: JournalEvent): boolean =>
  kind === "step_completed" || kind === "loop_advanced";

function projectStep(before: RunProjection, event: JournalEvent): RunProjection {
  const used = usageOf(event);
  const run = used ? { ...before, usage: addUsage(before.usage, used) } : before;
  switch (event.kind) {
    case "step_started":
      return event.meta.type === "child" ? { ...run, openChildren: run.openChildren + 1 } : run;
    case "gate_answered":
      return woken({ ...run, stepsDone: run.stepsDone + 1 }, (wait) => wait.step === event.step);
    case "child_finished": {
      const done = event.meta.status === "completed" ? 1 : 0;
      const { turns = 0, activeMs = 0 } = event.meta;
      const counted = {
        ...run,
        turns: run.turns + turns,
        activeMs: run.activeMs + activeMs,
        stepsDone: run.stepsDone + done,
        openChildren: run.openChildren - 1,
      };
      return woken(counted, (wait) => wait.step === event.step);
    }
    case "step_resolved":
      return woken(run, (wait) => wait.step === event.step);
    case "step_evidence":
      return woken(run, (wait) => wait.kind === "decision" && wait.step === event.step);
    case "signal_received":
      return woken(run, (wait) => wait.names?.includes(event.meta.name) ?? false);
    case "step_completed":
      return { ...run, stepsDone: run.stepsDone + 1, recoveries: 0 };
    case "loop_advanced":
      return { ...run, recoveries: 0, turns: run.turns + (event.meta.count ?? 1) };
    default:
      return run;
  }
}

/** A run before its first event. */
export const newProjection = (at: number, version: string, schema: number): RunProjection => ({
  ...blank(version, schema),
  stepsDone: 0,
  updatedAt: at,
  snapshotSeq: 0,
});

/** The fields that few events change. */
const UNCOUNTED = (Object.keys(newProjection(0, "", 1)) as (keyof RunProjection)[]).filter(
  (field) => !(COUNTED as readonly string[]).includes(field),
);

function blank(
  version: string,
  schema: number,
): Omit<RunProjection, "stepsDone" | "updatedAt" | "snapshotSeq"> {
  return {
    version,
    schema,
    status: "queued",
    control: "none",
    waiting: [],
    wakeAt: NOW,
    recoveries: 0,
    usage: NO_USAGE,
    turns: 0,
    activeMs: 0,
    activeAt: null,
    budget: null,
    openChildren: 0,
    pinned: false,
    prunedAt: null,
    error: null,
    finishedAt: null,
  };
}

const ofKind =
  (kind: WaitKind) =>
  (wait: Waiting): boolean =>
    wait.kind === kind;

const paused = (run: RunProjection): RunProjection => ({
  ...run,
  status: "paused",
  control: "none",
  waiting: [],
  wakeAt: null,
});

const resumed = (run: RunProjection): RunProjection => ({
  ...run,
  status: "queued",
  control: "none",
  waiting: [],
  wakeAt: NOW,
  error: null,
  recoveries: 0,
  finishedAt: null,
});

/** A finished child stays due until its parent has been told, and a cancelled parent until its children have been. */
function ended(
  run: RunProjection,
  event: JournalEvent & { kind: "run_completed" | "run_failed" | "run_cancelled" },
  hasParent: boolean,
): RunProjection {
  const status =
    event.kind === "run_completed" ? "completed" : event.kind === "run_failed" ? "failed" : "cancelled";
  return {
    ...run,
    status,
    control: "none",
    waiting: [],
    wakeAt: hasParent || (status === "cancelled" && run.openChildren > 0) ? NOW : null,
    error: event.kind === "run_failed" ? event.meta.message : null,
    finishedAt: event.at,
  };
}

/** Called when what it waited for has arrived. A run that was already woken stays awake. */
function woken(run: RunProjection, matches: (wait: Waiting) => boolean): RunProjection {
  if (!run.waiting.some(matches)) return run;
  const waiting = run.waiting.filter((wait) => !matches(wait));
  return run.status === "waiting" ? { ...run, status: "queued", waiting, wakeAt: NOW } : { ...run, waiting };
}
