import { describe, expect, it } from "vitest";
import {
  type CaseReport,
  type CrashTestReport,
  percentile,
  recoveryFigures,
  reportDigest,
  reportToJson,
} from "./report.ts";
import { reportToJunit, reportToMarkdown } from "./report-files.ts";
import { reportToText } from "./report-text.ts";

const held: CaseReport = {
  id: "write-1-before",
  at: "before write 1: the run is created",
  outcome: "held",
  kills: 1,
  recoveryMs: 412,
  stepsLost: 0,
  seconds: 1.2,
  findings: [],
};

const good: CrashTestReport = {
  kind: "holdfast-crash-test",
  schema: 1,
  ok: true,
  workflow: { name: "reconcile", version: "1", file: "reconcile.ts" },
  fault: "sigkill",
  seed: 1,
  store: { name: "sqlite", durability: "power-loss" },
  claimMs: 500,
  startedAt: "2026-11-15T12:00:00.000Z",
  seconds: 21.4,
  machine: { node: "22.0.0", holdfast: "0.1.0", os: "linux 6", arch: "x64", cpu: "some", cpus: 2 },
  boundaries: { possible: 68, tried: 68, missed: 0, selection: "all 68 boundaries" },
  baseline: {
    status: "completed",
    writes: 26,
    steps: 14,
    calls: 14,
    notCompared: [],
    sameCalls: true,
    sameEffects: true,
  },
  kills: 68,
  struck: 68,
  held: 68,
  recoveryMs: { p50: 412, p95: 588, max: 1_640 },
  stepsLost: { most: 1, total: 20 },
  effects: { payment: { each: 12, counted: 816 }, mail: { each: 1, counted: 68 } },
  duplicates: 0,
  deduplicated: 3,
  people: { answered: 4, signalled: 0, settled: 1 },
  problems: [],
  cases: [held],
};

const broken: CaseReport = {
  ...held,
  id: "C07-2",
  at: "just after the call of mail",
  outcome: "broken",
  stepsLost: 1,
  findings: ["Step mail is declared repeatable, but the witness saw mail 7 twice."],
};

const bad: CrashTestReport = {
  ...good,
  ok: false,
  struck: 2,
  held: 1,
  duplicates: 1,
  deduplicated: 0,
  people: { answered: 0, signalled: 0, settled: 0 },
  problems: [
    {
      promise: "one-effect",
      step: "mail",
      message: "Step mail is declared repeatable, but the witness saw mail 7 twice.",
      fix: "Declare it keyed.",
      cases: 1,
      first: "killed just after the call of mail",
      repeat: "holdfast crash-test reconcile.ts --case C07-2",
    },
  ],
  cases: [held, broken, { ...held, id: "effect-9", outcome: "missed", kills: 0, recoveryMs: null }],
};

