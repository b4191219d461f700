import type { EventKind } from "../journal/events.ts";
import { knownActs } from "../journal/known-acts.ts";
import type { EngineParts } from "../journal/parts.ts";
import type { KnownAct } from "../journal/summary.ts";
import type { RunRow } from "../types.ts";

type Act = "pause" | "resume" | "cancel" | "answer" | "resolve";

const KINDS: Readonly<Record<Act, readonly EventKind[]>> = {
  pause: ["pause_requested"],
  resume: ["run_resumed"],
  cancel: ["cancel_requested", "run_cancelled"],
  answer: ["gate_answered"],
  resolve: ["step_resolved"],
};

/**
 * Finds the act already written under this name: a person clicked twice, or got no answer and asks again. Searches the
 * whole journal, because others may have acted in between; entries are read only once.
 */
export async function sentBefore(
  { store, values }: Pick<EngineParts, "store" | "values">,
  row: RunRow,
  act: Act,
  id: string | undefined,
): Promise<KnownAct | undefined> {
  if (id === undefined) return undefined;
  const acts = await knownActs(store, values, row);
  return acts.find(({ kind, id: name, act: what, seq }) => {
    const isOne = kind === "act_noted" ? what === act : KINDS[act].includes(kind);
    return isOne && name === id && seq <= row.seq;
  });
}
