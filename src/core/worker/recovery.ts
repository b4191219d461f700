import { checkKeys, checkNumber, checkOneOf } from "../check-options.ts";
import { detached } from "../detached.ts";
import { HoldfastError } from "../errors.ts";
import { digest, fingerprint } from "../hash.ts";
import { isCheckpoint } from "../journal/address.ts";
import { damaged, type ParsedEntry, parseEntry } from "../journal/journal.ts";
import { type ReadRun, readOn } from "../journal/just-read.ts";
import { isUnreadable, loadRun, snapshots } from "../journal/load.ts";
import { entriesFromEnd, entriesOf } from "../journal/read.ts";
import { RowFold } from "../journal/row-fold.ts";
import type { RunState } from "../journal/state.ts";
import type { Values } from "../journal/values.ts";
import type { Execution } from "../run/execution.ts";
import type { Entry, Store, StoreIdentity } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

/** How to handle a run whose worker died. */
export interface RecoveryOptions {
  /**
   * `false`: it waits for a person instead of continuing. Timers, answers and resumed runs continue anyway. Default
   * true.
   */
  readonly auto?: boolean;
  /** The number of takeovers without progress before it waits for review. Default 3. */
  readonly maxAttempts?: number;
  /** A recovered run that has written nothing after this time waits for review. Default 5 min. */
  readonly timeoutMs?: number;
  /** Falls back from a damaged snapshot to the previous one, and finally to the whole journal. Default true. */
  readonly fallbackToPrevious?: boolean;
  /** The takeover from which each is reported as `recovery_alarm`. Default 2. */
  readonly alarmAfter?: number;
  /**
   * The fate of a run that can't be restored: its state is damaged, or no migration leads to the code's major
   * version. `park` (the default): it waits for a person. `fresh`: its workflow is started again with its input, as a
   * new run whose config lists the effects that may happen twice, and the old run waits for review. Runs that another
   * run started are always parked.
   */
  readonly onUnrestorable?: "park" | "fresh";
}

export type RecoveryPolicy = Required<RecoveryOptions>;

const DEFAULTS: RecoveryPolicy = {
  auto: true,
  maxAttempts: 3,
  timeoutMs: 300_000,
  fallbackToPrevious: true,
  alarmAfter: 2,
  onUnrestorable: "park",
};

export function recoveryPolicy(given: RecoveryOptions = {}): RecoveryPolicy {
  checkKeys(given, Object.keys(DEFAULTS), "recovery");
  for (const key of ["maxAttempts", "timeoutMs", "alarmAfter"] as const)
    checkNumber(`recovery.${key}`, given[key] ?? DEFAULTS[key], { least: key === "maxAttempts" ? 0 : 1 });
  const { auto, maxAttempts, timeoutMs, fallbackToPrevious, alarmAfter, onUnrestorable } = given;
  checkOneOf("recovery.onUnrestorable", onUnrestorable ?? DEFAULTS.onUnrestorable, ["park", "fresh"]);
  return {
    auto: auto ?? DEFAULTS.auto,
    maxAttempts: maxAttempts ?? DEFAULTS.maxAttempts,
    timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
    fallbackToPrevious: fallbackToPrevious ?? DEFAULTS.fallbackToPrevious,
    alarmAfter: alarmAfter ?? DEFAULTS.alarmAfter,
    onUnrestorable: onUnrestorable ?? DEFAULTS.onUnrestorable,
  };
}

/** Why a run whose worker died may not simply continue. `recovery`: the number of this takeover. */
export function recoveryProblem(
  { auto, maxAttempts }: RecoveryPolicy,
  run: string,
  recovery: number,
): HoldfastError | undefined {
  if (!auto) return new HoldfastError("HF-2122", { run });
  if (recovery <= maxAttempts) return undefined;
  return new HoldfastError("HF-2108", { run, recoveries: recovery - 1, limit: maxAttempts });
}

const POSITIONS = 200;

/**
 * Why a run may not continue after the store was restored to an older state: what it did in the lost part could happen
 * again. It may continue if it was created or claimed since (clocks may disagree about that, but the journal names the
 * incarnation): putting a run aside claims it, so that a resume is enough.
 */
export async function restoreProblem(
  store: Store,
  { incarnation, restoredAt }: StoreIdentity,
  row: RunRow,
): Promise<HoldfastError | undefined> {
  if (restoredAt === undefined || row.createdAt > restoredAt) return undefined;
  if ((await claimedOn(store, row)) === fingerprint(incarnation)) return undefined;
  const at = await knownUntil(store, row, restoredAt);
  return new HoldfastError("HF-2130", { run: row.id, at: new Date(at).toISOString() });
}

/** The time of the last event in the backup: later writes to the run say nothing about that. */
async function knownUntil(store: Store, row: RunRow, restoredAt: number): Promise<number> {
  if (row.updatedAt <= restoredAt) return row.updatedAt;
  for await (const events of eventsFromEnd(store, row)) {
    const last = events.findLast(({ at }) => at <= restoredAt);
    if (last) return last.at;
  }
  return restoredAt;
}

