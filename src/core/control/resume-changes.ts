import { fitEdits } from "../declared-checks.ts";
import type { Act } from "../journal/act.ts";
import { editEvents } from "../journal/edits.ts";
import type { EventDraft } from "../journal/events.ts";
import { loadRun } from "../journal/load.ts";
import type { EngineParts } from "../journal/parts.ts";
import { signalStep } from "../keys.ts";
import { INJECT } from "../names.ts";
import type { Blob } from "../store/contract.ts";
import type { Edits, RunRow } from "../types.ts";

export interface Changes {
  readonly events: readonly EventDraft[];
  readonly blobs: readonly Blob[];
}

/** The changes that a resume makes, as events of the same append. */
export async function resumeChanges(
  { store, values, ports, workflows }: Pick<EngineParts, "store" | "values" | "ports" | "workflows">,
  row: RunRow,
  { set, inject, ...act }: Act & { readonly set?: Edits; readonly inject?: unknown },
): Promise<Changes> {
  const events: EventDraft[] = [];
  const blobs: Blob[] = [];
  if (set) {
    const state = await loadRun(store, values, row);
    const edits = await editEvents(
      values,
      row.id,
      state,
      await fitEdits(workflows.get(row.workflow), set),
      act,
    );
    events.push(...edits.events);
    blobs.push(...edits.blobs);
  }
  if (inject !== undefined) {
    const encoded = values.encode(signalStep(INJECT), inject);
    const meta = { name: INJECT, id: ports.ids.id() };
    events.push({ kind: "signal_received", step: "", meta, data: encoded.data });
    blobs.push(...encoded.blobs);
  }
  return { events, blobs };
}
