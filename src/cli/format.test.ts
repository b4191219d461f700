import { describe, expect, it } from "vitest";
import { columns, duration, fit, oneLine, spent, tokens, usd, when, width, word, wrap } from "./format.ts";
import { createPaint } from "./paint.ts";
import { visible } from "./sink.ts";

const { red } = createPaint(true);

describe("numbers and times", () => {
  it("are shown as short as they can be read", () => {
    expect([0, 950, 4_230, 59_990, 192_000, 7_500_000, 273_600_000].map(duration)).toEqual([
      "0ms",
      "950ms",
      "4.2s",
      "1m00s",
      "3m12s",
      "2h05m",
      "3d4h",
    ]);
    expect([6_120, 182_300].map(tokens)).toEqual(["6,120 tok", "182k tok"]);
    expect([0, 1.417, 0.01, 0.00042].map(usd)).toEqual(["$0.00", "$1.42", "$0.01", "$0.00042"]);
    expect(spent({ ms: 18_200, tokens: 6_120, costUsd: 0 })).toBe("18.2s · 6,120 tok");
  });

  it("are relative for people and exact for programs", () => {
    const now = Date.UTC(2026, 0, 17, 12);
    expect(when(now - 720_000, now, true)).toBe("12m ago");
    expect(when(now + 7_200_000, now, true)).toBe("in 2h");
    expect(when(now, now, true)).toBe("now");
    expect(when(now, now, false)).toBe("2026-01-17T12:00:00.000Z");
  });
});

describe("text", () => {
  it("is measured without colours, and wide letters count twice", () => {
    expect(width(red("red"))).toBe(3);
    expect(width("\u001b[31mred")).toBe(8);
    expect(width("東京")).toBe(4);
  });

  it.each([
    ["e\u0301", 1],
    ["✅", 2],
    ["🇯🇵", 2],
    ["½→…", 3],
    ["〔ｱ〕", 5],
    ["\u{17000}", 2],
    ["\u4dc0", 2],
    ["\u303f", 1],
  ])("takes as many columns as Unicode says: %s", (text, columns) => {
    expect(width(text)).toBe(columns);
  });

  it("is cut to a width and keeps its colours", () => {
    expect(visible(fit(red("abcdef"), 4))).toBe("\u001b[31mabc\u001b[39m…");
    expect(fit("abc", 3)).toBe("abc");
    expect(width(fit("東京東京", 6))).toBeLessThanOrEqual(6);
  });

  it("is broken at spaces", () => {
    expect(wrap("one two three\nfour", 8)).toEqual(["one two", "three", "four"]);
  });

  it("stands in columns", () => {
    expect(
      columns([
        ["a", "1"],
        ["bbb", "2"],
      ]),
    ).toEqual(["a    1", "bbb  2"]);
  });

  it("is one word of a command, whatever a shell would read into it (X7)", () => {
    expect(word("recon-88:turn[3]/pay")).toBe("recon-88:turn[3]/pay");
    expect(word("a:$(rm -rf ~)'\u001b[2J")).toBe("'a:$(rm -rf ~)'\\''[2J'");
  });

  it("from elsewhere cannot break lines or command the terminal", () => {
    expect(oneLine("a\n\u001b[2Jb\u0007  c")).toBe("a [2Jb c");
  });
});
