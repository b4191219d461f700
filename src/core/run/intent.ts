import type { EventDraft } from "../journal/events.ts";
import type { IntentParts, PendingEvent } from "../journal/pending-event.ts";
import { isUndo } from "../keys.ts";
import type { Blob } from "../store/contract.ts";
import type { ActiveRun } from "./active-run.ts";
import { mayRepeat } from "./call.ts";
import type { Frame } from "./scope.ts";

type Writing = Pick<ActiveRun, "calls" | "closed" | "deps" | "detach" | "considerEnding" | "writer">;

/** Asks the store whether the run is still ours, after a freeze. */
type Renew = () => Promise<void>;

/**
 * Writes an intent; see `ActiveRun.intent`. What follows from its end is done at once and not in a later reaction: one
 * promise for each step.
 */
export function writeIntent(
  run: Writing,
  event: EventDraft,
  frame: Frame | undefined,
  parts: IntentParts | undefined,
  renew: Renew,
): Promise<boolean> {
  const { calls, writer } = run;
  // While the run is told to stop, an intent is held back, and the calls around it count as waiting.
  calls.block(frame);
  calls.begin();
  return new Promise<boolean>((resolve) => {
    writer.record(new Intent(run, event, frame, parts, renew, resolve));
    run.considerEnding();
  });
}

/** An intent on its way. A class, because a closure for each of its ends is a good part of what a step allocates. */
class Intent implements PendingEvent {
  readonly event: EventDraft;
  readonly blobs: readonly Blob[] | undefined;
  readonly holds: (() => boolean) | undefined;
  readonly undo: boolean;
  intent = true;
  onOvertaken: (() => void) | undefined = overtaken;
  onAhead: (() => void) | undefined;
  readonly #run: Writing;
  readonly #frame: Frame | undefined;
  readonly #renew: Renew;
  readonly #resolve: (written: boolean) => void;
  /** Its call has begun already, while the store was failing. */
  #isAhead = false;

  constructor(
    run: Writing,
    event: EventDraft,
    frame: Frame | undefined,
    parts: IntentParts | undefined,
    renew: Renew,
    resolve: (written: boolean) => void,
  ) {
    this.event = event;
    this.blobs = parts?.blobs;
    this.holds = parts?.holds;
    this.undo = isUndo(event.step);
    this.onAhead = !this.undo && mayRepeat(event) ? ahead : undefined;
    this.#run = run;
    this.#frame = frame;
    this.#renew = renew;
    this.#resolve = resolve;
  }

  onDurable(): void {
    if (!this.#isAhead) this.#end(true);
  }

  overtaken(): void {
    this.#end(false);
  }

  ahead(): void {
    this.#isAhead = true;
    this.#begun();
    this.#answer(true);
  }

  #end(isWritten: boolean): void {
    this.#begun();
    const { deps, writer } = this.#run;
    const isLate = deps.ports.clock.monotonic() >= writer.deadline;
    if (!isLate) return this.#answer(isWritten);
    this.#run.detach(
      this.#renew().then(() => this.#answer(isWritten)),
      "renewing a claim",
    );
  }

  #begun(): void {
    this.#run.calls.unblock(this.#frame);
    this.#run.calls.begun();
  }

  #answer(isWritten: boolean): void {
    if (!this.#run.closed) this.#resolve(isWritten);
  }
}

// Shared by all intents, and called as their methods.
function overtaken(this: Intent): void {
  this.overtaken();
}

function ahead(this: Intent): void {
  this.ahead();
}
