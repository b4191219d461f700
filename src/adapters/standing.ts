import type { ThreadEvent } from "../core/manage/outside/outside-thread.ts";
import type { RunRow, Waiting } from "../core/types.ts";

/** A reader looks for where a run stands from the end of its journal, so that is said again every so many appends. */
const SAID_EVERY = 16;

/** Where a run stands that a framework advances: it waits for the framework, has failed, or is over. */
export type Stand =
  | { readonly waits: Omit<Waiting, "since"> }
  | { readonly error: string }
  | { readonly end: "run_completed" | "run_cancelled" };

/** The events that say where the run stands, before and after what is written. */
export function standing(
  row: RunRow | null,
  stand: Stand,
  since: number,
  now: number,
): { readonly before: readonly ThreadEvent[]; readonly after: readonly ThreadEvent[] } {
  // What is saved of a run that a person has paused is kept, and it stays paused.
  if (row?.status === "paused") return { before: [], after: [] };
  const before: ThreadEvent[] =
    row?.status === "failed" ? [{ event: { kind: "run_resumed", step: "", meta: {} } }] : [];
  if ("end" in stand) return { before, after: [{ event: { kind: stand.end, step: "", meta: {} } }] };
  if ("error" in stand)
    return {
      before,
      after: [{ event: { kind: "run_failed", step: "", meta: { message: stand.error, steps: [] } } }],
    };
  const stood = row?.status === "waiting" ? row.waiting[0] : undefined;
  const isSaid = stood?.step === stand.waits.step && since < SAID_EVERY;
  const event = {
    kind: "run_waiting",
    step: "",
    meta: { waiting: [{ ...stand.waits, since: now }] },
  } as const;
  return { before, after: isSaid ? [] : [{ event }] };
}
