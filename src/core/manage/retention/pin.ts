import { type Act, because, checkActOptions, plan } from "../../journal/act.ts";
import { isLosingAll } from "../../journal/dropped.ts";
import { dropped } from "../../journal/journal.ts";
import { actOn, type EngineParts } from "../../journal/parts.ts";
import { remarks } from "../../journal/positions.ts";
import type { RunRow } from "../../types.ts";
import { WHOLE_RUN } from "../checkpoints/kept.ts";

/** Pins or unpins a run with all its values; pins of single checkpoints stay as they are. */
export async function pinRun(parts: EngineParts, runId: string, pinned: boolean, act: Act): Promise<RunRow> {
  const { store } = parts;
  checkActOptions(act);
  return actOn(parts, runId, async (current) => {
    const { tags } = (await remarks(store, current, 0)).facts;
    if ((tags.get(WHOLE_RUN)?.pinned ?? false) === pinned) return null;
    if (pinned && (await isLosingAll(store, current))) throw dropped(runId, current.seq);
    tags.set(WHOLE_RUN, { pinned });
    const pins = [...tags.values()].filter((tag) => tag.pinned).length;
    const meta = { seq: WHOLE_RUN, pinned, pins, ...because(act) };
    return plan({ kind: "checkpoint_tagged", step: "", meta }, act);
  });
}
