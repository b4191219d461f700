import { describe, expect, it } from "vitest";
import type { EventDraft, JournalEvent, StepStarted } from "../../journal/events.ts";
import { StepLog } from "../../journal/step-log.ts";
import { Ledger } from "./costs.ts";

function booksOf(drafts: readonly EventDraft[]): Ledger {
  const log = new StepLog();
  const ledger = new Ledger();
  for (const [index, draft] of drafts.entries()) {
    const event = { ...draft, seq: index + 1, at: index + 1, epoch: 1 } as JournalEvent;
    ledger.take(event, log.take(event));
  }
  return ledger;
}

const CALL: StepStarted = { type: "call", effect: "once", attempt: 1, call: 1 };
const started = (step: string): EventDraft => ({ kind: "step_started", step, meta: CALL });
const completed = (step: string, ms: number, tokens = 0): EventDraft => ({
  kind: "step_completed",
  step,
  meta: { ms, ...(tokens > 0 ? { usage: { tokens, costUsd: 0, model: "m" } } : {}) },
});
const claimed: EventDraft = { kind: "run_claimed", step: "", meta: { owner: "w", recovery: 0 } };
const takenOver: EventDraft = { kind: "run_claimed", step: "", meta: { owner: "v", recovery: 1 } };
const resumed: EventDraft = { kind: "run_resumed", step: "", meta: {} };

describe("the books of a run", () => {
  it("count the time of a step inside another once", () => {
    const inside = [started("a/b"), completed("a/b", 80)];
    const { total } = booksOf([started("a"), ...inside, completed("a", 100), resumed]);
    expect(total.saved).toMatchObject({ steps: 2, ms: 100 });
  });

  it("count a step whose outcome a person or a late result has told", () => {
    const { total, bySteps } = booksOf([
      started("a"),
      { kind: "step_resolved", step: "a", meta: { action: "done" } },
      started("b"),
      { kind: "step_evidence", step: "b", meta: { attempt: 1 } },
      started("c"),
      { kind: "step_resolved", step: "c", meta: { action: "failed" } },
    ]);
    expect([total.steps, [...bySteps.keys()]]).toEqual([2, ["a", "b"]]);
  });

  it("count what a takeover saved once, also if the dead worker's claim was freed before it", () => {
    const { total, takeovers } = booksOf([claimed, started("a"), completed("a", 5, 7), claimed, takenOver]);
    expect(takeovers).toBe(1);
    expect(total.saved).toMatchObject({ tokens: 7, steps: 1 });
  });

  it("tell what was wasted, what was saved, and what was of children", () => {
    const failed: EventDraft = {
      kind: "step_failed",
      step: "a",
      meta: { attempt: 1, retryAt: 9, usage: { tokens: 3, costUsd: 0 } },
    };
    const child: EventDraft = {
      kind: "child_finished",
      step: "c",
      meta: { child: "r-c", status: "completed", usage: { tokens: 50, costUsd: 1 } },
    };
    const books = booksOf([
      claimed,
      started("a"),
      failed,
      started("a"),
      completed("a", 5, 7),
      child,
      takenOver,
    ]);
    expect(books.total).toMatchObject({ tokens: 10, wasted: { tokens: 3 }, saved: { tokens: 7, steps: 1 } });
    expect(books.children).toEqual({ tokens: 50, costUsd: 1, unpriced: 0 });
    expect([...books.byModels.keys()]).toEqual(["(no model named)", "m"]);
    expect([books.takeovers, books.resumes]).toEqual([1, 0]);
  });
});
