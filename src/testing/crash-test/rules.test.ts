import { describe, expect, it } from "vitest";
import type { CallPlace } from "../witness/log.ts";
import { type Baseline, baselineOf, differences } from "./baseline.ts";
import type { SceneResult } from "./config.ts";
import { tally } from "./effects.ts";
import { attributed, type Begun, type Effected, type Ended, type Note } from "./notes.ts";
import { seenOf } from "./people.ts";
import { type Facts, judge, judgeBaseline } from "./rules.ts";

type Draft = Partial<CallPlace> & { readonly step: string };

const call = (draft: Draft): CallPlace => ({
  runId: "r",
  effect: "repeatable",
  attempt: 1,
  epoch: 1,
  key: "k",
  args: "",
  ...draft,
});

const numbered = (notes: readonly (Begun | Ended | Effected)[]): Note[] =>
  notes.map((note, index) => ({ pid: 7, ...note, n: index + 1 }));

const begun = (draft: Draft) => ({ ...call(draft), type: "begun" as const });
const effect = (kind: string, id: string, draft: Draft) => ({
  ...call(draft),
  type: "effect" as const,
  kind,
  id,
});

const result = (more: Partial<SceneResult> = {}): SceneResult => ({
  workflow: { name: "flow", version: "1" },
  store: { name: "sqlite", durability: "power-loss" },
  status: "completed",
  value: '{"total":3}',
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
  ...more,
});

const usual = numbered([
  begun({ step: "load" }),
  begun({ step: "mail" }),
  effect("mail", "7", { step: "mail" }),
]);

const baseline = (notes: readonly Note[] = usual): Baseline =>
  baselineOf({ result: result(), notes }, { result: result(), notes });

const facts = (notes: readonly Note[], more: Partial<Facts> = {}): Facts => ({
  fault: "sigkill",
  end: { code: 0, signal: null, isOverdue: false, result: result(), failure: null, output: "" },
  notes,
  violations: [],
  takeovers: new Map([["r", 1]]),
  patienceMs: 20_000,
  ...more,
});

const ended = (more: Partial<SceneResult>): Partial<Facts> => ({
  end: { ...facts([]).end, result: result(more) },
});

const messages = (notes: readonly Note[], more?: Partial<Facts>, base = baseline()): string[] =>
  judge(base, facts(notes, more)).findings.map(({ message }) => message);

describe("a case in which every promise was kept", () => {
  it("has no findings, and one step lost when one was called again", () => {
    const again = numbered([begun({ step: "load" }), ...usual]);
    const verdict = judge(baseline(), facts(again));
    expect(verdict.findings).toEqual([]);
    expect(verdict.stepsLost).toBe(1);
    expect(verdict.counts).toEqual({ mail: 1 });
  });
});

