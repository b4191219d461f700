import { describe, expect, it } from "vitest";
import { didYouMean, nearest } from "./nearest.ts";

describe("a mistyped word", () => {
  it.each([
    ["stauts", "status"],
    ["RETRYS", "retry"],
    ["bb", "b"],
    ["explian", "explain"],
  ])("is answered with the known one that is similar: %s", (word, meant) => {
    expect(didYouMean(word, ["other", meant])).toBe(` Did you mean ${meant}?`);
  });

  it.each([
    ["why", "run"],
    ["mysql", "sqlite"],
    ["a", "b"],
    ["events", "alerts"],
    ["finish", "x"],
  ])("brings no guess when nothing is similar: %s", (word, known) => {
    expect(didYouMean(word, [known])).toBe("");
    expect(nearest(word, [known])).toBe(known);
  });

  it("is put into the words around it", () => {
    expect(didYouMean("prd", new Set(["prod"]), " (", ")")).toBe(" (prod)");
    expect(didYouMean("prd", [])).toBe("");
  });
});
