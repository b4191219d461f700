import { checkKeys } from "../../check-options.ts";
import { Control } from "../../control/control.ts";
import { Family } from "../../control/family.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { isDamage } from "../../journal/unreadable.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";
import { ended, type RunRow, terminal } from "../../types.ts";
import { eraseRun, forksInUse, recordDeletion } from "./erase.ts";

/** How to delete a run, and what to leave of it. */
export interface DeleteOptions extends Act {
  /**
   * With `true`, one line stays in the record of deletions: which run it was, who deleted it, when and why. Default
   * true. With `false`, the record holds only a mark that says nothing to a reader.
   */
  readonly tombstone?: boolean;
  /**
   * Cancels the run first if it hasn't ended. Default false: an unfinished run is refused (HF-3080). A damaged run that
   * can't be cancelled any more is deleted as it is.
   */
  readonly force?: boolean;
}

/** The deleted runs: the given one and those it started. */
export interface DeleteReport {
  readonly deleted: readonly string[];
}

const OPTIONS = ["actor", "reason", "tombstone", "force"];

/** A run that changes this often while it is deleted is left alone. */
const ATTEMPTS = 10;

/**
 * Deletes a run and the runs below it: rows, journals, values and keys are gone. The line in the record comes first, and
 * the runs below are erased before the run itself, so that an interrupted deletion is finished by repeating it.
 */
export async function deleteRun(
  parts: EngineParts,
  runId: string,
  options: DeleteOptions,
): Promise<DeleteReport> {
  checkId(runId);
  checkKeys(options, OPTIONS);
  const { tombstone = true, force = false, ...act } = options;
  checkAct(act);
  if (runId === DELETED_RUNS) throw refused("HF-3082", runId, "It records which runs were deleted.");
  await parts.time.read();
  const control = new Control(parts);
  const family = new Family(parts, control);
  const deleted = new Set<string>();
  const recorded = new Set<string>();
  const broken = new Set<string>();
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const rows = await wholeFamily(parts, family, runId);
    if (rows.length === 0 && deleted.size === 0) throw new HoldfastError("HF-1001", { run: runId });
    await checkFree(parts, rows);
    const open = rows.filter(({ id, status }) => !ended(status) && !broken.has(id));
    if (open[0] && !force) throw unfinished(open[0], runId);
    if (open[0]) {
      const cancelled = { reason: `Run ${runId} is deleted.`, ...act };
      for (const { id } of open)
        await control.cancel(id, cancelled).catch((error: unknown) => {
          // Nothing can be written to it any more, and nobody advances it.
          if (isDamage(error)) broken.add(id);
          else unlessEnded(error);
        });
      continue;
    }
    const fresh = rows.filter(({ id }) => !recorded.has(id));
    if (fresh.length > 0) await recordDeletion(parts, fresh, { tombstone, ...act });
    for (const { id } of fresh) recorded.add(id);
    if (await eraseAll(parts, rows, deleted)) return { deleted: [...deleted] };
  }
  throw new HoldfastError("HF-3083", { run: runId });
}

/** Those below come first. Returns `false` when one of them has moved. */
async function eraseAll(parts: EngineParts, rows: readonly RunRow[], deleted: Set<string>): Promise<boolean> {
  for (const row of rows.toReversed()) {
    if (!(await eraseRun(parts, row))) return false;
    deleted.add(row.id);
  }
  return true;
}

/** The run and everything below it, parents first. */
async function wholeFamily(parts: EngineParts, family: Family, runId: string): Promise<readonly RunRow[]> {
  const top = await parts.store.read(runId);
  const rows = top ? [top] : [];
  // Grows during the loop.
  for (const { id } of rows) rows.push(...(await family.children(id)));
  return rows;
}

/** Refuses runs that somebody keeps, or that another run needs. */
async function checkFree(parts: EngineParts, rows: readonly RunRow[]): Promise<void> {
  const { store } = parts;
  const [top] = rows;
  if (!top) return;
  const pinned = rows.find((row) => row.pinned);
  if (pinned) throw refused("HF-3081", pinned.id, `holdfast checkpoints unpin ${pinned.id}`);
  for (let { parent } = top; parent; ) {
    const above = await store.read(parent.runId);
    if (above?.pinned) throw refused("HF-3081", above.id, `holdfast checkpoints unpin ${above.id}`);
    if (above && !terminal(above.status) && parent === top.parent)
      throw refused("HF-3082", top.id, `Run ${above.id} started it and is ${above.status}.`);
    parent = above?.parent ?? null;
  }
  const forks = await forksInUse(parts);
  const own = new Set(rows.map(({ id }) => id));
  for (const { id } of rows) {
    const fork = forks.get(id);
    if (fork !== undefined && !own.has(fork))
      throw refused("HF-3082", id, `Run ${fork} is a fork of it and must know which calls it has made.`);
  }
}

const refused = (code: "HF-3081" | "HF-3082", run: string, why: string): HoldfastError =>
  new HoldfastError(code, { run, why });

const unfinished = ({ id, status, claim }: RunRow, asked: string): HoldfastError =>
  new HoldfastError("HF-3080", {
    run: id,
    status,
    asked,
    why: claim.owner === null ? "It can still continue." : `Worker ${claim.owner} holds it.`,
  });

/** It has ended by itself meanwhile. */
function unlessEnded(error: unknown): void {
  if (!HoldfastError.is(error, "HF-1007")) throw error;
}
