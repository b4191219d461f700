import { badOption } from "../check-options.ts";
import { HoldfastError } from "../errors.ts";
import { baseName, firstSegment, isAtTop } from "../keys.ts";
import { checkNamed } from "../names.ts";
import type { JournalEvent } from "./events.ts";

/** A parsed address: a position, a label, or, with neither, the newest position of the run. */
export interface Address {
  readonly runId: string;
  readonly seq?: number;
  readonly label?: string;
}

const ADDRESS = /^([A-Za-z0-9_-]{1,64})(?:@([^\p{Cc}]{1,128}))?$/u;
const POSITION = /^[1-9]\d{0,14}$/;

/**
 * Parses `run`, `run@14` or `run@label`; refuses anything else (HF-1021).
 *
 * @example
 * ```ts
 * import { parseAddress } from "holdfast/manage";
 *
 * const { runId, seq } = parseAddress("hello-1@14");
 * console.log(runId, seq);
 * ```
 */
export function parseAddress(text: string): Address {
  const [, runId, place] = (typeof text === "string" && ADDRESS.exec(text)) || [];
  if (runId === undefined) throw new HoldfastError("HF-1021", { address: shown(text) });
  if (place === undefined) return { runId };
  if (POSITION.test(place)) return { runId, seq: Number(place) };
  if (/^\d+$/.test(place)) throw new HoldfastError("HF-1021", { address: shown(text) });
  return { runId, label: place };
}

const shown = (text: unknown): string =>
  typeof text === "string" ? JSON.stringify(text.slice(0, 80)) : `A value of type ${typeof text}`;

export const addressOf = (runId: string, seq: number): string => `${runId}@${seq}`;

/** Refuses a label that an address couldn't hold, or would read as a position. */
export function checkLabel(label: string): void {
  checkNamed("label", label);
  const fits = ADDRESS.test(`run@${label}`) && !/^\d+$/.test(label);
  if (!fits) throw badOption("label", "it must be a text of 1 to 128 printable characters, and not a number");
}

/** True when the state after this event is worth returning to: something has ended, or a mark was set. */
export function isCheckpoint(event: JournalEvent): boolean {
  switch (event.kind) {
    case "step_completed":
    case "gate_answered":
    case "loop_advanced":
    case "checkpoint_marked":
    case "run_paused":
    case "run_completed":
    case "run_failed":
    case "run_cancelled":
      return true;
    case "child_finished":
      return event.meta.status === "completed";
    case "step_failed":
      return event.meta.retryAt === undefined;
    default:
      return false;
  }
}

const OF_STEPS = /^(?:step|gate|child|loop)_/;
const NOTES: readonly string[] = [
  "value_recorded",
  "memory_written",
  "usage_recorded",
  "decision_made",
  "agent_updated",
  "plan_made",
  "checkpoint_marked",
  "signals_taken",
];

/** The plain name of the outermost step, group or loop of an event; "" when there is none. */
export function phaseOf({ kind, step }: JournalEvent): string {
  const isInStep = OF_STEPS.test(kind) || (!isAtTop(step) && NOTES.includes(kind));
  return isInStep ? baseName(firstSegment(step)) : "";
}

/** The reason for a checkpoint: the trigger of a mark, otherwise the event. */
export const triggerOf = (event: JournalEvent): string =>
  event.kind === "checkpoint_marked" ? event.meta.trigger : event.kind;
