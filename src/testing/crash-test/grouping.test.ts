import { describe, expect, it } from "vitest";
import { type Baseline, baselineOf } from "./baseline.ts";
import { buildReport, type RunFacts } from "./build-report.ts";
import type { SceneResult } from "./config.ts";
import { type Finding, other, twice } from "./findings.ts";
import type { Note } from "./notes.ts";
import type { CaseReport } from "./report.ts";

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

const begun = (step: string, n: number): Note => ({
  type: "begun",
  runId: "r",
  step,
  effect: "repeatable",
  attempt: 1,
  epoch: 1,
  key: step,
  args: "",
  pid: 7,
  n,
});

const baseline = (...steps: readonly string[]): Baseline => {
  const notes = steps.map(begun);
  return baselineOf({ result, notes }, { result, notes });
};

/** A report of cases with one finding each. */
function reported(base: Baseline, findings: readonly Finding[]) {
  const ends = findings.map((finding, index) => ({
    report: caseOf(`C07-${index + 1}`, finding),
    verdict: { findings: [finding], duplicates: 1, deduplicated: 0, counts: {}, stepsLost: 0 },
    people: { answered: 0, signalled: 0, settled: 0 },
  }));
  const facts: RunFacts = {
    options: { file: "flow.ts" },
    startedAt: "2026-11-15T12:00:00.000Z",
    seconds: 1,
    holdfast: "0.1.0",
    claimMs: 500,
    baseline: base,
    findings: [],
    selected: { places: [], possible: findings.length, text: "all" },
    ends,
  };
  return buildReport(facts).problems;
}

const caseOf = (id: string, { message }: Finding): CaseReport => ({
  id,
  at: `just after the call ${id}`,
  outcome: "broken",
  kills: 1,
  recoveryMs: 100,
  stepsLost: 0,
  seconds: 1,
  findings: [message],
});

describe("the problems of a report (A14)", () => {
  it("are one where only the numbers in a step's name vary from case to case", () => {
    const names = ["x0.123", "x0.98765", "x0.5"];
    const [problem, ...more] = reported(
      baseline("load"),
      names.map((name) => twice.repeatable(name, "mail 7", 2)),
    );
    expect(more).toEqual([]);
    expect(problem).toMatchObject({
      step: "x0.123",
      cases: 3,
      first: "killed just after the call C07-1",
      repeat: "holdfast crash-test flow.ts --fault sigkill --case C07-1",
    });
  });

  it("are one where ids vary, and two for two steps of the workflow, whatever their numbers", () => {
    const ids = ["pay-9f8e7d6c-1b2a", "pay-0a1b2c3d-ffee"];
    expect(
      reported(
        baseline("load"),
        ids.map((id) => twice.once(id, "payment", 2)),
      ),
    ).toHaveLength(1);
    const steps = ["mail[0]", "mail[1]"];
    const found = reported(
      baseline(...steps),
      steps.map((step) => twice.repeatable(step, "mail", 2)),
    );
    expect(found.map(({ step, cases }) => [step, cases])).toEqual([
      ["mail[0]", 1],
      ["mail[1]", 1],
    ]);
  });

  it("are two where two promises were broken in one step", () => {
    const found = reported(baseline("mail"), [
      twice.repeatable("mail", "mail 7", 2),
      other.calls("mail", 4, 1, 1),
    ]);
    expect(found.map(({ promise }) => promise)).toEqual(["one-effect", "one-extra-call"]);
  });
});
