import type { StepType } from "../../journal/events.ts";
import type { Effect } from "../../types.ts";

const OF_CALLS: Readonly<Record<Effect, string>> = {
  repeatable: "If its process dies during the call, it is called again, so it may happen twice.",
  keyed:
    "If its process dies during the call, it is called again with the same key: it counts once as long as the receiver remembers the key.",
  once: "If its process dies during the call, it is not called again by itself: its verify hook is asked, or a person.",
};

const OF_WAITS: Readonly<Record<Exclude<StepType, "call">, string>> = {
  gate: "A crash loses nothing: the question stays open, and an answer counts once.",
  timer: "A crash loses nothing: the timer keeps running.",
  signal: "A crash loses nothing: the signal is kept until the run takes it.",
  child: "A crash loses nothing: the child run continues on its own, and its result is kept.",
  transaction:
    "Its writes and its record are one commit, so a crash leaves both or neither: it happens exactly once.",
};

/** What a crash at this step would mean, in a sentence or two. The effect class decides, as it does in a recovery. */
export function crashMeaning(
  type: StepType,
  effect: Effect,
  state: "under way" | "done" | "failed" | "in doubt",
): string {
  if (state === "done") return "Its result is saved: whatever happens, it is not called again.";
  if (state === "in doubt")
    return "It was called and its outcome was not recorded, so nobody knows whether it happened. Nothing is guessed.";
  return type === "call" ? OF_CALLS[effect] : OF_WAITS[type];
}