describe("an effect that was seen twice", () => {
  const mailTwice = (kind: CallPlace["effect"], keys: readonly [string, string]) =>
    numbered([
      begun({ step: "load" }),
      begun({ step: "mail", effect: kind, key: keys[0] }),
      effect("mail", "7", { step: "mail", effect: kind, key: keys[0] }),
      begun({ step: "mail", effect: kind, attempt: 2, key: keys[1] }),
      effect("mail", "7", { step: "mail", effect: kind, attempt: 2, key: keys[1] }),
    ]);

  it("is blamed on a repeatable step, with what to declare instead", () => {
    const [finding] = judge(baseline(), facts(mailTwice("repeatable", ["k", "k"]))).findings;
    expect(finding?.message).toBe("Step mail is declared repeatable, but the witness saw mail 7 twice.");
    expect(finding?.fix).toContain("keyed");
    expect(finding).toMatchObject({ promise: "one-effect", step: "mail" });
  });

  it("is no finding for a keyed step with one key: the receiver knows it", () => {
    const verdict = judge(baseline(), facts(mailTwice("keyed", ["k", "k"])));
    expect(verdict.findings).toEqual([]);
    expect(verdict).toMatchObject({ duplicates: 0, deduplicated: 1 });
  });

  it("is a finding for a keyed step whose keys differ, and for a once step", () => {
    expect(messages(mailTwice("keyed", ["k", "other"]))).toEqual([
      "Step mail is keyed, but the witness saw mail 7 twice under different keys.",
    ]);
    expect(messages(mailTwice("once", ["k", "k"]))).toEqual([
      "Step mail is declared once, but the witness saw mail 7 twice: nobody had it called again but its verify hook.",
    ]);
  });

  it("is blamed on the place between steps, or on a process that no step is known of", () => {
    const outside = effect("mail", "7", { step: "" });
    expect(
      messages(numbered([begun({ step: "load" }), outside, outside]), {}, baseline(numbered([outside]))),
    ).toEqual([
      "The witness saw mail 7 outside of all steps. Code between steps runs again after every crash.",
    ]);
    const foreign = { type: "effect" as const, kind: "mail", id: "7" };
    expect(messages(numbered([...usual, foreign]))).toEqual([
      "The witness saw mail 7 twice, from a process that no step is known of.",
    ]);
  });

  it("of a program that a step has started is the step's own, by the key that both know", () => {
    const told = (pid: number) => ({ type: "effect" as const, kind: "mail", id: "7", key: "of mail", pid });
    const begin = (attempt: number) => begun({ step: "mail", effect: "keyed", key: "of mail", attempt });
    const notes = [begun({ step: "load" }), begin(1), begin(2), told(8), told(9)];
    const known = attributed(numbered(notes));
    expect(known.at(-1)).toMatchObject({ step: "mail", effect: "keyed", attempt: 2, key: "of mail" });
    expect(judge(baseline(), facts(known))).toMatchObject({ findings: [], duplicates: 0, deduplicated: 1 });
    const stranger = numbered([{ type: "effect", kind: "mail", id: "7", key: "of nobody" }]);
    expect(attributed(stranger)).toMatchObject([{ kind: "mail", key: "of nobody" }]);
  });

  it("is allowed as often as an uninterrupted run makes it", () => {
    const twice = numbered([...usual, effect("mail", "7", { step: "mail" })]);
    expect(messages(twice, {}, baseline(twice))).toEqual([]);
  });
});

describe("effects that are new or missing", () => {
  it("are told with their number and their step", () => {
    const more = numbered([...usual, effect("mail", "8", { step: "mail" })]);
    expect(messages(more)).toEqual([
      "The witness saw 1 more mail than without a crash: mail 8 in step mail.",
    ]);
    const fewer = numbered([begun({ step: "load" }), begun({ step: "mail" })]);
    expect(messages(fewer)).toEqual([
      "The run came to its end, but the witness saw 1 fewer mail than without a crash: mail 7.",
    ]);
  });

  it("are not looked for after an error that the workflow's code may have dealt with", () => {
    expect(messages(numbered([begun({ step: "load" })]), { fault: "throw" })).toEqual([]);
  });
});

describe("calls of a repeatable step", () => {
  it("may be one more for each takeover, and not two", () => {
    const calls = (times: number) =>
      numbered([...Array.from({ length: times }, () => begun({ step: "load" })), ...usual]);
    expect(messages(calls(1))).toEqual([]);
    expect(messages(calls(2))).toEqual(["Step load was called 3 times instead of 1, with 1 takeover."]);
  });
});

describe("the end of a run", () => {
  it("is compared with that of an uninterrupted one, in what two of those agree on", () => {
    const first = result({ value: '{"at":1,"total":3}' });
    const second = result({ value: '{"at":2,"total":3}' });
    const base = baselineOf({ result: first, notes: usual }, { result: second, notes: usual });
    expect(base.differing).toEqual(["output.at"]);
    expect(messages(usual, ended({ value: '{"at":9,"total":3}' }), base)).toEqual([]);
    expect(messages(usual, ended({ value: '{"at":9,"total":4}' }), base)).toEqual([
      "The result differs from the one without a crash, in output.total.",
    ]);
  });

  it("is a finding when the run failed, got stuck, hung or took its process with it", () => {
    expect(messages(usual, ended({ status: "failed", error: "no such file", value: null }))).toEqual([
      "The run is failed instead of completed: no such file.",
    ]);
    const stuck = { kind: "migration", step: "", text: "HF-2121" };
    expect(messages(usual, ended({ stuck, status: "waiting", value: null }))).toEqual([
      "After the crash the run waits without end, for: migration (HF-2121).",
    ]);
    const lost = { kind: "workflow", step: "", text: "kid" };
    const running = [{ invariant: "I10" as const, runId: "r", message: "It is still running." }];
    expect(messages(usual, { ...ended({ stuck: lost, status: "waiting" }), violations: running })).toEqual([
      "After the crash nobody takes up the run of kid: its code is known only to the process that had started it.",
    ]);
    const { end } = facts([]);
    expect(messages(usual, { end: { ...end, result: null, isOverdue: true } })).toEqual([
      "The recovered process did not come to its end within 20 s.",
    ]);
    expect(messages(usual, { end: { ...end, result: null, code: 1, output: "…\nTypeError: x\n" } })).toEqual([
      "The recovered process ended by itself: exit 1, TypeError: x.",
    ]);
  });

  it("may be a failure whose effects were undone, when that is how the workflow takes errors", () => {
    expect(messages(usual, { fault: "throw", ...ended({ status: "failed", undone: true }) })).toEqual([]);
  });
});

