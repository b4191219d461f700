import { describe, expect, it } from "vitest";
import {
  hasPart,
  momentOf,
  partsOf,
  problemsOf,
  queryOf,
  textOf,
  toggled,
  valueOf,
  withValue,
} from "./filter.ts";

const NOW = Date.UTC(2026, 0, 2);

describe("a typed filter", () => {
  it("becomes what the API is asked (S1-32)", () => {
    const text =
      'status:failed status:paused workflow:"pay out" -status:queued -label:team=x label:a=b since:24h HTTP 500';
    expect(queryOf(text, NOW)).toEqual({
      status: ["failed", "paused"],
      notStatus: ["queued"],
      workflow: "pay out",
      label: ["a=b"],
      notLabel: ["team=x"],
      createdAfter: NOW - 86_400_000,
      text: "HTTP 500",
    });
    expect(queryOf("needs:you error:abc before:2026-01-01", NOW)).toEqual({
      needsYou: true,
      errorGroup: "abc",
      createdBefore: Date.UTC(2026, 0, 1),
    });
    expect(queryOf("", NOW)).toEqual({});
  });

  it("searches for what only looks like a key", () => {
    expect(queryOf("http://x -name:y koyfin:429", NOW)).toEqual({ text: "http://x -name:y koyfin:429" });
  });

  it("names the parts that can't be meant, and leaves them out", () => {
    const text = "status:broken label:team since:soon needs:me workflow:pay";
    expect(problemsOf(text, NOW)).toEqual(["status:broken", "label:team", "since:soon", "needs:me"]);
    expect(queryOf(text, NOW)).toEqual({ workflow: "pay" });
  });

  it("survives being written out again", () => {
    for (const text of ['workflow:"a \\"b\\" c"', "-status:failed x", 'label:"team=a b"', '"two words"'])
      expect(partsOf(textOf(partsOf(text)))).toEqual(partsOf(text));
  });

  it("takes parts in and out", () => {
    const failed = { key: "status", value: "failed", isNot: false };
    expect(toggled("pay", failed)).toBe("pay status:failed");
    expect(toggled("status:failed pay", failed)).toBe("pay");
    expect(toggled("status:failed", { ...failed, isNot: true })).toBe("-status:failed");
    expect(toggled("workflow:a", { key: "workflow", value: "b", isNot: false })).toBe("workflow:b");
    expect(hasPart("x status:failed", failed)).toBe(true);
    expect(withValue("since:1h x", "since", "7d")).toBe("x since:7d");
    expect(withValue("since:1h x", "since", "")).toBe("x");
    expect(valueOf("since:1h x", "since")).toBe("1h");
  });

  it("knows spans and dates", () => {
    expect(momentOf("90m", NOW)).toBe(NOW - 5_400_000);
    expect(momentOf("2w", NOW)).toBe(NOW - 1_209_600_000);
    expect(momentOf("tomorrow", NOW)).toBeNull();
  });
});
