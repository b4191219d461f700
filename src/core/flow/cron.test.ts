import { describe, expect, it } from "vitest";
import { cronTicks } from "./cron.ts";

const iso = (moment: number | null) => (moment === null ? null : new Date(moment).toISOString());

const following = (line: string, zone: string, after: string, count: number) => {
  const ticks = cronTicks(line, zone);
  const found: (string | null)[] = [];
  for (let at: number | null = Date.parse(after); at !== null && found.length < count; ) {
    at = ticks.next(at);
    found.push(iso(at));
  }
  return found;
};

describe("a cron line across daylight saving", () => {
  it("ticks a fixed time in the missing hour right after the gap, once", () => {
    expect(following("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  it("ticks a fixed time in the repeated hour the first time only", () => {
    expect(following("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
  });

  it("goes on through gap and repetition when it repeats within the hour", () => {
    expect(following("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", 4)).toEqual([
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:00:00.000Z",
      "2026-10-25T01:30:00.000Z",
      "2026-10-25T02:00:00.000Z",
    ]);
    expect(following("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", 3)).toEqual([
      "2026-03-29T00:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-29T01:30:00.000Z",
    ]);
  });

  const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"];
  const LINES = ["*/15 * * * *", "30 2 * * *", "0 1-3 * * *", "15,45 1,2 * * *", "30 1 * * 0", "0 3 L * *"];
  const CHANGES = [
    "2026-03-29T04:00:00Z",
    "2026-10-25T04:00:00Z",
    "2026-11-01T10:00:00Z",
    "2026-04-04T20:00:00Z",
  ];

  it.each(ZONES)("counts the same ticks from either side in %s", (zone) => {
    for (const line of LINES) {
      const ticks = cronTicks(line, zone);
      for (const change of CHANGES.map((text) => Date.parse(text))) {
        const start = change - 86_400_000;
        const forwards: number[] = [];
        for (let tick = ticks.next(start); tick !== null && tick <= change; tick = ticks.next(tick))
          forwards.push(tick);
        const backwards = ticks.last(change, forwards.length + 2).filter((tick) => tick > start);
        expect(backwards, `${line} ${zone} ${iso(change)}`).toEqual(forwards);
        expect(new Set(forwards).size).toBe(forwards.length);
      }
    }
  });
});

describe("a cron line that isn't valid", () => {
  it.each([
    "",
    " ",
    "* * * *",
    "* * * * * * *",
    "60 * * * *",
    "a b c d e",
    "*/0 * * * *",
    "@never",
    "? * * * *",
    "2026-01-01T00:00:00",
    "5/5 * * * *",
    "0 0 * * 8",
    "0 0 30 2 *",
    "* * * * 5#9",
    `${"1,".repeat(200)}1 * * * *`,
    "\u0000 * * * *",
  ])("is refused: %j", (line) => {
    expect(() => cronTicks(line)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^HF-(5101|1003)$/) }),
    );
  });

  it("is refused with an unknown time zone", () => {
    for (const zone of ["Mars/Olympus", "", "Europe/Berlin; rm", "x".repeat(100)])
      expect(() => cronTicks("* * * * *", zone)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^HF-(5102|1003)$/) }),
      );
  });
});