/** The incarnation that was named last: by the claim of a worker that continued the run, or else by its beginning. */
async function claimedOn(store: Store, row: RunRow): Promise<string | undefined> {
  for await (const events of eventsFromEnd(store, row))
    for (const { kind, meta } of events.toReversed())
      if ((kind === "run_claimed" || kind === "run_created") && meta.store !== undefined) return meta.store;
  return undefined;
}

/** The events of each readable entry, from the last one backwards. */
async function* eventsFromEnd(store: Store, row: RunRow): AsyncGenerator<ParsedEntry["events"]> {
  for await (const entry of entriesFromEnd(store, row.id, row.seq, POSITIONS))
    yield parse(row.id, entry)?.events ?? [];
}

/** Leaves a recovered run to a person when it makes no progress: it has written nothing, and waits for nothing. */
export function limitRecovery(execution: Execution, ms: number): void {
  const { clock } = execution.deps.ports;
  const cancel = clock.setTimer(() => {
    const { closed, isWaiting, writer, runId: run } = execution;
    if (!closed && !isWaiting && writer.landed === 0 && writer.unwritten.length === 0)
      execution.parkForReview(new HoldfastError("HF-2118", { run, ms }));
  }, ms);
  detached(execution.ended.then(cancel), execution.deps.ports.logger, "ending a recovery");
}

/**
 * The run's state; or, if stored data can't be read, what a person needs to know about that. With `keeps`, the
 * outcomes of steps beyond that length are read and verified when the body asks for them. `read`: the run as it was
 * read before.
 */
export async function restoreRun(
  { store, values, read }: Restoring,
  row: RunRow,
  { fallbackToPrevious }: Pick<RecoveryPolicy, "fallbackToPrevious">,
  keeps?: number,
): Promise<RunState | HoldfastError> {
  const known = read && fallbackToPrevious ? await readOn(store, read, row) : undefined;
  if (known) return known;
  let problem: HoldfastError | undefined;
  // Reports the problem with the newest, not that the older ones don't help.
  for (const fallback of fallbackToPrevious ? [true, false] : [false]) {
    try {
      const fold = new RowFold(row);
      const state = await loadRun(store, values, row, row.seq, { fallback, fold, keeps });
      const differs = fold.problem(row);
      if (differs !== undefined) return damaged(row.id, row.seq, differs);
      state.unread?.explain((found) => withLastGood(store, values, row, found));
      return state;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      problem = error;
    }
  }
  return withLastGood(store, values, row, problem as HoldfastError);
}

interface Restoring {
  readonly store: Store;
  readonly values: Values;
  readonly read?: ReadRun | undefined;
}

/** A person can fork from there. */
async function withLastGood(
  store: Store,
  values: Values,
  row: RunRow,
  { detail, message }: HoldfastError,
): Promise<HoldfastError> {
  const good = await lastGood(store, values, row);
  const where =
    good === 0 ? "No checkpoint of it can be read." : `The last good checkpoint is ${row.id}@${good}.`;
  const seq = Number(detail["seq"] ?? 0) || row.snapshotSeq;
  return damaged(row.id, seq, `${detail["problem"] ?? message} ${where}`);
}

/** The newest checkpoint whose state can be restored; 0 when there is none. */
async function lastGood(store: Store, values: Values, row: RunRow): Promise<number> {
  const starts: number[] = [];
  for await (const seq of snapshots(store, row)) starts.push(seq);
  for (const start of [...starts, 1]) {
    const seq = await verifiedFrom(store, row, start);
    if (seq > 0 && (await isLoadable(store, values, row, seq))) return seq;
  }
  return 0;
}

async function isLoadable(store: Store, values: Values, row: RunRow, seq: number): Promise<boolean> {
  try {
    await loadRun(store, values, row, seq);
    return true;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return false;
  }
}

/**
 * The newest checkpoint in the verified part: the run's end, or where something ended. When two entries don't match,
 * either may be the wrong one.
 */
async function verifiedFrom(store: Store, row: RunRow, start: number): Promise<number> {
  let [end, before, good] = [0, 0, 0];
  let hash = start === 1 ? "" : undefined;
  for await (const entry of entriesOf(store, row.id, start, row.seq)) {
    const parsed = entry.seq === (end === 0 ? start : end + 1) ? parse(row.id, entry) : undefined;
    if (!parsed || parsed.pruned) return good;
    if (hash !== undefined && parsed.prev !== hash) return before;
    hash = digest(entry.head);
    end = entry.seq + entry.count - 1;
    before = good;
    good = parsed.events.findLast(isCheckpoint)?.seq ?? good;
  }
  if (end < row.seq) return good;
  return hash === row.head ? row.seq : before;
}

function parse(runId: string, entry: Entry): ParsedEntry | undefined {
  try {
    return parseEntry(runId, entry);
  } catch {
    return undefined;
  }
}
