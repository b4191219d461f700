import { checkNumber, checkOneOf } from "../check-options.ts";
import { readRun } from "../journal/door.ts";
import type { Observer } from "../journal/observer.ts";
import type { Ports } from "../ports.ts";
import type { Execution } from "../run/execution.ts";
import { CommitQueue } from "../store/commit.ts";
import type { Store } from "../store/contract.ts";
import { isOut } from "../store/faults.ts";
import { StoreHealth, type StoreState } from "../store/health.ts";
import type { WriteTimes } from "../store/write-times.ts";
import type { RunRow } from "../types.ts";
import type { Emitter } from "./emitter.ts";

/** The state of an engine: its store, its unsaved runs, and its worker. */
export interface Health {
  readonly store: StoreState;
  /** How long its newest writes took; `null` before the first. */
  readonly writes: WriteTimes | null;
  /** Runs in this process with unsaved events. */
  readonly runs: readonly UnsavedRun[];
  /** Runs of this process; `waiting`: those of them that wait for something. */
  readonly worker: { readonly running: number; readonly waiting: number };
}

export interface UnsavedRun {
  readonly runId: string;
  /** The last saved position, and its time. */
  readonly notSavedSince: { readonly seq: number; readonly at: number };
  /** Finished steps whose outcome isn't saved yet. */
  readonly steps: number;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An engine's settings for a failing store. */
interface SavingOptions {
  readonly storePatienceMs?: number;
  readonly onSaveFailure?: "stop" | "continue";
}

/** Creates the engine's queue into its store, which tells listeners when the store fails and when it is back. */
export function openQueue(
  store: Store,
  ports: Ports,
  emitter: Emitter,
  { storePatienceMs: patienceMs = 60_000, onSaveFailure = "stop" }: SavingOptions,
  observer?: Observer,
): CommitQueue {
  const { clock, logger } = ports;
  checkNumber("storePatienceMs", patienceMs);
  checkOneOf("onSaveFailure", onSaveFailure, ["stop", "continue"]);
  const health = new StoreHealth(clock, {
    failing(error) {
      logger.error("the store fails", { error: message(error) });
      emitter.emit({ type: "store_failing", at: clock.now(), error });
    },
    recovered(sinceMs) {
      logger.info("the store is back", { sinceMs });
      emitter.emit({ type: "store_recovered", at: clock.now(), sinceMs });
    },
  });
  return new CommitQueue(store, ports, {
    patienceMs,
    ahead: onSaveFailure === "continue",
    health,
    ...(observer?.flushed ? { onFlush: (appends, ms) => observer.flushed?.(appends, ms) } : {}),
    onFailure({ runIds, error, sinceMs }) {
      const at = clock.now();
      observer?.notSaved?.(runIds, error);
      health.writes.failed(runIds);
      logger.error("not saved", { runs: runIds.length, sinceMs, error: String(error) });
      for (const runId of runIds) emitter.emit({ type: "checkpoint_failed", runId, at, error, sinceMs });
    },
  });
}

/** Runs `work`; if the store fails, again when it is back. */
export async function oncePossible(health: StoreHealth, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!health.failing) throw error;
    await health.whenBack();
    await oncePossible(health, work);
  }
}

/** Reads for a waiting caller: a failed read says nothing about the run, until patience ends. */
export function patientRead(
  store: Store,
  { options, health }: CommitQueue,
  { clock }: Ports,
): (runId: string) => Promise<RunRow | null | undefined> {
  let seenAt = clock.monotonic();
  const isOver = (): boolean => clock.monotonic() - seenAt >= options.patienceMs;
  return async (runId) => {
    try {
      const look = () => readRun(store, runId);
      const row = isOver() ? await look() : await health.askGently(look);
      if (row !== undefined) seenAt = clock.monotonic();
      return row;
    } catch (error) {
      if (isOver() || isOut(error)) throw error;
      return undefined;
    }
  };
}

/** This process's knowledge of a run that it has. */
export interface HeldRun {
  readonly row: RunRow;
  /** The last saved position, when saving takes longer than it should. */
  readonly unsavedSince: number | undefined;
}

/** How long a write may take without being mentioned. */
const SLOW_MS = 1_000;

export function heldRun({ failing }: StoreHealth, held: Execution | undefined): HeldRun | undefined {
  if (!held) return undefined;
  const { writer } = held;
  const isUnsaved = writer.unwritten.length > 0 && (failing || writer.inFlightMs > SLOW_MS);
  return { row: writer.row, unsavedSince: isUnsaved ? writer.row.seq : undefined };
}

export function describeHealth({ store, writes }: StoreHealth, running: readonly Execution[]): Health {
  const runs = running.flatMap(({ runId, writer: { row, unwritten } }): UnsavedRun[] => {
    const steps = unwritten.filter(
      ({ event: { kind } }) => kind === "step_completed" || kind === "step_failed",
    );
    const since = { seq: row.seq, at: row.updatedAt };
    return unwritten.length === 0 ? [] : [{ runId, notSavedSince: since, steps: steps.length }];
  });
  const waiting = running.filter(({ isWaiting }) => isWaiting).length;
  return { store, writes: writes.times, runs, worker: { running: running.length, waiting } };
}
