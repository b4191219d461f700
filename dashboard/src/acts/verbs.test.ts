import { describe, expect, it } from "vitest";
import type { ActedRun } from "./run-acts.ts";
import { verbsOf } from "./verbs.ts";

const run: ActedRun = {
  id: "r",
  workflow: "pay",
  seq: 4,
  status: "running",
  control: "none",
  waiting: [],
  can: ["pause", "cancel", "fork", "inject"],
  pinned: false,
  budget: null,
  headline: "running",
  word: "running",
};
const verbs = (given: Partial<ActedRun>, may: (permission: string) => boolean = () => true) =>
  verbsOf({ ...run, ...given }, may).map(({ verb }) => verb);

describe("the verbs of a run", () => {
  it("are what the API says that it can, the main one first", () => {
    expect(verbs({})).toEqual(["pause", "fork", "cancel", "undo", "inject", "pin", "export"]);
    expect(verbs({ can: ["cancel", "resume", "answer"] })[0]).toBe("answer");
    expect(verbs({ can: ["fork", "delete"], pinned: true })).toEqual(["fork", "unpin", "export", "delete"]);
  });

  it("are only those that the person may use", () => {
    expect(verbs({ can: ["answer", "resume"] }, (permission) => permission === "gates:answer")).toEqual([
      "answer",
    ]);
    expect(verbs({}, () => false)).toEqual([]);
  });
});
