import { HoldfastError } from "../errors.ts";
import type { JournalEvent } from "../journal/events.ts";
import { damaged, dropped } from "../journal/journal.ts";
import { lastEvent } from "../journal/load.ts";
import type { Values } from "../journal/values.ts";
import type { Ports } from "../ports.ts";
import { keepRecent } from "../recent.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { News, Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { patientRead } from "./health.ts";

/** How a run ended that this process has just written. */
interface Ending {
  readonly row: RunRow;
  readonly event: JournalEvent;
}

/** The number of endings to keep for callers that ask for a result only then. */
const MOST_ENDINGS = 256;

const isEnding = ({ kind }: JournalEvent): boolean => kind === "run_completed" || kind === "run_failed";

/** The runs that this process has in hand. */
interface InHand {
  /** The saved row of a run that it advances. */
  active(runId: string): { readonly writer: { readonly row: RunRow } } | undefined;
  /** True while it takes a run. */
  isTaking(runId: string): boolean;
}

interface Reader {
  readonly store: Store;
  readonly ports: Ports;
}

type Wake = (row?: RunRow) => void;

type PatientRead = ReturnType<typeof patientRead>;

/**
 * Waits for runs: immediately for events in this process, by polling for those of others. A run that this process
 * advances isn't read, since nobody else can end it: its writer's row is as durable as what a read would find.
 */
export class RunWatch {
  readonly #store: Store;
  readonly #queue: CommitQueue;
  readonly #ports: Ports;
  readonly #roundMs: number;
  readonly #inHand: InHand;
  readonly #watchers = new Map<string, Set<Wake>>();
  readonly #endings = new Map<string, Ending>();
  #stopHearing: (() => void) | undefined;

  constructor({ store, ports }: Reader, queue: CommitQueue, roundMs: number, inHand: InHand) {
    this.#store = store;
    this.#queue = queue;
    this.#ports = ports;
    this.#roundMs = roundMs;
    this.#inHand = inHand;
  }

  /**
   * Resolves with the run once `done` returns true. `goOn` is called before each wait; it throws when waiting is pointless.
   * `roundMs`: look that often for anything that was written, each step included.
   */
  async until(
    runId: string,
    done: (row: RunRow) => boolean,
    goOn: (row: RunRow | undefined) => void,
    roundMs?: number,
  ): Promise<RunRow> {
    const patient = patientRead(this.#store, this.#queue, this.#ports);
    const read = roundMs === undefined ? this.#frugal(patient, done) : patient;
    const firstRoundUntil = this.#ports.clock.monotonic() + this.#roundMs;
    for (;;) {
      // Watches first, so that a change between the read and the wait isn't missed.
      let wake: Wake = () => undefined;
      const changed = new Promise<RunRow | undefined>((resolve) => {
        wake = resolve;
      });
      const unwatch = this.#watch(runId, wake);
      const cancel = this.#ports.clock.setTimer(wake, roundMs ?? this.#roundMs);
      try {
        const isFirst = roundMs === undefined && this.#ports.clock.monotonic() < firstRoundUntil;
        // A run that is being taken has just been read, and was due. What keeps it from being taken shows a round later.
        const isComing = isFirst && this.#inHand.isTaking(runId);
        const row = this.#inHand.active(runId)?.writer.row ?? (isComing ? undefined : await read(runId));
        if (row === null) throw new HoldfastError("HF-1001", { run: runId });
        if (row && done(row)) return row;
        const damage = this.#queue.damageAt(runId);
        if (damage !== undefined) throw damage as Error;
        goOn(row);
        const now = await changed;
        if (now && done(now)) return now;
      } finally {
        unwatch();
        cancel();
      }
    }
  }

  /** Where a read is expensive, a run is read only when a glance says that there is nothing more to wait for. */
  #frugal(read: PatientRead, done: (row: RunRow) => boolean): PatientRead {
    const glance = this.#store.glance?.bind(this.#store);
    if (!glance) return read;
    return async (runId) => {
      const seen = await glance(runId).catch(() => null);
      return seen && !done(seen) ? seen : read(runId);
    };
  }

  /** By run, so that a thousand waiters cost no more than one. While there are any, it also hears other processes. */
  #watch(runId: string, wake: Wake): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    if (this.#watchers.size === 0) this.#stopHearing = this.#store.hear?.(({ runs }) => this.#heard(runs));
    this.#watchers.set(runId, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.#watchers.delete(runId);
      if (this.#watchers.size === 0) this.#stopHearing?.();
    };
  }

  #heard(runs: News["runs"]): void {
    for (const runId of runs ?? this.#watchers.keys())
      for (const wake of this.#watchers.get(runId) ?? []) wake();
  }

  /** Called when a run was written to: waiters check again if it concerns the run itself. */
  changed(runId: string, events: readonly JournalEvent[]): void {
    const last = events.at(-1);
    const row = last && isEnding(last) ? this.#inHand.active(runId)?.writer.row : undefined;
    const isWritten = row !== undefined && row.seq === last?.seq;
    if (isWritten) keepRecent(this.#endings, runId, { row, event: last }, MOST_ENDINGS);
    else this.#endings.delete(runId);
    const watchers = this.#watchers.get(runId);
    if (watchers && events.some(({ kind }) => kind.startsWith("run_") || kind === "stream_written"))
      for (const wake of watchers) wake(isWritten ? row : undefined);
  }

  /** The last event of an ended run, once, if this process wrote it and nothing has been written since. */
  ending({ id, seq, head }: RunRow): JournalEvent | undefined {
    const known = this.#endings.get(id);
    this.#endings.delete(id);
    return known?.row.seq === seq && known.row.head === head ? known.event : undefined;
  }
}

/** Returns the result of an ended run, or throws its error. `ending`: its last event, where that is known. */
export async function readResult(
  { store, values }: { readonly store: Store; readonly values: Values },
  row: RunRow,
  ending?: JournalEvent,
): Promise<unknown> {
  if (row.prunedAt !== null) throw dropped(row.id, row.seq);
  if (row.status === "cancelled")
    throw new HoldfastError("HF-2110", { run: row.id, reason: "Somebody cancelled it." });
  const event = ending ?? (await lastEvent(store, row, ["run_completed", "run_failed"]));
  if (event?.kind !== `run_${row.status}`) throw damaged(row.id, row.seq, "Its end is missing.");
  const value = await values.of(row.id, event);
  if (row.status === "completed") return value;
  const [step] = event.kind === "run_failed" ? event.meta.steps : [];
  const why = step
    ? "The step failed on its last attempt, and the workflow didn't catch the error."
    : "The workflow's function threw.";
  const message = values.sealed && value instanceof Error ? value.message : (row.error ?? "");
  const detail = { step: step ?? `Run ${row.id}`, message, why };
  throw new HoldfastError("HF-2101", detail, { cause: value });
}
