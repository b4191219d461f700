import type { Budget, Limit, RunRow } from "../types.ts";
import type { EventDraft, EventMeta, UsageMeta } from "./events.ts";

/** Usage, in the terms of the limits. */
export type Spent = Required<Budget>;
export const NOTHING: Spent = { turns: 0, tokens: 0, costUsd: 0, wallMs: 0 };

const each = (of: (limit: Limit) => number): Spent => ({
  turns: of("turns"),
  tokens: of("tokens"),
  costUsd: of("costUsd"),
  wallMs: of("wallMs"),
});

export const addSpent = (one: Partial<Spent>, other: Partial<Spent>): Spent =>
  each((limit) => (one[limit] ?? 0) + (other[limit] ?? 0));

/** The excess of `total` over `part`, never below 0. */
export const spentAbove = (total: Spent, part: Partial<Spent>): Spent =>
  each((limit) => Math.max(0, total[limit] - (part[limit] ?? 0)));

/** The saved usage of the run and those of its children that have ended. */
export const savedSpent = ({ turns, usage, activeMs }: RunRow): Spent => ({
  turns,
  tokens: usage.tokens,
  costUsd: usage.costUsd,
  wallMs: activeMs,
});

/** The usage that a child reported at its end. */
export const reportOf = ({ usage, turns, activeMs }: EventMeta["child_finished"]): Spent => ({
  turns: turns ?? 0,
  tokens: usage?.tokens ?? 0,
  costUsd: usage?.costUsd ?? 0,
  wallMs: activeMs ?? 0,
});

/** The usage that an event reports: of a call, or of an ended child. */
export function usageOf(event: EventDraft): UsageMeta | undefined {
  switch (event.kind) {
    case "usage_recorded":
      return event.meta;
    case "step_completed":
    case "step_failed":
    case "child_finished":
      return event.meta.usage;
    default:
      return undefined;
  }
}
