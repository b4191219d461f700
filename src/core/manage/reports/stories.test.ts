import { describe, expect, it } from "vitest";
import type { EventDraft, JournalEvent } from "../../journal/events.ts";
import { StepLog } from "../../journal/step-log.ts";
import { type Story, storyOf } from "./stories.ts";

const PAY = "pay";
const STARTED: EventDraft = {
  kind: "step_started",
  step: PAY,
  meta: { type: "call", effect: "once", attempt: 1, call: 1 },
};
const DOUBT: EventDraft = { kind: "step_in_doubt", step: PAY, meta: { attempt: 1, rerunAfter: 0 } };

function storyAfter(...drafts: EventDraft[]): Story {
  const log = new StepLog();
  for (const [index, draft] of [STARTED, ...drafts].entries())
    log.take({ ...draft, seq: index + 1, at: 1, epoch: 1 } as JournalEvent);
  const [step] = log.steps();
  if (!step) throw new Error("There is no step.");
  return storyOf(step);
}

describe("what is shown of a step", () => {
  it("is done when a late result or a person has told its outcome, and open when it is to be called again", () => {
    expect(storyAfter(DOUBT).state).toBe("in doubt");
    const evidence: EventDraft = { kind: "step_evidence", step: PAY, meta: { attempt: 1 } };
    expect(storyAfter(DOUBT, evidence)).toMatchObject({ state: "done", seq: 3 });
    const resolved = (action: "done" | "rerun"): EventDraft => ({
      kind: "step_resolved",
      step: PAY,
      meta: { action },
    });
    expect(storyAfter(DOUBT, resolved("done")).state).toBe("done");
    expect(storyAfter(DOUBT, resolved("rerun")).state).toBe("under way");
  });

  it("is the value that somebody has put in its place", () => {
    const failed: EventDraft = { kind: "step_failed", step: PAY, meta: { attempt: 1 } };
    const edited: EventDraft = { kind: "value_edited", step: PAY, meta: { what: "step" } };
    expect(storyAfter(failed, edited)).toMatchObject({
      state: "done",
      seq: 3,
      attempts: [{ outcome: "failed" }],
    });
  });

  it("is under way while a failed attempt is tried again", () => {
    const failed: EventDraft = { kind: "step_failed", step: PAY, meta: { attempt: 1, retryAt: 5 } };
    expect(storyAfter(failed)).toMatchObject({ state: "under way", attempts: [{ retryAt: 5 }] });
  });
});
