import type { HoldfastError } from "../errors.ts";
import type { RunRow, Waiting } from "../types.ts";
import type { ActPlan } from "./acts.ts";
import { about } from "./wait-reason.ts";

/** How long a run waits for its key before the next attempt: as long as it has waited already, within these limits. */
const FIRST_MS = 5_000;
const LONGEST_MS = 300_000;

/** The time since when a run has waited for its key. */
export const waitsForKey = ({ waiting }: RunRow): number | undefined =>
  waiting.find(({ kind }) => kind === "key")?.since;

/**
 * The events for a claimed run whose key isn't available: it is released with the reason, and taken up again
 * automatically.
 */
export function waitForKey({ control }: RunRow, problem: HoldfastError, now: number, since = now): ActPlan {
  const claim = { kind: "release" } as const;
  if (control === "pausing") return { events: [{ kind: "run_paused", step: "", meta: {} }], claim };
  const until = now + Math.min(LONGEST_MS, Math.max(FIRST_MS, now - since));
  const waiting: Waiting[] = [{ kind: "key", step: "", since, until, ...about(problem) }];
  return { events: [{ kind: "run_waiting", step: "", meta: { waiting } }], claim };
}
