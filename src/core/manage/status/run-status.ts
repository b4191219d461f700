import { isStopped } from "../../control/family.ts";
import { HoldfastError } from "../../errors.ts";
import { readRun } from "../../journal/door.ts";
import type { EventKind } from "../../journal/events.ts";
import { isKeyAway, isUnreadable, lastEvent } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { shownRow } from "../../journal/row-shape.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { Run } from "../../types.ts";
import { ended, type RunRow, type RunStatus } from "../../types.ts";
import type { HeldRun } from "../../worker/health.ts";
import { type StepUnderWay, underWay } from "../checkpoints/progress.ts";
import { placeInQueue } from "./queue-place.ts";
import { type Stall, stallOf } from "./stalled.ts";
import { describeRun, type RunDetails, type RunSentence } from "./status.ts";

/** A run, a sentence about what it does or waits for, and its steps in progress. */
export interface RunReport extends RunSentence {
  readonly run: Run;
  readonly open: readonly StepUnderWay[];
  /** Why it makes no progress; `null` when it does, has ended, or waits for something specific. */
  readonly stalled: Stall | null;
  /** The last saved position, while this process can't save. */
  readonly notSavedSince: number | null;
}

type Reader = Pick<EngineParts, "store" | "folds">;

/** `held`: the knowledge of the process that has the run, available even while the store is down. */
export async function readStatus(reader: Reader, runId: string, held?: HeldRun): Promise<RunReport> {
  const known = await readRun(reader.store, runId).catch((error: unknown) => {
    if (!held) throw error;
    return undefined;
  });
  if (known === null) throw new HoldfastError("HF-1001", { run: runId });
  const unsavedSince = held?.unsavedSince;
  const run = shownRow(known ?? (held as HeldRun).row);
  const stalled = known ? stallOf(run, await reader.store.now()) : null;
  const isWhole = known !== undefined && known.damage === undefined;
  const more = isWhole ? await ifReadable(() => readDetails(reader, run), {}) : {};
  const { open = [] } = more;
  const sentence = describeRun(run, { ...more, stalled, unsavedSince });
  return { run, ...sentence, open, stalled, notSavedSince: unsavedSince ?? null };
}

async function readDetails({ store, folds }: Reader, row: RunRow): Promise<RunDetails> {
  const open = ended(row.status) ? [] : underWay(await folds.open(row));
  const told = TELLS[row.status];
  const event = told && (await lastEvent(store, row, told));
  const undone = event?.kind === "run_failed" && event.meta.compensated === true;
  const pausingBelow = isStopped(row) ? await below(store, row, ({ control }) => control === "pausing") : [];
  const heldBelow = row.budget && !ended(row.status) ? await below(store, row, isHeld) : [];
  const place = await placeInQueue(store, row);
  return { open, by: event?.actor, undone, pausingBelow, heldBelow, place };
}

const isHeld = ({ status, waiting }: RunRow): boolean =>
  status === "waiting" && waiting.some(({ kind }) => kind === "budget");

/** The runs below this one, at any depth, that match. */
async function below(
  store: Store,
  { id: parent, openChildren }: RunRow,
  holds: (row: RunRow) => boolean,
): Promise<string[]> {
  const found: string[] = [];
  if (openChildren === 0) return found;
  for await (const child of everyRun(store, { parent })) {
    if (holds(child)) found.push(child.id);
    found.push(...(await below(store, child, holds)));
  }
  return found;
}

const TELLS: Partial<Record<RunStatus, readonly EventKind[]>> = {
  paused: ["pause_requested"],
  failed: ["run_failed"],
  cancelled: ["cancel_requested", "run_cancelled"],
};

/** A damaged run is still listed, with what its row says. */
async function ifReadable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isUnreadable(error) || isKeyAway(error)) return otherwise;
    throw error;
  }
}
