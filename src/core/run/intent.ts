import type { EventDraft } from "../journal/events.ts";
import type { IntentParts } from "../journal/writer.ts";
import { isUndo } from "../keys.ts";
import type { ActiveRun } from "./active-run.ts";
import { mayRepeat } from "./call.ts";
import type { Frame } from "./scope.ts";

type Writing = Pick<ActiveRun, "calls" | "closed" | "deps" | "detach" | "considerEnding" | "writer">;

/**
 * Writes an intent; see `ActiveRun.intent`. What follows from its end is done at once and not in a later reaction: one
 * promise for each step. `renew`: asks the store whether the run is still ours, after a freeze.
 */
export function writeIntent(
  run: Writing,
  event: EventDraft,
  frame: Frame | undefined,
  { blobs, holds, renew }: IntentParts & { readonly renew: () => Promise<void> },
): Promise<boolean> {
  const { calls, writer, deps } = run;
  // While the run is told to stop, an intent is held back, and the calls around it count as waiting.
  calls.block(frame);
  calls.begin();
  return new Promise<boolean>((resolve) => {
    const became = (what: "durable" | "ahead" | "overtaken"): void => {
      calls.unblock(frame);
      calls.begun();
      const go = (): void => {
        if (!run.closed) resolve(what !== "overtaken");
      };
      const isLate = what !== "ahead" && deps.ports.clock.monotonic() >= writer.deadline;
      if (isLate) run.detach(renew().then(go), "renewing a claim");
      else go();
    };
    const undo = isUndo(event.step);
    writer.record({
      event,
      blobs,
      holds,
      intent: true,
      undo,
      onDurable: () => became("durable"),
      onOvertaken: () => became("overtaken"),
      onAhead: !undo && mayRepeat(event) ? () => became("ahead") : undefined,
    });
    run.considerEnding();
  });
}
