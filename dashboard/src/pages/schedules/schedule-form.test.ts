import { describe, expect, it } from "vitest";
import { parseSpan, writeSpan } from "../spans.ts";
import { changesOf, emptyForm, optionsOf, wordsOf } from "./schedule-form.ts";

const form = { ...emptyForm("Europe/Berlin"), name: "nightly", workflow: "report" };

describe("the form of a schedule", () => {
  it("gives the options of the way that was chosen, and only those", () => {
    expect(optionsOf(form)).toEqual({ cron: "0 2 * * *", timezone: "Europe/Berlin", overlap: "skip" });
    expect(optionsOf({ ...form, kind: "every", every: "2h" })).toEqual({
      everyMs: 7_200_000,
      overlap: "skip",
    });
    expect(optionsOf({ ...form, kind: "at", at: "" })).toBeNull();
    expect(optionsOf({ ...form, kind: "every", every: "soon" })).toBeNull();
  });

  it("takes JSON as input, nothing else, and removes what was emptied in an edit", () => {
    expect(optionsOf({ ...form, input: '{"team":"a"}' })).toMatchObject({ input: { team: "a" } });
    expect(optionsOf({ ...form, input: "{team" })).toBeNull();
    expect(changesOf(form)).toMatchObject({ input: null, queue: null, cron: "0 2 * * *" });
  });

  it("knows the same as a command", () => {
    expect(wordsOf({ ...form, kind: "every", overlap: "queue" })).toEqual([
      "--every",
      "10m",
      "--overlap",
      "queue",
    ]);
    expect(wordsOf(form)).toEqual(["--cron", "0 2 * * *", "--timezone", "Europe/Berlin"]);
  });

  it("reads and writes spans", () => {
    expect(["30s", "10m", "1.5h", "1d", "10", "x"].map(parseSpan)).toEqual([
      30_000,
      600_000,
      5_400_000,
      86_400_000,
      null,
      null,
    ]);
    expect([90_000, 3_600_000, 86_400_000].map(writeSpan)).toEqual(["90s", "1h", "1d"]);
  });
});
