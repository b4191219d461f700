import { detached } from "../detached.ts";
import type { Logger } from "../logger.ts";
import type { RunRow } from "../types.ts";
import type { Worker } from "./worker.ts";

/** Lets the worker of this process see to a run that was written to from outside. */
export function lookAt(own: Promise<Worker | null>, row: RunRow, logger: Logger): void {
  detached(look(own, row), logger, "looking at what was written", { runId: row.id });
}

async function look(own: Promise<Worker | null>, row: RunRow): Promise<void> {
  const worker = await own;
  const execution = worker?.active(row.id);
  if (execution && row.claim.token === execution.writer.row.claim.token) execution.writer.hear();
  else if (execution) execution.fence();
  else await worker?.seeTo(row);
}
