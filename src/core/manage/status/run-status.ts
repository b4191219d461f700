import type { Run } from "../../engine-options.ts";
import type { EventKind } from "../../journal/events.ts";
import { isKeyAway, isUnreadable, lastEvent, loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../parts.ts";
import { ended, type RunRow, type RunStatus } from "../../types.ts";
import { readRow } from "../checkpoints/positions.ts";
import { type StepUnderWay, underWay } from "../checkpoints/progress.ts";
import { describeRun, type RunDetails, type RunSentence } from "./status.ts";

/** A run, what it does or waits for in one sentence, and what is under way in it. */
export interface RunReport extends RunSentence {
  readonly run: Run;
  readonly open: readonly StepUnderWay[];
}

type Reader = Pick<EngineParts, "store" | "values">;

export async function readStatus(reader: Reader, runId: string): Promise<RunReport> {
  const run = await readRow(reader.store, runId);
  const details = await ifReadable(() => readDetails(reader, run), {});
  return { run, ...describeRun(run, details), open: details.open ?? [] };
}

async function readDetails({ store, values }: Reader, row: RunRow): Promise<RunDetails> {
  const open = ended(row.status) ? [] : underWay(await loadRun(store, values, row));
  const told = TELLS[row.status];
  const event = told && (await lastEvent(store, row, told));
  const undone = event?.kind === "run_failed" && event.meta.compensated === true;
  return { open, by: event?.actor, undone };
}

const TELLS: Partial<Record<RunStatus, readonly EventKind[]>> = {
  paused: ["pause_requested"],
  failed: ["run_failed"],
  cancelled: ["cancel_requested", "run_cancelled"],
};

/** A run that is damaged is still in the list, with what its row says. */
async function ifReadable<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isUnreadable(error) || isKeyAway(error)) return otherwise;
    throw error;
  }
}
