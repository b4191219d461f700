import { describe, expect, it } from "vitest";
import { type Step, treeOf } from "../outline/tree.ts";
import { barsOf, criticalOf, linesOf } from "./bars.ts";
import { scaleOf, ticksOf, tickText } from "./scale.ts";

const DAY = 86_400_000;
const step = (given: Partial<Step>): Step => ({
  step: "pay",
  within: "",
  type: "call",
  effect: "repeatable",
  state: "done",
  attempts: [],
  seq: 1,
  ...given,
});

describe("the bars of a step", () => {
  it("are one for each attempt and one for each wait between them (S1-32)", () => {
    const attempts: Step["attempts"] = [
      { attempt: 1, startedAt: 100, endedAt: 120, outcome: "failed", retryAt: 180 },
      { attempt: 2, startedAt: 185, endedAt: 200, outcome: "done" },
    ];
    expect(barsOf(step({ attempts }), 999)).toEqual([
      { attempt: 1, from: 100, to: 120, kind: "failed" },
      { attempt: 1, from: 120, to: 185, kind: "retry" },
      { attempt: 2, from: 185, to: 200, kind: "done" },
    ]);
  });

  it("last until now while an attempt or a wait has not ended", () => {
    const attempts: Step["attempts"] = [{ attempt: 1, startedAt: 100 }];
    expect(barsOf(step({ attempts, state: "under way" }), 300)).toEqual([
      { attempt: 1, from: 100, to: 300, kind: "under way" },
    ]);
    expect(barsOf(step({ attempts, type: "gate", state: "under way" }), 300)[0]?.kind).toBe("wait");
  });

  it("end an attempt whose worker died when the next one begins", () => {
    const attempts: Step["attempts"] = [
      { attempt: 1, startedAt: 100 },
      { attempt: 2, startedAt: 150, endedAt: 160, outcome: "done" },
    ];
    expect(barsOf(step({ attempts }), 300)[0]).toEqual({ attempt: 1, from: 100, to: 150, kind: "in doubt" });
  });
});

describe("the critical path", () => {
  const spans: readonly (readonly [string, number, number])[] = [
    ["load", 0, 100],
    ["fast", 100, 120],
    ["slow", 100, 400],
    ["side", 0, 30],
    ["join", 400, 450],
  ];
  const steps = spans.map(([name, startedAt, endedAt], index) =>
    step({ step: name, seq: index, attempts: [{ attempt: 1, startedAt, endedAt, outcome: "done" }] }),
  );
  const tree = treeOf({ steps, pending: [], loops: [], agents: [], marks: [] });

  it("is made of the steps that the end had to wait for", () => {
    const path = criticalOf(linesOf(tree, 450, false));
    expect(path.map((line) => line.step.step)).toEqual(["load", "slow", "join"]);
  });

  it("is empty where nothing has begun", () => expect(criticalOf([])).toEqual([]));
});

describe("the axis of the timeline", () => {
  it("cuts the days between two resumes and gives work its true length", () => {
    const work = [
      { from: 0, to: 1_000 },
      { from: 2 * DAY, to: 2 * DAY + 3_000 },
    ];
    const { pieces, x, width } = scaleOf(work, { from: 0, to: 2 * DAY + 3_000 }, 444);
    expect(pieces.map(({ isBreak }) => isBreak)).toEqual([false, true, false]);
    expect(pieces.map((piece) => piece.width)).toEqual([100, 44, 300]);
    expect([x(0), x(1_000), x(2 * DAY), x(2 * DAY + 3_000), width]).toEqual([0, 100, 144, 444, 444]);
    // A wait that lasts for the gap goes across the break.
    expect(x(DAY)).toBeCloseTo(122);
  });

  it("keeps short gaps as they are", () => {
    const work = [
      { from: 0, to: 1_000 },
      { from: 1_500, to: 2_000 },
    ];
    expect(scaleOf(work, { from: 0, to: 2_000 }, 200).pieces).toHaveLength(1);
  });

  it("has a place for a wait after the last call, and survives a run without any call", () => {
    const { pieces, x } = scaleOf([{ from: 0, to: 1_000 }], { from: 0, to: DAY }, 300);
    expect(pieces.at(-1)).toMatchObject({ from: DAY, to: DAY });
    expect(x(DAY)).toBe(300);
    expect(scaleOf([], { from: 5, to: 5 }, 300).x(5)).toBe(0);
  });

  it("tells half seconds apart", () => {
    expect([500, 1_000, 1_500, 90_000].map(tickText)).toEqual(["500 ms", "1 s", "1.5 s", "1 min"]);
  });

  it("has round times far enough apart to be read", () => {
    const scale = scaleOf([{ from: 0, to: 10_000 }], { from: 0, to: 10_000 }, 1_000);
    const ticks = ticksOf(scale, 0);
    expect(ticks.map(({ at }) => at)).toEqual([
      0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000,
    ]);
  });
});
