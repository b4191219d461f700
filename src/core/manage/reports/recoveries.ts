import type { EventKind, JournalEvent } from "../../journal/events.ts";
import { isOpen } from "../../journal/step-log.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { spreadOf } from "../../store/write-times.ts";
import type { Effect, Mutable, RunRow } from "../../types.ts";
import { History } from "../checkpoints/history.ts";
import {
  isWithin,
  Looked,
  type LookedAt,
  linksOf,
  type Period,
  type ReportQuery,
  readPeriod,
  runsIn,
} from "./period.ts";

/** The result of a recovery. `died again`: that worker was lost too. `under way`: nothing is recorded yet. */
export type RecoveryResult = "went on" | "waits" | "parked" | "died again" | "under way";

/** A step that was in progress when a worker was lost. */
export interface Interrupted {
  readonly step: string;
  readonly effect: Effect;
}

/** A takeover of a run from a worker that had died or was stuck. */
export interface RecoveryIncident {
  readonly run: string;
  readonly workflow: string;
  /** The time of the takeover. */
  readonly at: number;
  /** Its position in the journal. */
  readonly seq: number;
  /** The number of takeovers in a row without progress. */
  readonly attempt: number;
  readonly lost: string | null;
  readonly takenBy: string;
  /** Time since the lost worker's last write: the outage took at most this long. */
  readonly silentMs: number;
  /** From the takeover to the run's first action after it; `null` when there is none yet. */
  readonly resumedAfterMs: number | null;
  /** From the moment at which the loss was noticed (the claim ended, or was freed) to the first action; `null` before it. */
  readonly recoveryMs: number | null;
  readonly interrupted: readonly Interrupted[];
  readonly result: RecoveryResult;
}

/** Recoveries of a period, and the outcomes of the runs that ended in it. */
export interface RecoveryReport extends Period, LookedAt {
  readonly incidents: readonly RecoveryIncident[];
  readonly runs: {
    readonly completed: number;
    /** The number of those that had lost a worker on the way. */
    readonly completedAfterRecovery: number;
    readonly failed: number;
    readonly cancelled: number;
    /** Completed runs divided by completed and failed ones, from 0 to 1; `null` when none ended. */
    readonly completionRate: number | null;
  };
  /** Of `recoveryMs` of the incidents. */
  readonly ms: { readonly p50: number; readonly p95: number; readonly most: number } | null;
}

export async function recoveryReport(store: Store, query: ReportQuery): Promise<RecoveryReport> {
  const period = await readPeriod(store, query);
  const incidents: RecoveryIncident[] = [];
  const runs = { completed: 0, completedAfterRecovery: 0, failed: 0, cancelled: 0 };
  const looked = new Looked();
  for await (const row of runsIn(store, query, period, looked))
    await looked.at(row.id, async () => {
      const found = await incidentsOf(store, row);
      incidents.push(...found.filter(({ at }) => isWithin(period, at)));
      if (row.finishedAt === null || !isWithin(period, row.finishedAt)) return;
      if (row.status === "completed" && found.length > 0) runs.completedAfterRecovery++;
      if (row.status === "completed" || row.status === "failed" || row.status === "cancelled")
        runs[row.status]++;
    });
  incidents.sort((a, b) => a.at - b.at);
  const judged = runs.completed + runs.failed;
  const completionRate = judged === 0 ? null : runs.completed / judged;
  return { ...period, incidents, runs: { ...runs, completionRate }, ms: spread(incidents), ...looked.told };
}

/** The takeovers in one run's journal. */
export async function incidentsOf(store: Store, row: RunRow): Promise<readonly RecoveryIncident[]> {
  const scan = new RecoveryScan(row);
  for await (const { entry, events, isCopied } of linksOf(store, row)) scan.take(entry, events, isCopied);
  return scan.finish();
}

function spread(incidents: readonly RecoveryIncident[]): RecoveryReport["ms"] {
  const all = incidents.flatMap(({ recoveryMs }) => recoveryMs ?? []);
  return all.length === 0 ? null : spreadOf(all);
}

