import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { everyRun } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { plural } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import { ownerOf } from "../owner.ts";
import type { Code } from "../workflows.ts";
import { readUnheld } from "./ready.ts";

/** Takes up every run that a crash interrupted, or that is due, and stays until each has settled. */
export async function recoverAll(context: CommandContext<unknown>): Promise<Outcome> {
  const { out } = context;
  const store = await context.store();
  const rows = await interrupted(store);
  const { codes, problems } = await codesOf(context, rows);
  for (const problem of problems) out.warn(problem);
  const taken = rows.filter((row) => codes.has(row.id));
  for (const { id } of taken) await readUnheld(store, id);
  const workflows = [
    ...new Map([...codes.values()].flatMap(({ all }) => all).map((one) => [one.name, one])).values(),
  ];
  const engine = await context.engine({ execute: workflows.length > 0, workflows });
  if (taken.length > 0) await engine.recover();
  const ends: RunRow[] = [];
  for (const { id } of taken) {
    await engine.settled(id);
    const row = (await store.read(id)) as RunRow;
    ends.push(row);
    out.say(
      `${row.status === "completed" ? out.note.green("✓") : out.note.yellow("‖")} ${id}  ${row.status}`,
    );
  }
  const isAll = ends.every(({ status }) => status === "completed") && problems.length === 0;
  return {
    data: { runs: ends.map(({ id, workflow, status }) => ({ run: id, workflow, status })), problems },
    text:
      rows.length === 0
        ? "Nothing was interrupted."
        : `${plural(ends.length, "run")} continued, ${ends.filter(({ status }) => status === "completed").length} completed`,
    exit: isAll ? EXIT.done : EXIT.resumable,
  };
}

/** Runs that should be running, and that no live process has. */
async function interrupted(store: Store): Promise<readonly RunRow[]> {
  const found: RunRow[] = [];
  const now = await store.now();
  for await (const row of everyRun(store, { status: ["running", "queued", "waiting"] }))
    if (isInterrupted(row, now)) found.push(row);
  return found;
}

function isInterrupted(row: RunRow, now: number): boolean {
  const owner = ownerOf(row, now);
  if (owner && !owner.isDead) return false;
  return row.status === "waiting" ? row.wakeAt !== null && row.wakeAt <= now : true;
}

async function codesOf(context: CommandContext<unknown>, rows: readonly RunRow[]) {
  const codes = new Map<string, Code>();
  const problems: string[] = [];
  for (const row of rows) {
    try {
      codes.set(row.id, await context.codeOf(row));
    } catch (error) {
      if (!HoldfastError.is(error)) throw error;
      problems.push(`${row.id} was skipped: ${error.message} ${error.why}`);
    }
  }
  return { codes, problems };
}