describe("a keyed step that a person had to decide about", () => {
  it("was asked with other arguments than before", () => {
    const settled = [{ step: "pay", effect: "keyed", as: "rerun" as const }];
    expect(messages(usual, ended({ settled }))[0]).toContain("asked with arguments that differ");
  });
});

describe("a broken promise of the journal", () => {
  it("is told as ours, not as the workflow's", () => {
    const violations = [{ invariant: "I2" as const, runId: "r", message: "The write at #3 is not there." }];
    const [finding] = judge(baseline(), facts(usual, { violations })).findings;
    expect(finding).toMatchObject({ promise: "durable", message: "The write at #3 is not there. (I2)" });
    expect(finding?.fix).toContain("not of the workflow");
  });
});

describe("an uninterrupted run", () => {
  it("shows effects between steps and steps that its own replay does not find again", () => {
    const outside = baseline(numbered([effect("welcome", "Ada", { step: "" })]));
    expect(
      judgeBaseline(outside, { asked: ["load-2"], notAsked: ["load-1"] }).map(({ promise }) => promise),
    ).toEqual(["inside-steps", "same-names"]);
    expect(judgeBaseline(baseline(), { asked: [], notAsked: [] })).toEqual([]);
  });
});

describe("the tally of effects", () => {
  it("counts what the furthest attempt under one key has done", () => {
    const of = (id: string, attempt: number) => effect("row", id, { step: "load", effect: "keyed", attempt });
    const { list, deduplicated } = tally(numbered([of("1", 1), of("1", 2), of("2", 2), of("1", 3)]));
    expect(list.map(({ id, attempt }) => `${id} in ${attempt}`)).toEqual(["1 in 2", "2 in 2"]);
    expect(deduplicated).toHaveLength(2);
  });
});

describe("the operator who asks the witness", () => {
  const pay = call({ step: "pay", effect: "once" });

  it("marks a step done with what its call returned", () => {
    const notes = numbered([
      { ...pay, type: "begun" },
      { ...pay, type: "ended", ok: true, value: '"receipt"' },
    ]);
    expect(seenOf(notes, "r", "pay", {})).toEqual({ isDone: true, value: "receipt", effect: "once" });
  });

  it("takes the value of an uninterrupted run when only the effect was seen", () => {
    const notes = numbered([{ ...pay, type: "begun" }, effect("payment", "1", pay)]);
    expect(seenOf(notes, "r", "pay", { "r pay": '"usual"' })).toMatchObject({ isDone: true, value: "usual" });
  });

  it("has a step run again that did nothing, or failed", () => {
    expect(seenOf([], "r", "pay", {}).isDone).toBe(false);
    const notes = numbered([
      { ...pay, type: "begun" },
      { ...pay, type: "ended", ok: false },
    ]);
    expect(seenOf(notes, "r", "pay", {}).isDone).toBe(false);
  });
});

describe("differences between results", () => {
  it("are told as paths, down to where they are", () => {
    expect(differences({ a: [1, { b: 2 }], c: 3 }, { a: [1, { b: 4 }], d: 5 })).toEqual([
      "output.a[1].b",
      "output.c",
      "output.d",
    ]);
    expect(differences([1], [1, 2])).toEqual(["output"]);
    expect(differences(1, 2, new Set(["output"]))).toEqual([]);
  });
});
