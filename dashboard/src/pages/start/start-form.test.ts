import { describe, expect, it } from "vitest";
import { EMPTY, readLabels, readStart, wordsOf } from "./start-form.ts";

const form = { ...EMPTY, workflow: "pay" };

describe("the form that starts a run", () => {
  it("takes JSON, labels and numbers, and leaves out what is empty", () => {
    expect(readStart(form)).toEqual({ args: { workflow: "pay" } });
    expect(
      readStart({ ...form, input: '{"order":7}', labels: "team=a, of = x", priority: "-5", queue: "orders" }),
    ).toEqual({
      args: {
        workflow: "pay",
        input: { order: 7 },
        labels: { team: "a", of: "x" },
        priority: -5,
        queue: "orders",
      },
    });
  });

  it("says which field is wrong, all of them at once", () => {
    const read = readStart({ ...form, input: "{", labels: "team", priority: "1000" });
    expect("problems" in read && Object.keys(read.problems)).toEqual(["input", "labels", "priority"]);
  });

  it("splits labels at the first sign only", () => {
    expect(readLabels("a=b=c")).toEqual({ a: "b=c" });
    expect(readLabels("=b")).toBeNull();
  });

  it("knows the same as a command", () => {
    expect(wordsOf({ ...form, labels: "team=a", key: "k" })).toEqual([
      "run",
      "pay",
      "--detach",
      "--label",
      "team=a",
      "--key",
      "k",
    ]);
  });
});
