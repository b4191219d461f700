import { checkKeys, checkObject, checkText, checkWhole } from "../check-options.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { checkNamed, checkProse } from "../names.ts";
import type { ClaimChange } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { ActPlan } from "./acts.ts";
import type { EventDraft } from "./events.ts";
import type { Encoded } from "./values.ts";

/** Who acts and why. Recorded with the act. */
export interface Act {
  readonly actor?: string;
  readonly reason?: string;
}

/** An act with an id: sent twice under the same `id`, it counts once, and both calls get the same answer. */
export interface NamedAct extends Act {
  readonly id?: string;
  /** The position at which the actor has seen the run. If it has moved on since, the act is refused (HF-6007). */
  readonly seen?: number;
}

/** Turns an act into one on another run, of which the actor has seen no position. */
export const unseen = <T extends NamedAct>({ seen: _, ...act }: T): Omit<T, "seen"> => act;

export const because = (act: Act): { reason?: string } => defined({ reason: act.reason });

/** The reason and the id of an act, which identifies a repeated one. */
export const told = (act: NamedAct): { reason?: string; id?: string } => ({
  ...because(act),
  ...defined({ id: act.id }),
});

/** Heads are small and kept for ever, so these texts are limited in length. */
const LIMITS = { actor: 200, reason: 4_000, id: 200 } as const;

export function checkAct(act: NamedAct): void {
  checkObject("act", act);
  if (act.seen !== undefined) checkWhole("seen", act.seen, 0);
  for (const [option, most] of Object.entries(LIMITS)) {
    const given: unknown = act[option as keyof typeof LIMITS];
    if (given === undefined) continue;
    const value = checkText(option, given, 0, most);
    if (option === "reason") checkProse(option, value, most);
    else if (value !== "") checkNamed(option, value, most);
  }
}

/** True for who and why as an act may have them. */
export function isAct(act: NamedAct): boolean {
  try {
    checkAct(act);
    return true;
  } catch {
    return false;
  }
}

/** Refuses options that an act doesn't have; `more`: those it has besides those of every act. */
export function checkActOptions(act: Act, more: readonly string[] = []): void {
  checkKeys(act, ["actor", "reason", "id", "seen", ...more]);
  checkAct(act);
}

/**
 * The record of an act that has nothing to do: if it has an id, the id is remembered, so that sending it again later
 * does nothing either.
 */
export function noted(
  what: "pause" | "resume" | "cancel",
  act: NamedAct,
  also: readonly EventDraft[] = [],
): ActPlan | null {
  const note: EventDraft[] =
    act.id === undefined ? [] : [{ kind: "act_noted", step: "", meta: { act: what, ...told(act) } }];
  const events = [...also, ...note];
  return events.length === 0 ? null : { events, actor: act.actor };
}

/** A plan of one event with its actor. */
export function plan(
  event: EventDraft,
  act: Act,
  claim?: ClaimChange,
  encoded?: Pick<Encoded, "blobs">,
): ActPlan {
  return {
    events: [event],
    actor: act.actor,
    ...defined({ claim }),
    ...(encoded ? { blobs: encoded.blobs } : {}),
  };
}

export const wrongStatus = (row: RunRow, verb: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-1007", { run: row.id, status: row.status, verb, why, fix });
