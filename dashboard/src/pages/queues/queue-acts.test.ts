import { describe, expect, it } from "vitest";
import { queueLimits } from "./queue-acts.ts";

describe("the limits of a queue's form", () => {
  const form = { concurrency: "5", perKey: "", rate: "", period: "1m" };

  it("leave out what is empty", () => {
    expect(queueLimits(form)).toEqual({ concurrency: 5 });
    expect(queueLimits({ ...form, rate: "100", period: "2m" })).toEqual({
      concurrency: 5,
      rate: { calls: 100, periodMs: 120_000 },
    });
  });

  it("are none while something isn't a number", () => {
    expect(queueLimits({ ...form, perKey: "0" })).toBeNull();
    expect(queueLimits({ ...form, concurrency: "1.5" })).toBeNull();
    expect(queueLimits({ ...form, rate: "1", period: "soon" })).toBeNull();
  });
});
