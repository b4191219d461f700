import type { JournalEvent, UsageMeta } from "./events.ts";
import type { RunProjection, Usage, Waiting } from "./types.ts";

/**
 * The run row as a pure function of the journal: what each event does to status, wake time and totals. The
 * owner and acts from outside use the same function, so a row can always be rebuilt from its events.
 */
export function projectAll<R extends RunProjection>(
  run: R,
  events: readonly JournalEvent[],
  hasParent: boolean,
): R {
  let next: RunProjection = run;
  for (const event of events) next = project(next, event, hasParent);
  return { ...run, ...next, updatedAt: events.at(-1)?.at ?? run.updatedAt };
}

/** Due at once. Not a time of this process's clock: the store's may be behind it. */
const NOW = 0;

/** What happens to the run itself; everything else is about its steps. */
function project(run: RunProjection, event: JournalEvent, hasParent: boolean): RunProjection {
  switch (event.kind) {
    case "run_claimed":
      return { ...run, status: "running", waiting: [], wakeAt: NOW, recoveries: event.meta.recovery };
    case "run_waiting":
      return { ...run, status: "waiting", waiting: event.meta.waiting, wakeAt: wakeTime(event.meta.waiting) };
    case "run_released":
      return { ...run, status: "queued", wakeAt: NOW };
    case "pause_requested":
      return run.status === "running" ? { ...run, control: "pausing" } : paused(run);
    case "run_paused":
      return paused(run);
    case "run_resumed":
      // What was accepted as a cancel stays one: only its undoing is taken up again.
      if (run.control === "compensating") return { ...resumed(run), control: "compensating" };
      return run.status === "running" ? { ...run, control: "none" } : resumed(run);
    case "cancel_requested":
      return { ...(run.status === "running" ? run : resumed(run)), control: "compensating" };
    case "run_completed":
    case "run_failed":
    case "run_cancelled":
      return ended(run, event, hasParent);
    case "parent_notified":
      return { ...run, wakeAt: null };
    case "snapshot_taken":
      return { ...run, snapshotSeq: event.seq };
    default:
      return projectStep(run, event);
  }
}

function projectStep(run: RunProjection, event: JournalEvent): RunProjection {
  switch (event.kind) {
    case "gate_answered":
    case "child_finished": {
      const done = event.kind === "gate_answered" || event.meta.status === "completed";
      const counted = { ...run, stepsDone: run.stepsDone + (done ? 1 : 0) };
      return woken(counted, (wait) => wait.step === event.step);
    }
    case "step_resolved":
      return woken(run, (wait) => wait.step === event.step);
    case "step_evidence":
      return woken(run, (wait) => wait.kind === "decision" && wait.step === event.step);
    case "signal_received":
      return woken(run, (wait) => wait.names?.includes(event.meta.name) ?? false);
    case "step_completed": {
      const usage = event.meta.usage ? addUsage(run.usage, event.meta.usage) : run.usage;
      return { ...run, stepsDone: run.stepsDone + 1, recoveries: 0, usage };
    }
    case "step_failed":
      return event.meta.usage ? { ...run, usage: addUsage(run.usage, event.meta.usage) } : run;
    case "usage_recorded":
      return { ...run, usage: addUsage(run.usage, event.meta) };
    case "loop_advanced":
      return { ...run, recoveries: 0 };
    default:
      return run;
  }
}

/** A run as it is before its first event. */
export const newProjection = (at: number): RunProjection => ({
  status: "queued",
  control: "none",
  waiting: [],
  wakeAt: NOW,
  recoveries: 0,
  stepsDone: 0,
  usage: { tokens: 0, costUsd: 0 },
  error: null,
  updatedAt: at,
  finishedAt: null,
  snapshotSeq: 0,
});

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

/** A finished child stays due until its parent has been told. */
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
    wakeAt: hasParent ? NOW : null,
    error: event.kind === "run_failed" ? event.meta.message : null,
    finishedAt: event.at,
  };
}

function woken(run: RunProjection, matches: (wait: Waiting) => boolean): RunProjection {
  if (run.status !== "waiting" || !run.waiting.some(matches)) return run;
  return { ...run, status: "queued", waiting: run.waiting.filter((wait) => !matches(wait)), wakeAt: NOW };
}

function wakeTime(waiting: readonly Waiting[]): number | null {
  const times = waiting.flatMap((wait) =>
    wait.until === undefined || wait.kind === "decision" ? [] : [wait.until],
  );
  return times.length === 0 ? null : Math.min(...times);
}

const addUsage = (total: Usage, more: UsageMeta): Usage => ({
  tokens: total.tokens + more.tokens,
  costUsd: total.costUsd + more.costUsd,
});
