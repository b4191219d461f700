import { describe, expect, it } from "vitest";
import type { EventDraft, JournalEvent, Migrated, StepStarted } from "./events.ts";
import { newProjection, projectAll } from "./project.ts";
import { formerKey, isDropped, renamedKey } from "./rename.ts";
import { restoreSnapshot, takeSnapshot } from "./snapshot.ts";
import { RunState } from "./state.ts";

/** A journal by hand: what matters here is only what the fold makes of it. */
class Journal {
  readonly state = new RunState();
  #seq = 0;

  write(...events: EventDraft[]): this {
    for (const event of events)
      this.state.apply({ ...event, seq: ++this.#seq, at: this.#seq, epoch: 1 } as JournalEvent);
    return this;
  }

  started(step: string, meta: Partial<StepStarted> = {}): this {
    const plain = { type: "call", effect: "repeatable", attempt: 1, call: 1 } as const;
    return this.write({ kind: "step_started", step, meta: { ...plain, ...meta } });
  }

  done(step: string, meta: Partial<StepStarted> = {}): this {
    return this.started(step, meta).write({ kind: "step_completed", step, meta: {}, data: "1" });
  }

  migrated(change: Partial<Migrated>): this {
    return this.write({ kind: "run_migrated", step: "", meta: { from: "1", to: "2", schema: 1, ...change } });
  }

  get keys(): string[] {
    return [...this.state.steps()].map(([key]) => key);
  }
}

const after = (change: Partial<Migrated>, ...steps: string[]): string[] => {
  const journal = new Journal();
  for (const step of steps) journal.done(step);
  return journal.migrated(change).keys;
};

describe("renaming recorded steps", () => {
  it("reaches every count, every member of a group and every iteration", () => {
    const renamed = { pay: "charge", match: "meet", "turn/ask": "question" };
    expect(
      after({ renamed }, "pay", "pay#2", "match[3]", "match#2[a]", "turn[7]/ask", "turn[7]/ask#2", "payee"),
    ).toEqual([
      "charge",
      "charge#2",
      "meet[3]",
      "meet#2[a]",
      "payee",
      "turn[7]/question",
      "turn[7]/question#2",
    ]);
  });

  it("takes along what lies inside", () => {
    expect(after({ renamed: { plan: "outline" } }, "plan/read/a", "plan/b", "plan")).toEqual([
      "outline",
      "outline/b",
      "outline/read/a",
    ]);
  });

  it("changes all names at once, by what they were before", () => {
    expect(after({ renamed: { a: "b", b: "c", c: "a" } }, "a", "b", "c").sort()).toEqual(["a", "b", "c"]);
    const journal = new Journal()
      .done("a")
      .done("b")
      .migrated({ renamed: { a: "b", b: "a" } });
    expect([journal.state.find("b")?.seq, journal.state.find("a")?.seq]).toEqual([2, 4]);
    expect(after({ renamed: { turn: "round", "turn/ask": "question" } }, "turn[0]/ask")).toEqual([
      "round[0]/question",
    ]);
  });

  it("loses nothing to a late outcome under a name that no step has any more", () => {
    const journal = new Journal()
      .done("pay/charge")
      .migrated({ renamed: { pay: "settle" } })
      .write({ kind: "step_evidence", step: "pay/charge", meta: { attempt: 1 }, data: "2" })
      .migrated({ renamed: { settle: "pay" } });
    expect(journal.keys).toEqual(["pay/charge"]);
    expect(journal.state.find("pay/charge")).toMatchObject({ status: "completed", data: "1" });
  });

  it("gives up dropped names first, so that they are free for others", () => {
    const journal = new Journal().done("a").done("b").done("b/inner");
    journal.migrated({ renamed: { a: "b" }, dropped: ["b"] });
    expect(journal.keys).toEqual(["b"]);
    expect(journal.state.find("b")?.seq).toBe(2);
  });

  it("leaves a name alone that only looks like a path of the record's prototype", () => {
    expect(after({ renamed: {} }, "constructor", "toString")).toEqual(["constructor", "toString"]);
  });

  it("takes the gate before a step along, and drops it with the step", () => {
    const gate = (journal: Journal) => journal.started("turn[1]/approve:pay#2", { type: "gate" });
    expect(gate(new Journal()).migrated({ renamed: { "turn/pay": "charge" } }).keys).toEqual([
      "turn[1]/approve:charge#2",
    ]);
    expect(gate(new Journal()).migrated({ dropped: ["turn/pay"] }).keys).toEqual([]);
  });

  it("takes along loops and the notes in their iterations", () => {
    const journal = new Journal()
      .write({ kind: "loop_advanced", step: "turn", meta: { iteration: 0 }, data: '{"state":{}}' })
      .write({ kind: "value_recorded", step: "turn[1]/now", meta: { value: 7 } })
      .migrated({ renamed: { turn: "round" } });
    expect([...journal.state.loops()].map(([key, loop]) => [key, loop.iteration])).toEqual([["round", 1]]);
    expect(journal.state.root.scopes.get("round[1]")?.notes.get("now")?.value).toBe(7);
  });

  it("takes along what a step wrote to memory, and leaves the memory's own name", () => {
    const write = (step: string): EventDraft => ({
      kind: "memory_written",
      step,
      meta: { name: "x" },
      data: "1",
    });
    const journal = new Journal()
      .write(write("plan/memory:x"), write("memory:x"), write(""))
      .migrated({ renamed: { plan: "outline", "memory:x": "other" } });
    expect(journal.state.memory.map(({ step }) => step)).toEqual(["outline/memory:x", "memory:x", ""]);
    expect([...journal.state.root.notes.keys()]).toEqual(["memory:x"]);
  });

  it("takes along what can be undone, an undo that has begun, and why the run failed", () => {
    const journal = new Journal()
      .done("turn[0]/pay", { undo: true })
      .done("hold", { undo: true })
      .started("compensate/hold", { effect: "keyed" })
      .write({ kind: "run_failed", step: "", meta: { message: "", steps: ["hold", "turn[0]/pay"] } })
      .migrated({ renamed: { hold: "reserve", "turn/pay": "charge" } });
    const { undoable, failedSteps } = journal.state;
    expect([...undoable.keys()]).toEqual(["turn[0]/charge", "reserve"]);
    expect(failedSteps).toEqual(["reserve", "turn[0]/charge"]);
    expect(journal.state.find("compensate/reserve")).toMatchObject({ first: "compensate/hold" });
    expect(journal.state.find("compensate/hold")).toBeUndefined();
  });

  it("takes along plans", () => {
    const journal = new Journal()
      .write({ kind: "plan_made", step: "plan", meta: { steps: ["pay", "mail", "greet"] } })
      .write({ kind: "plan_made", step: "plan:match", meta: { of: 3 } })
      .migrated({ renamed: { pay: "charge", match: "meet" }, dropped: ["greet"] });
    expect([...journal.state.facts.plans]).toEqual([
      ["", { steps: ["charge", "mail"] }],
      ["meet", { of: 3 }],
    ]);
  });
});

describe("idempotency keys", () => {
  it("are made of the key a step began under, however often it is renamed", () => {
    const { state } = new Journal()
      .started("turn[2]/pay", { effect: "keyed" })
      .migrated({ renamed: { turn: "round", "turn/pay": "charge" } })
      .migrated({ renamed: { "round/charge": "settle" } })
      .started("round[2]/settle", { effect: "keyed", attempt: 2 });
    expect(state.firstKey("round[2]/settle")).toBe("turn[2]/pay");
    expect(state.firstKey("round[2]/other")).toBe("round[2]/other");
    expect(state.keyNow("turn[2]/pay")).toBe("round[2]/settle");
  });

  it("find the step that began under one, which may have ended since, before another with that name", () => {
    const journal = new Journal().done("pay", { effect: "keyed" }).migrated({ renamed: { pay: "charge" } });
    expect(journal.state.keyNow("pay")).toBe("charge");
    journal.started("pay", { effect: "keyed", call: 2 });
    expect(journal.state.keyNow("pay")).toBe("pay");
    expect(journal.state.keyNow("never")).toBe("never");
  });

  it("are not given to another step that has the old name now", () => {
    const journal = new Journal().done("pay", { effect: "keyed" }).migrated({ renamed: { pay: "charge" } });
    expect(journal.state.freeCall("pay")).toBe(2);
    expect(journal.state.freeCall("charge")).toBe(1);
    journal.done("pay", { effect: "keyed", call: 2 }).migrated({ renamed: { pay: "fee" } });
    expect(journal.state.freeCall("pay")).toBe(3);
  });

  it("of places in a renamed scope stay as they were", () => {
    const { state } = new Journal().done("turn[2]/ask").migrated({ renamed: { turn: "round" } });
    expect(state.firstPlace("round[2]/uuid:order")).toBe("turn[2]/uuid:order");
    expect(state.firstPlace("turn[2]/uuid:order")).toBe("turn[2]/uuid:order");
    expect(state.firstPlace("uuid:order")).toBe("uuid:order");
  });
});

describe("a snapshot", () => {
  it("keeps what a migration left behind", () => {
    const journal = new Journal()
      .done("turn[0]/pay", { effect: "keyed" })
      .write({ kind: "loop_advanced", step: "turn", meta: { iteration: 0 }, data: '{"state":{}}' })
      .started("turn[1]/pay", { effect: "keyed" })
      .migrated({ renamed: { turn: "round" } });
    Object.assign(journal.state.loop("round"), { live: true, state: { value: {} } });
    const snapshot = takeSnapshot(journal.state);
    const restored = restoreSnapshot(structuredClone(snapshot) as NonNullable<typeof snapshot>) as RunState;
    expect(restored.firstKey("round[1]/pay")).toBe("turn[1]/pay");
    expect(restored.firstPlace("round[1]/uuid")).toBe("turn[1]/uuid");
    expect(restored.loop("round").acted).toBe(true);
    expect(restored.freeCall("turn[1]/pay")).toBe(2);
  });
});

describe("the run row", () => {
  const waiting = (...steps: string[]) => ({
    ...newProjection(0, "1", 1),
    status: "waiting" as const,
    wakeAt: null,
    waiting: steps.map((step) => ({
      kind: step === "" ? ("migration" as const) : ("gate" as const),
      step,
      since: 0,
    })),
  });
  const migrate = (row: ReturnType<typeof waiting>, change: Partial<Migrated>) => {
    const meta = { from: "1", to: "2", schema: 3, ...change };
    return projectAll(row, [{ kind: "run_migrated", step: "", meta, seq: 1, at: 1, epoch: 1 }], false);
  };

  it("waits for a renamed step under its new name", () => {
    const row = migrate(waiting("turn[3]/ok", "ok"), { renamed: { "turn/ok": "agree" } });
    expect(row).toMatchObject({ version: "2", schema: 3, status: "waiting", wakeAt: null });
    expect(row.waiting.map(({ step }) => step)).toEqual(["turn[3]/agree", "ok"]);
  });

  it("is due once nothing can end the wait any more", () => {
    expect(migrate(waiting("turn[3]/ok"), { dropped: ["turn"] })).toMatchObject({
      status: "queued",
      wakeAt: 0,
    });
    expect(migrate(waiting(""), {})).toMatchObject({ status: "queued", waiting: [], wakeAt: 0 });
  });
});

describe("a key", () => {
  const change = { renamed: { turn: "round", "turn/ask": "question", pay: "charge", b: "a", a: "b" } };

  it("is found by the name it has after a change, and by no other", () => {
    for (const key of ["turn[3]/ask#2", "turn[3]/other", "pay", "a", "b", "mail"]) {
      const now = renamedKey(key, change);
      expect(formerKey(now, [change])).toBe(key);
    }
    expect(formerKey("pay", [change])).toBeUndefined();
    expect(formerKey("turn[3]/ask", [change])).toBeUndefined();
    expect(formerKey("fee", [change, { renamed: { charge: "fee" } }])).toBe("pay");
    expect(formerKey("pay", [])).toBe("pay");
  });

  it("is dropped with what lies around it, and with nothing else", () => {
    expect(isDropped("turn[3]/ask/read", { dropped: ["turn/ask"] })).toBe(true);
    expect(isDropped("turn[3]/asked", { dropped: ["turn/ask"] })).toBe(false);
    expect(isDropped("ask", { dropped: ["turn/ask"] })).toBe(false);
  });
});