/** Acts of others, and events that only announce a wait. */
const NOT_ITS_DOING: readonly EventKind[] = [
  "run_claimed",
  "run_resumed",
  "pause_requested",
  "cancel_requested",
  "act_noted",
  "values_read",
  "step_in_doubt",
  "step_resolved",
  "step_evidence",
  "gate_answered",
  "child_finished",
  "signal_received",
  "value_edited",
  "budget_set",
  "checkpoint_tagged",
  "values_dropped",
  "key_wrapped",
  "family_told",
];

const isItsDoing = ({ kind }: JournalEvent): boolean =>
  kind === "run_claimed" || !NOT_ITS_DOING.includes(kind);

/** Tracks one run's journal. */
class RecoveryScan {
  readonly #row: RunRow;
  readonly #incidents: Mutable<RecoveryIncident>[] = [];
  readonly #history: History;
  /** The worker that had the run, and its last write. */
  #before: { readonly owner: string | null; readonly at: number } = { owner: null, at: 0 };
  #current: Mutable<RecoveryIncident> | undefined;
  /** When the current loss was noticed; `#freedAt`: when its claim was freed. */
  #noticedAt = 0;
  #freedAt: number | undefined;

  constructor(row: RunRow) {
    this.#row = row;
    this.#history = new History(row.parent !== null);
  }

  take(entry: Entry, events: readonly JournalEvent[], isCopied: boolean): void {
    const [first] = events;
    if (!first) return;
    const isClaim = first.kind === "run_claimed";
    const isTakeover = this.#history.isTakeover(events);
    const isFreed = isClaim && this.#history.run?.status === "running" && !isTakeover;
    if (isClaim && isTakeover && !isCopied) this.#takeover(first);
    this.#history.take(entry, events);
    for (const event of events) if (event.kind !== "run_forked") this.#settle(event);
    if (isFreed) this.#freedAt ??= first.at;
    // What somebody else writes meanwhile is no sign of life of the worker.
    else if (events.some(isItsDoing)) this.#before = { owner: this.#history.log.owner, at: first.at };
  }

  finish(): readonly RecoveryIncident[] {
    return this.#incidents;
  }

  #takeover({ at, seq, meta }: JournalEvent & { kind: "run_claimed" }): void {
    if (this.#current) this.#current.result = "died again";
    // Journals of earlier versions don't tell when the claim ended.
    this.#noticedAt = Math.min(at, this.#freedAt ?? meta.lapsed ?? this.#before.at);
    this.#freedAt = undefined;
    this.#current = {
      run: this.#row.id,
      workflow: this.#row.workflow,
      at,
      seq,
      attempt: meta.recovery,
      lost: this.#before.owner,
      takenBy: meta.owner,
      silentMs: Math.max(0, at - this.#before.at),
      resumedAfterMs: null,
      recoveryMs: null,
      interrupted: this.#underWay(),
      result: "under way",
    };
    this.#incidents.push(this.#current);
  }

  #underWay(): Interrupted[] {
    const calls = [...this.#history.log.steps()].filter(
      (step) => step.record.type === "call" && step.record.status === "started" && isOpen(step),
    );
    calls.sort((a, b) => a.record.seq - b.record.seq);
    return calls.map(({ step, record: { effect } }) => ({ step, effect }));
  }

  /** The run's first action after the takeover shows its result. */
  #settle(event: JournalEvent): void {
    const incident = this.#current;
    if (!incident || NOT_ITS_DOING.includes(event.kind)) return;
    if (event.kind === "run_waiting") {
      const isParked = event.meta.waiting.some(({ kind }) => kind === "review");
      incident.result = isParked ? "parked" : "waits";
    } else incident.result = "went on";
    incident.resumedAfterMs = Math.max(0, event.at - incident.at);
    incident.recoveryMs = Math.max(0, event.at - this.#noticedAt);
    this.#current = undefined;
  }
}
