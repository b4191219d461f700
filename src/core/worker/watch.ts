import { HoldfastError } from "../errors.ts";
import type { JournalEvent } from "../journal/events.ts";
import { damaged, dropped } from "../journal/journal.ts";
import { lastEvent } from "../journal/load.ts";
import type { Values } from "../journal/values.ts";
import type { Ports } from "../ports.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import { patientRead } from "./health.ts";

/** Waits for runs: immediately for events in this process, by polling for those of others. */
export class RunWatch {
  readonly #store: Store;
  readonly #queue: CommitQueue;
  readonly #ports: Ports;
  readonly #roundMs: number;
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(store: Store, queue: CommitQueue, ports: Ports, roundMs: number) {
    this.#store = store;
    this.#queue = queue;
    this.#ports = ports;
    this.#roundMs = roundMs;
  }

  /** Resolves with the run once `done` returns true. `goOn` is called before each wait; it throws when waiting is pointless. */
  async until(
    runId: string,
    done: (row: RunRow) => boolean,
    goOn: (row: RunRow | undefined) => void,
  ): Promise<RunRow> {
    const read = patientRead(this.#store, this.#queue, this.#ports);
    for (;;) {
      // Watches first, so that a change between the read and the wait isn't missed.
      let wake = (): void => undefined;
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const unwatch = this.#watch(runId, wake);
      const cancel = this.#ports.clock.setTimer(wake, this.#roundMs);
      try {
        const row = await read(runId);
        if (row === null) throw new HoldfastError("HF-1001", { run: runId });
        if (row && done(row)) return row;
        goOn(row);
        await changed;
      } finally {
        unwatch();
        cancel();
      }
    }
  }

  /** By run, so that a thousand waiters cost no more than one. */
  #watch(runId: string, wake: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.#watchers.delete(runId);
    };
  }

  /** Called when a run was written to: waiters check again if it concerns the run itself. */
  changed(runId: string, events: readonly JournalEvent[]): void {
    const watchers = this.#watchers.get(runId);
    if (watchers && events.some((event) => event.kind.startsWith("run_")))
      for (const wake of watchers) wake();
  }
}

/** Returns the result of an ended run, or throws its error. */
export async function readResult(store: Store, values: Values, row: RunRow): Promise<unknown> {
  if (row.prunedAt !== null) throw dropped(row.id, row.seq);
  if (row.status === "cancelled")
    throw new HoldfastError("HF-2110", { run: row.id, reason: "Somebody cancelled it." });
  const event = await lastEvent(store, row, ["run_completed", "run_failed"]);
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
