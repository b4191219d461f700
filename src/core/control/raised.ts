import type { EventDraft } from "../journal/events.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import { everyRun } from "../store/query.ts";
import { ended, type RunRow } from "../types.ts";

/** Announces that the limits of a run above were changed. */
const LOOK_AGAIN: EventDraft = { kind: "budget_set", step: "", meta: {} };

/**
 * Tells every run below this one that the limits were changed, if it may be waiting for that. Limits are read where
 * they were set, so only the wait must end. May be repeated at any time.
 */
export async function tellRaised(parts: EngineParts, runId: string): Promise<void> {
  const children: RunRow[] = [];
  for await (const row of everyRun(parts.store, { parent: runId })) children.push(row);
  for (const child of children) {
    if (ended(child.status) && child.openChildren === 0) continue;
    await actOn(parts, child.id, ({ status, waiting }) => {
      const mayWait = status === "running" || waiting.some(({ kind }) => kind === "budget");
      return mayWait ? { events: [LOOK_AGAIN], actor: "parent" } : null;
    });
    await tellRaised(parts, child.id);
  }
}
