import { defined } from "../../core/defined.ts";
import type { EventKind, JournalEvent, StepType, UsageMeta } from "../../core/journal/events.ts";
import { headsOf } from "../../core/journal/read.ts";
import { rekey, renamedKey } from "../../core/journal/rename.ts";
import type { Store } from "../../core/store/contract.ts";
import type { Effect, RunRow } from "../../core/types.ts";

/** One call of a step, or one wait. */
export interface Attempt {
  readonly attempt: number;
  readonly startedAt: number;
  endedAt?: number;
  /** `undefined`: no outcome is recorded. */
  outcome?: "done" | "failed" | "in doubt";
  /** Position of the outcome, where its value is. */
  seq?: number;
  ms?: number;
  usage?: UsageMeta;
  retryAt?: number;
}

/** What became of one step, from its first intent on. Made of headers: no value is read. */
export interface Story {
  step: string;
  readonly type: StepType;
  readonly effect: Effect;
  readonly attempts: Attempt[];
  state: "under way" | "done" | "failed" | "in doubt";
  /** Fingerprint of its idempotency key. */
  key?: string | undefined;
  args?: string | undefined;
  child?: string | undefined;
  until?: number | undefined;
  /** In doubt: from when on it may be called again. */
  rerunAfter?: number | undefined;
  /** What a person chose at a gate, and who. */
  choice?: string;
  actor?: string | undefined;
  /** Position of its latest event. */
  seq: number;
}

/** The steps of a run in the order they began; those of finished iterations are among them. */
export class Stories {
  readonly all = new Map<string, Story>();

  take(event: JournalEvent): void {
    switch (event.kind) {
      case "step_started":
        return this.#started(event);
      case "run_migrated": {
        rekey(this.all, (step) => renamedKey(step, event.meta));
        for (const [step, story] of this.all) story.step = step;
        return;
      }
      case "run_forked": {
        // What its source had under way is as if it had never begun.
        for (const [step, { state }] of this.all) if (state !== "done") this.all.delete(step);
        return;
      }
      default:
        this.#outcome(event);
    }
  }

  #started({ step, meta, at, seq }: JournalEvent & { kind: "step_started" }): void {
    const { type, effect, attempt, key, args, child, until } = meta;
    const story = this.all.get(step) ?? { step, type, effect, attempts: [], state: "under way", seq };
    Object.assign(story, { state: "under way", key, args, child, until, seq });
    story.attempts.push({ attempt, startedAt: at });
    this.all.set(step, story);
  }

  #outcome(event: JournalEvent): void {
    const story = this.all.get(event.step);
    const last = story?.attempts.at(-1);
    if (!story || !last) return;
    const end = (
      outcome: NonNullable<Attempt["outcome"]>,
      state: Story["state"],
      usage?: UsageMeta,
    ): void => {
      const { at: endedAt, seq, actor } = event;
      Object.assign(last, { outcome, endedAt, seq }, defined({ usage }));
      Object.assign(story, { state, seq }, defined({ actor }));
    };
    switch (event.kind) {
      case "step_completed":
        end("done", "done", event.meta.usage);
        if (event.meta.ms !== undefined) last.ms = event.meta.ms;
        return;
      case "step_failed":
        end("failed", event.meta.retryAt === undefined ? "failed" : "under way", event.meta.usage);
        if (event.meta.retryAt !== undefined) last.retryAt = event.meta.retryAt;
        return;
      case "step_in_doubt":
        story.rerunAfter = event.meta.rerunAfter;
        return end("in doubt", "in doubt");
      case "step_resolved":
        if (event.meta.action === "done") end("done", "done");
        else if (event.meta.action === "failed") end("failed", "failed");
        return;
      case "gate_answered":
        story.choice = event.meta.choice;
        return end("done", "done");
      case "child_finished": {
        const isDone = event.meta.status === "completed";
        return end(isDone ? "done" : "failed", isDone ? "done" : "failed", event.meta.usage);
      }
      default:
    }
  }
}

/** The headers of a run's journal, a page at a time. */
export async function* journalOf(store: Store, row: RunRow, from = 1): AsyncGenerator<JournalEvent> {
  for await (const { events } of headsOf(store, row.id, from, row.seq))
    for (const event of events) if (event.seq >= from) yield event;
}

/** After these nobody is at the run; a claim that follows is no takeover. */
const RESTS: readonly EventKind[] = [
  "run_waiting",
  "run_released",
  "run_paused",
  "run_completed",
  "run_failed",
  "run_cancelled",
  "run_forked",
];

export const isRest = ({ kind }: JournalEvent): boolean => RESTS.includes(kind);

/** How long an attempt took; until now when it has not ended. */
export const tookMs = ({ startedAt, endedAt, ms }: Attempt, now: number): number =>
  ms ?? Math.max(0, (endedAt ?? now) - startedAt);
