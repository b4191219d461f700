import type { ThreadEvent } from "../../core/manage/outside/outside-thread.ts";
import type { RunRow, Waiting } from "../../core/types.ts";

/** A reader looks for where a run stands from the end of its journal, so that is said again every so many appends. */
const SAID_EVERY = 16;

/** What a batch of writes says about its thread. */
export interface Said {
  readonly error?: string;
  readonly interrupted?: boolean;
}

/** The events that say where the thread stands, before and after what is written. */
export function standing(
  row: RunRow | null,
  said: Said,
  since: number,
  now: number,
): { readonly before: readonly ThreadEvent[]; readonly after: readonly ThreadEvent[] } {
  // What is saved of a thread that a person has paused is kept, and it stays paused.
  if (row?.status === "paused") return { before: [], after: [] };
  const before: ThreadEvent[] =
    row?.status === "failed" ? [{ event: { kind: "run_resumed", step: "", meta: {} } }] : [];
  if (said.error !== undefined)
    return {
      before,
      after: [{ event: { kind: "run_failed", step: "", meta: { message: said.error, steps: [] } } }],
    };
  const wait = waitFor(said.interrupted ?? false, now);
  const stands = row?.status === "waiting" ? row.waiting[0] : undefined;
  const isSaid = stands?.step === wait.step && since < SAID_EVERY;
  const event = { kind: "run_waiting", step: "", meta: { waiting: [wait] } } as const;
  return { before, after: isSaid ? [] : [{ event }] };
}

/** Nobody but the program that runs the graph can go on with it. */
const waitFor = (interrupted: boolean, since: number): Waiting =>
  interrupted
    ? { kind: "signal", step: "resume", names: ["resume"], since, detail: "The graph was interrupted." }
    : { kind: "signal", step: "invoke", names: ["invoke"], since };
