import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import type { Acted } from "../journal/acts.ts";
import type { EventDraft } from "../journal/events.ts";
import type { EngineParts } from "../journal/parts.ts";
import { isUnbegun } from "../store/claim.ts";
import { type AloneOptions, type Given, givenEvents } from "./given.ts";

/** The options of a run that is alone with its key. */
export type GivenAlone = Given & { readonly alone: AloneOptions };

interface Start {
  readonly workflow: string;
  readonly input: unknown;
  readonly given: GivenAlone;
}

/** A run that begins later waits for that, by name. */
export const untilStart = (since: number, until: number): EventDraft => ({
  kind: "run_waiting",
  step: "",
  meta: { waiting: [{ kind: "start", step: "", since, until }] },
});

/**
 * Joins the run that is there: it is the caller's run, too, or it is postponed and gets the caller's input, in one
 * write. Returns `null` when it has begun in the meantime, or is gone. Refuses if that was asked for (HF-5060).
 */
export async function join(parts: EngineParts, start: Start, by: string): Promise<Acted | "joined" | null> {
  const { given, workflow } = start;
  const { debounceMs, key, isRefused } = given.alone;
  if (isRefused) throw new HoldfastError("HF-5060", { workflow, key, run: by });
  if (debounceMs === undefined) return "joined";
  const moved = await move(parts, start, by, debounceMs).catch((error: unknown) => {
    if (HoldfastError.is(error, "HF-1001")) return null;
    throw error;
  });
  return moved && moved.events.length > 0 ? moved : null;
}

/** A worker that takes it up at the same moment writes at the same position, so one of the two sees the other. */
function move(
  { acts, values, time }: EngineParts,
  { input, given }: Start,
  id: string,
  ms: number,
): Promise<Acted> {
  const encoded = values.encode("input", input);
  const more = givenEvents(values, given);
  const edited: EventDraft = {
    kind: "value_edited",
    step: "",
    meta: { what: "input", ...defined({ reason: given.reason }) },
    data: encoded.data,
  };
  return acts.act(id, (row) => {
    const [wait] = row.waiting;
    if (!isUnbegun(row) || !wait) return null;
    return {
      events: [edited, ...more.events, untilStart(wait.since, time.now() + ms)],
      blobs: [...encoded.blobs, ...more.blobs],
      actor: given.actor,
    };
  });
}
