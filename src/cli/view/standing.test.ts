import { describe, expect, it } from "vitest";
import { spoken } from "./standing.ts";

const NOW = Date.parse("2026-11-19T12:00:00.000Z");

describe("moments in a sentence", () => {
  it.each([
    ["waiting at gate a since 2026-11-19T10:00:00.000Z", "waiting at gate a for 2h"],
    ["waiting at gate a since 2026-11-19T11:59:59.500Z", "waiting at gate a"],
    ["waiting until 2026-11-19T12:05:00.000Z", "waiting until 12:05:00 UTC (in 5m)"],
    ["failed at 2026-11-18T09:00:00.000Z", "failed at 2026-11-18 09:00:00 UTC"],
  ])("are told as people say them: %s", (text, said) => {
    expect(spoken(text, NOW)).toBe(said);
  });
});
