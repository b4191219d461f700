import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventDraft, JournalEvent, Migrated, StepStarted } from "./events.ts";
import { RunState } from "./state.ts";
import { doneIn, isDone, StepLog, type StepNews } from "./step-log.ts";

/** A journal by hand: told to the engine's own state and to the log. */
class Journal {
  readonly state = new RunState();
  readonly log = new StepLog();
  news: StepNews | undefined;
  #seq = 0;

  write(...drafts: EventDraft[]): this {
    for (const draft of drafts) {
      const event = { ...draft, seq: ++this.#seq, at: this.#seq * 10, epoch: 1 } as JournalEvent;
      this.state.apply(event);
      this.news = this.log.take(event);
    }
    return this;
  }

  started(step: string, meta: Partial<StepStarted> = {}): this {
    const plain = { type: "call", effect: "once", attempt: 1, call: 1 } as const;
    return this.write({ kind: "step_started", step, meta: { ...plain, ...meta } });
  }

  migrated(change: Partial<Migrated>): this {
    return this.write({ kind: "run_migrated", step: "", meta: { from: "1", to: "2", schema: 1, ...change } });
  }

  status(step: string): string | undefined {
    return this.log.find(step)?.record.status;
  }
}

const DOUBT: EventDraft = { kind: "step_in_doubt", step: "pay", meta: { attempt: 1, rerunAfter: 0 } };
const forked: EventDraft = {
  kind: "run_forked",
  step: "",
  meta: { from: { runId: "source", seq: 1 }, at: 1, effects: "reuse" },
};
const completed = (step: string): EventDraft => ({ kind: "step_completed", step, meta: {} });

describe("the step log", () => {
  it("has one meaning of done: a result, whoever gave it", () => {
    const doubt = () => new Journal().started("pay").write(DOUBT);
    const results: EventDraft[] = [
      completed("pay"),
      { kind: "step_resolved", step: "pay", meta: { action: "done" } },
      { kind: "step_evidence", step: "pay", meta: { attempt: 1 } },
      { kind: "value_edited", step: "pay", meta: { what: "step" } },
    ];
    for (const result of results) expect(doubt().write(result).news?.isDone, result.kind).toBe(true);
    const others: EventDraft[] = [
      { kind: "step_failed", step: "pay", meta: { attempt: 1 } },
      { kind: "step_resolved", step: "pay", meta: { action: "failed" } },
      { kind: "step_resolved", step: "pay", meta: { action: "rerun" } },
      { kind: "step_evidence", step: "pay", meta: { attempt: 2 } },
      { kind: "value_edited", step: "pay", meta: { what: "loop" } },
      { kind: "child_finished", step: "pay", meta: { child: "c", status: "failed" } },
    ];
    for (const other of others) expect(doubt().write(other).news?.isDone ?? false, other.kind).toBe(false);
  });

  it("says that a step is done once, and keeps its time when its value is edited", () => {
    const journal = new Journal()
      .started("pay")
      .write({ kind: "step_completed", step: "pay", meta: { ms: 7 } });
    journal.write({ kind: "value_edited", step: "pay", meta: { what: "step" } });
    expect(journal.news).toMatchObject({ isDone: false, step: { at: 30, record: { seq: 3 } } });
    const step = journal.log.find("pay");
    expect(step && doneIn(step)).toEqual({ at: 20, ms: 7 });
  });

  it("keeps every attempt, with its worker, its outcome and what it used", () => {
    const usage = { tokens: 5, costUsd: 0.1 };
    const journal = new Journal()
      .write({ kind: "run_claimed", step: "", meta: { owner: "w1", recovery: 0 } })
      .started("pay")
      .write({ kind: "step_failed", step: "pay", meta: { attempt: 1, retryAt: 99, usage } })
      .write({ kind: "run_claimed", step: "", meta: { owner: "w2", recovery: 1 } })
      .started("pay", { attempt: 2 })
      .write(completed("pay"));
    const [first, second, ...more] = journal.log.find("pay")?.attempts ?? [];
    expect(first).toMatchObject({ attempt: 1, startedAt: 20, begun: 2, owner: "w1" });
    expect(first).toMatchObject({ outcome: "failed", endedAt: 30, seq: 3, retryAt: 99, usage });
    expect(second).toMatchObject({ attempt: 2, startedAt: 50, begun: 5, owner: "w2" });
    expect(second).toMatchObject({ outcome: "completed", endedAt: 60, seq: 6 });
    expect(more).toEqual([]);
  });

  it("forgets at a fork what had not ended, and tells the rest apart from the fork's own", () => {
    const journal = new Journal().started("open").started("a").write(completed("a"));
    journal.started("caught").write({ kind: "step_failed", step: "caught", meta: { attempt: 1 } });
    journal.write(forked).started("b");
    expect([...journal.log.steps()].map(({ step, isCopied }) => [step, isCopied ?? false])).toEqual([
      ["a", true],
      ["caught", true],
      ["b", false],
    ]);
  });

  it("gives a name to the step that has it after a migration, and takes an undo along", () => {
    const journal = new Journal().started("charge").write(completed("charge")).started("pay").write(DOUBT);
    journal.started("compensate/charge").migrated({ renamed: { charge: "pay" }, dropped: ["pay"] });
    expect(journal.status("pay")).toBe("completed");
    expect(journal.status("compensate/pay")).toBe("started");
    expect(journal.log.find("charge")).toBeUndefined();
    journal.migrated({ dropped: ["pay"] }).started("pay");
    expect(journal.log.find("pay")).toMatchObject({
      record: { status: "started" },
      attempts: [{ begun: 8 }],
    });
  });

  it("takes an event once", () => {
    const journal = new Journal().started("pay");
    const event = { ...completed("pay"), seq: 1, at: 1, epoch: 1 } as JournalEvent;
    expect(journal.log.take(event)).toBeUndefined();
    expect(journal.status("pay")).toBe("started");
  });
});

const step = fc.constantFrom("a", "b", "a/in", "b[0]/in", "compensate/x");
const attempt = fc.integer({ min: 1, max: 2 });
const ofStep = <E extends EventDraft["kind"]>(kind: E, meta: fc.Arbitrary<object>) =>
  fc.record({ kind: fc.constant(kind), step, meta });
const ofRun = <E extends EventDraft["kind"]>(kind: E, meta: fc.Arbitrary<object>) =>
  fc.record({ kind: fc.constant(kind), step: fc.constant(""), meta });
const rare = fc.oneof(
  ofRun("run_failed", fc.record({ message: fc.constant("no"), steps: fc.uniqueArray(step) })),
  ofRun("run_resumed", fc.record({ retryFailed: fc.boolean() })),
  ofRun("run_forked", fc.constant(forked.meta)),
  ofRun(
    "run_migrated",
    fc.constantFrom(
      { from: "1", to: "2", schema: 1, renamed: { a: "b", b: "a" } },
      { from: "1", to: "2", schema: 1, renamed: { b: "a" }, dropped: ["a"] },
      { from: "1", to: "2", schema: 1, dropped: ["a/in"] },
    ),
  ),
);
const common = fc.oneof(
  ofStep(
    "step_started",
    fc.record({
      type: fc.constant("call"),
      effect: fc.constant("once"),
      attempt,
      call: fc.constant(1),
    }),
  ),
  ofStep("step_completed", fc.constant({})),
  ofStep("gate_answered", fc.constant({ digest: "d", choice: "yes" })),
  ofStep("step_failed", fc.constantFrom({ attempt: 1 }, { attempt: 1, retryAt: 5 })),
  ofStep("step_in_doubt", fc.constant({ attempt: 1, rerunAfter: 0 })),
  ofStep("step_resolved", fc.record({ action: fc.constantFrom("done", "failed", "rerun") })),
  ofStep("step_evidence", fc.record({ attempt })),
  ofStep(
    "child_finished",
    fc.record({ child: fc.constant("c"), status: fc.constantFrom("completed", "failed") }),
  ),
  ofStep("value_edited", fc.constant({ what: "step" })),
);

describe("whatever happens to steps", () => {
  it("the log says what the engine's own state says", () => {
    const events = fc.array(fc.oneof({ weight: 8, arbitrary: common }, { weight: 1, arbitrary: rare }), {
      maxLength: 40,
    });
    let done = 0;
    fc.assert(
      fc.property(events, (drafts) => {
        const journal = new Journal();
        for (const draft of drafts) journal.write(draft as EventDraft);
        const told = [...journal.log.steps()].filter(({ isDropped }) => !isDropped);
        expect(new Map(told.map(({ step: key, record }) => [key, record]))).toEqual(
          new Map(journal.state.steps()),
        );
        done += told.filter(isDone).length;
      }),
      { numRuns: 2_000, seed: 11 },
    );
    expect(done).toBeGreaterThan(0);
  });
});
