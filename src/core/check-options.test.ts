import { describe, expect, it } from "vitest";
import {
  checkFunction,
  checkKeys,
  checkNumber,
  checkObject,
  checkOneOf,
  checkText,
  checkWhole,
} from "./check-options.ts";
import { HoldfastError } from "./errors.ts";

const refusal = (check: () => unknown): unknown => {
  try {
    return { passed: check() };
  } catch (error) {
    return HoldfastError.is(error, "HF-1003") ? error.detail : error;
  }
};
const endless = { above: 0, most: Infinity };
const share = { above: 0, most: 1 };

describe("checks of options", () => {
  it.each([
    [() => checkNumber("o", 0.5), 0.5],
    [() => checkNumber("o", 0, { least: 0 }), 0],
    [() => checkNumber("o", Infinity, endless), Infinity],
    [() => checkNumber("o", 1, share), 1],
    [() => checkWhole("o", 1), 1],
    [() => checkWhole("o", 0, 0), 0],
    [() => checkText("o", ""), ""],
    [() => checkText("o", "ab", 1, 2), "ab"],
    [() => checkOneOf("o", "b", ["a", "b"]), "b"],
  ])("pass on what fits: %s", (check, value) => {
    expect(refusal(check)).toEqual({ passed: value });
  });

  it.each([
    [() => checkNumber("o", 0), "it must be a number above 0"],
    [() => checkNumber("o", "1"), "it must be a number above 0"],
    [() => checkNumber("o", Number.NaN), "it must be a number above 0"],
    [() => checkNumber("o", Infinity), "it must be a number above 0"],
    [() => checkNumber("o", Number.NaN, endless), "it must be a number above 0"],
    [() => checkNumber("o", -1, { least: 0 }), "it must be a number of 0 or more"],
    [() => checkNumber("o", 1.1, share), "it must be a number above 0 and up to 1"],
    [() => checkWhole("o", 1.5), "it must be a whole number of 1 or more"],
    [() => checkWhole("o", Infinity), "it must be a whole number of 1 or more"],
    [() => checkWhole("o", 10, 1, 9), "it must be a whole number from 1 to 9"],
    [() => checkText("o", undefined), "it must be a text"],
    [() => checkText("o", "", 1), "it must be a text that is not empty"],
    [() => checkText("o", "abc", 0, 2), "it must be a text of at most 2 characters"],
    [() => checkText("o", "", 1, 2), "it must be a text of 1 to 2 characters"],
    [() => checkOneOf("o", "d", ["a", "b", "c"]), "it must be a, b or c"],
    [() => checkFunction("o", {}), "it must be a function"],
    [() => checkObject("o", [], "an object of limits"), "it must be an object of limits"],
    [() => checkObject("o", null), "it must be an object"],
  ])("say what an option takes: %s", (check, problem) => {
    expect(refusal(check)).toEqual({ option: "o", problem });
  });

  it("name a key that is not known, where it was given and what was probably meant", () => {
    expect(refusal(() => checkKeys({ atempts: 3 }, ["baseMs", "attempts"], "retry"))).toEqual({
      option: "retry.atempts",
      problem: "there is no such option (did you mean attempts?)",
    });
    expect(refusal(() => checkKeys({ stauts: [] }, ["status"], undefined, "filter"))).toEqual({
      option: "stauts",
      problem: "there is no such filter (did you mean status?)",
    });
    expect(refusal(() => checkKeys({ mode: 1 }, ["status", "labels"]))).toEqual({
      option: "mode",
      problem: "there is no such option; there are labels, status",
    });
    expect(refusal(() => checkKeys({ status: 1 }, ["status"]))).toEqual({ passed: undefined });
  });
});
