import { describe, expect, it } from "vitest";
import { blocksOf, GROUPS, groupOfKind } from "./blocks.ts";

describe("the blocks of a journal", () => {
  it("are the newest ones, newest first, and there is always one", () => {
    expect(blocksOf(0, 1)).toEqual([0]);
    expect(blocksOf(200, 3)).toEqual([0]);
    expect(blocksOf(201, 3)).toEqual([1, 0]);
    expect(blocksOf(20_005, 2)).toEqual([100, 99]);
  });
});

describe("the groups of events", () => {
  it("hold what people did apart from what the engine did", () => {
    expect(["pause_requested", "gate_answered", "values_read"].map(groupOfKind)).toEqual([
      "people",
      "people",
      "people",
    ]);
    expect(["step_started", "run_claimed", "checkpoint_marked", "something_new"].map(groupOfKind)).toEqual(
      GROUPS.filter((group) => group !== "people"),
    );
  });
});