describe("the text", () => {
  it("says in a few lines that everything held", () => {
    expect(reportToText(good)).toMatchInlineSnapshot(`
      "reconcile · sigkill at all 68 boundaries · sqlite
        ✓ 68/68 kills recovered   p50 412ms  p95 588ms   work lost ≤ 1 step
        ✓ 0 duplicate side effects (12 payments, 1 mail counted in each case)   3 repeated under the same key
        ✓ same end, same result, journal verified after every case
        · 1 in-doubt step was settled by what the witness saw
        · 4 gate answers given
        · recovery times include the start of a new process, and up to 500ms until the dead one's claim has run out (claimMs, 15s unless set)"
    `);
  });

  it("explains what broke, where it was first seen, what to do and how to see it again", () => {
    expect(reportToText(bad)).toMatchInlineSnapshot(`
      "reconcile · sigkill at all 68 boundaries · sqlite
        ✗ 1/2 kills recovered   p50 412ms  p95 588ms   work lost ≤ 1 step
        ✗ 1 duplicate side effect (12 payments, 1 mail counted in each case)
        ✗ 1 problem found
        · recovery times include the start of a new process, and up to 500ms until the dead one's claim has run out (claimMs, 15s unless set)

      ✗ broken: an effect is never made twice, in 1 of 2 cases
          Seen  Step mail is declared repeatable, but the witness saw mail 7 twice.
          First killed just after the call of mail
          Fix   Declare it keyed.
          Again holdfast crash-test reconcile.ts --case C07-2"
    `);
  });

  it("breaks what is told about a problem to the width of the terminal, but no command", () => {
    const lines = reportToText(bad, undefined, 60).split("\n").slice(-5);
    expect(lines).toEqual([
      "    Seen  Step mail is declared repeatable, but the witness",
      "          saw mail 7 twice.",
      "    First killed just after the call of mail",
      "    Fix   Declare it keyed.",
      "    Again holdfast crash-test reconcile.ts --case C07-2",
    ]);
  });

  it("says what was not looked at, and that nothing was tested when nothing was", () => {
    const baseline = { ...good.baseline, notCompared: ["output.at"], sameCalls: false };
    const nothing = { ...good, ok: false, struck: 0, held: 0, recoveryMs: null, effects: {}, baseline };
    const boundaries = { ...good.boundaries, missed: 2 };
    const text = reportToText({ ...nothing, boundaries });
    expect(text).toContain("✗ no boundary was reached: nothing was tested");
    expect(text).toContain("· not compared, because two uninterrupted runs differ there: output.at");
    expect(text).toContain("· calls were not compared");
    expect(text).toContain("· no side effect was witnessed");
    expect(text).toContain("· 2 of the boundaries were not reached this time");
    expect(text).not.toContain("p50");
  });
});

describe("the Markdown report", () => {
  it("holds date, machine, versions, figures, every boundary and the digest of the JSON report", () => {
    const page = reportToMarkdown(bad);
    for (const part of [
      "| Date | 2026-11-15T12:00:00.000Z, 21.4 s |",
      "| RTO | p50 412ms, p95 588ms, max 1.6s (claim 500ms included) |",
      "| RPO | ≤ 1 step called again for one fault, 20 in all; acknowledged writes lost: 0 |",
      "| Versions | Holdfast 0.1.0, Node.js 22.0.0 |",
      `\`${reportDigest(reportToJson(bad))}\``,
      "### Broken: an effect is never made twice",
      "| C07-2 | just after the call of mail | ✗ broken | 412ms | 1 |",
      "| effect-9 | before write 1: the run is created | ○ not reached | – | 0 |",
    ])
      expect(page).toContain(part);
  });
});

describe("the JUnit report", () => {
  it("has one test case for each boundary, with what broke and what was not reached", () => {
    const xml = reportToJunit(bad);
    expect(xml).toContain('tests="3" failures="1" skipped="1"');
    expect(xml).toContain('name="write-1-before: before write 1: the run is created" time="1.2"/>');
    expect(xml).toContain("saw mail 7 twice.\nDeclare it keyed.</failure>");
    expect(xml).toContain('<skipped message="not reached this time"/>');
  });

  it("counts what was wrong without any crash as a test of its own", () => {
    const problems = bad.problems.map((problem) => ({ ...problem, cases: 0 }));
    expect(reportToJunit({ ...good, ok: false, problems })).toContain('tests="2" failures="1" skipped="0"');
  });

  it("writes whatever a message holds as XML", () => {
    const findings = ["a < b & \"c\" \u0000 'd'"];
    const xml = reportToJunit({ ...bad, cases: [{ ...broken, findings }] });
    expect(xml).toContain('message="a &lt; b &amp; &quot;c&quot;  &apos;d&apos;"');
  });
});

describe("the figures", () => {
  it("are nearest ranks", () => {
    const list = Array.from({ length: 20 }, (_, index) => index + 1);
    expect([percentile(list, 0.5), percentile(list, 0.95), percentile([7], 0.95)]).toEqual([10, 19, 7]);
  });

  it("leave out cases in which nothing was left to recover", () => {
    expect(recoveryFigures([held, { ...held, recoveryMs: null }])).toEqual({ p50: 412, p95: 412, max: 412 });
    expect(recoveryFigures([{ ...held, recoveryMs: null }])).toBeNull();
  });
});
