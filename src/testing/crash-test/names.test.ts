import { describe, expect, it } from "vitest";
import type { CallPlace } from "../witness/log.ts";
import { type Baseline, baselineOf } from "./baseline.ts";
import type { SceneResult } from "./config.ts";
import type { Note } from "./notes.ts";
import { type Facts, judge, judgeBaseline } from "./rules.ts";

type Effect = CallPlace["effect"];

const result: SceneResult = {
  workflow: { name: "flow", version: "1" },
  store: { name: "sqlite", durability: "power-loss" },
  status: "completed",
  value: "1",
  error: null,
  stuck: null,
  undone: false,
  places: [],
  writes: 4,
  backAt: 10,
  readyAt: 20,
  settled: [],
  answered: 0,
  signalled: 0,
  replay: null,
};

/** Calls with the given return values, in order. */
const called = (...list: readonly (readonly [step: string, value: string, effect?: Effect])[]): Note[] =>
  list.flatMap(([step, value, effect = "repeatable"], index) => {
    const place = { runId: "r", step, effect, attempt: 1, epoch: 1, key: step, args: "", pid: 7 };
    return [
      { ...place, type: "begun", n: index * 2 + 1 },
      { ...place, type: "ended", ok: true, value, n: index * 2 + 2 },
    ];
  });

const baseline = (first: Note[], second = first): Baseline =>
  baselineOf({ result, notes: first }, { result, notes: second });

const judged = (base: Baseline, notes: Note[]) => {
  const facts: Facts = {
    fault: "sigkill",
    end: { code: 0, signal: null, isOverdue: false, result, failure: null, output: "" },
    notes,
    violations: [],
    takeovers: new Map([["r", 1]]),
    patienceMs: 20_000,
  };
  return judge(base, facts).findings;
};

describe("the names of a case's steps (A14)", () => {
  const usual = called(["load", "1"], ["left", "2"]);

  it("that differ from the baseline's show a branch that follows from nothing recorded", () => {
    expect(judged(baseline(usual), called(["load", "1"], ["right", "2"]))).toMatchObject([
      { promise: "same-names", message: expect.stringContaining("it called right, and not left") },
    ]);
    expect(judged(baseline(usual), called(["load", "1"], ["left", "2"], ["right", "2"]))).toHaveLength(1);
  });

  it("may differ after a step that returned something else", () => {
    expect(judged(baseline(usual), called(["load", "9"], ["right", "2"]))).toEqual([]);
  });

  it("are not compared where two uninterrupted runs differ, which is told by itself", () => {
    const base = baseline(usual, called(["load", "1"], ["right", "2"]));
    expect(judged(base, called(["load", "1"], ["right", "2"]))).toEqual([]);
    expect(judgeBaseline(base, null)).toMatchObject([{ promise: "same-names" }]);
    expect(judgeBaseline(baseline(usual, called(["load", "3"], ["right", "2"])), null)).toEqual([]);
  });

  it("that lack a call with an effect point at its verify hook", () => {
    const mails = baseline(called(["load", "1"], ["mail", "2", "once"]));
    expect(judged(mails, called(["load", "1"]))).toMatchObject([
      { promise: "no-effect-lost", step: "mail", fix: expect.stringContaining("verify hook") },
    ]);
  });
});

describe("a once step that was called twice (A14)", () => {
  const effect = (n: number): Note => ({
    type: "effect",
    kind: "mail",
    id: "7",
    runId: "r",
    step: "mail",
    effect: "once",
    n,
    pid: 7,
  });
  const once = [...called(["mail", "1", "once"]), effect(9)];
  const twice = [...once, ...called(["mail", "1", "once"]), effect(10)];

  it("without anybody's word is blamed on its verify hook", () => {
    expect(judged(baseline(once), twice)).toMatchObject([
      { promise: "one-effect", fix: expect.stringContaining("Its verify hook said that it was not done") },
    ]);
  });
});
