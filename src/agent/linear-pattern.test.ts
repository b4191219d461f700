import { describe, expect, it } from "vitest";
import { linearPattern } from "./linear-pattern.ts";
import { checkSchema, problemsOf } from "./schema.ts";

const TEXTS = [
  ..."|a|ab|aaa|a-b|2026-01-02|foo@bar.com|x y|é1|\n|a.b.c|AAAA|user_1|-|abcabc|😀|a\\b|]|1.5e10|foo..bar@x.de|{".split(
    "|",
  ),
  "zz{2}",
];

/** Among them what libraries make for emails, dates and slugs. */
const PATTERNS = [
  ..."^a+$ ^(a+)+$ (a|b)*c ^\\d{4}-\\d{2}-\\d{2}$ ^[^@]+@[^@]+\\.[^@]+$ \\bfoo\\b ^\\p{L}+$ ^.$ ^.*$ [\\]a]".split(
    " ",
  ),
  ..."^(?:a|b|)$ a{2} a{2,} a{1,2}$ ^(?=.*\\d).+$ ^(?!.*\\.\\.).+@ ^[a-z]+(-[a-z]+)*$ ^\\S+$ \\x61 \\u0061b".split(
    " ",
  ),
  ..."^a\\-b$ ^$ (?<y>\\d+)- x|y ^\\w+\\.\\w+$ [\\w.]+@[\\w.]+ \\Ba ^[\\s\\S]$ (?:(?:a?){2})+$ { ^😀$ ^[😀]$ a??b".split(
    " ",
  ),
  "(a*)*b",
  "^\\{$",
  "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
];

/** Patterns that keep a backtracking matcher busy for longer than anybody waits, and texts that do it. */
const HOSTILE = [
  ["^(a+)+$", `${"a".repeat(1_999)}!`],
  ["^(a|a)*$", `${"a".repeat(1_999)}!`],
  ["^(a|aa)+$", `${"a".repeat(1_999)}!`],
  ["(.*)*x", "b".repeat(2_000)],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(2_000)],
  ["(x+x+)+y", "x".repeat(2_000)],
  ["^(?=(a+)+$)", `${"a".repeat(1_999)}!`],
  ["^([a-zA-Z0-9_.-])+@(([a-zA-Z0-9-])+\\.)+([a-zA-Z0-9]{2,4})+$", `${"a.".repeat(990)}@`],
] as const;

const native = (source: string): RegExp => {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
};

describe("a pattern of a schema", () => {
  it("matches what a regular expression matches", () => {
    const wrong = PATTERNS.flatMap((source) =>
      TEXTS.filter((text) => linearPattern(source)?.test(text) !== native(source).test(text)).map(
        (text) => `${source} on ${JSON.stringify(text)}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  it.each(HOSTILE)("takes work that grows with the text and no faster: %s", (source, text) => {
    const work = (length: number): number => {
      let sum = 0;
      linearPattern(source)?.test(text.slice(-length), (spent) => (sum += spent));
      return sum;
    };
    expect(work(2_000)).toBeLessThan(2.5 * work(1_000) + 100);
    expect(problemsOf({ type: "string", pattern: source }, text)).toHaveLength(1);
  });

  it.each(["(?<=a)b", "(a)\\1", "(?<n>a)\\k<n>", "((x{50}){50}){50}", "("])(
    "is refused when that can't be promised: %s",
    (pattern) => {
      expect(() => checkSchema({ type: "string", pattern }, "it")).toThrow(
        expect.objectContaining({ code: "HF-4101" }),
      );
    },
  );
});
