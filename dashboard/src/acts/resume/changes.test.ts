import { describe, expect, it } from "vitest";
import { flagsOf, NO_CHANGES, sentOf } from "./changes.ts";
import { groupSteps } from "./group-steps.ts";

describe("the changes of a resume", () => {
  it("are sent as the API takes them, and shown as options of the command", () => {
    const changes = {
      ...NO_CHANGES,
      now: true,
      budgetUsd: "2.5",
      set: '{"memory":{"model":"large"},"input":{"a":1}}',
    };
    expect(sentOf(changes)).toEqual({
      now: true,
      budget: { costUsd: 2.5 },
      set: { memory: { model: "large" }, input: { a: 1 } },
    });
    expect(flagsOf(changes)).toEqual([
      "--now",
      "--budget-usd",
      "2.5",
      "--set",
      'memory.model="large"',
      "--set",
      'input={"a":1}',
    ]);
  });

  it("are not sent while something is filled in wrong", () => {
    expect(sentOf({ ...NO_CHANGES, budgetUsd: "-1" })).toBeNull();
    expect(sentOf({ ...NO_CHANGES, set: "[1]" })).toBeNull();
    expect(sentOf({ ...NO_CHANGES, set: "{" })).toBeNull();
    expect(sentOf(NO_CHANGES)).toEqual({});
  });
});

describe("the steps of a long plan", () => {
  it("are grouped by the step of the list they belong to, and a short plan is not", () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({ step: `match[${index}]` }));
    expect(
      groupSteps([...rows, { step: "pay" }]).map(({ name, rows: { length } }) => [name, length]),
    ).toEqual([
      ["match[…]", 40],
      ["pay", 1],
    ]);
    expect(groupSteps(rows.slice(0, 3)).map(({ name }) => name)).toEqual([
      "match[0]",
      "match[1]",
      "match[2]",
    ]);
  });
});
