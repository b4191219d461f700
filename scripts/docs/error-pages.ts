/** docs/errors.md, and the pages of the site for single codes, made from the table of errors. */
import { exitCodeOf } from "../../src/cli/exit-codes.ts";
import { type ErrorCode, errorTable } from "../../src/core/errors.ts";
import { escaped, GENERATED, page } from "./text.ts";

interface ErrorPage {
  readonly code: ErrorCode;
  readonly what: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
  readonly exit: number;
}

/** What codes are about, by their first digit. */
const KINDS: Readonly<Record<string, string>> = {
  1: "a call is refused",
  2: "a run can't continue",
  3: "stores, keys and stored data",
  4: "files, commands, agents and DAGs",
  5: "queues, limits and schedules",
  6: "the server and access to it",
};

/** A template in words: what is filled in appears in angle brackets, and a text that is all filled in is described. */
const words = (text: string): string =>
  /^\{\w+\}$/.test(text)
    ? "It varies, and the error itself says it."
    : escaped(text.replace(/\{(\w+)\}/g, "<$1>").replace(/\s*\n\s*/g, " ")).replace(/([*_])/g, "\\$1");

export function errorPages(): readonly ErrorPage[] {
  return (Object.keys(errorTable) as ErrorCode[]).sort().map((code) => {
    const { what, why, safe, fix } = errorTable[code];
    return {
      code,
      what: words(what),
      why: words(why),
      safe: words(safe),
      fix: words(fix),
      exit: exitCodeOf(code),
    };
  });
}

/** What a page says of its code, below the heading. */
export const errorBody = ({ what, why, safe, fix, exit }: ErrorPage): string =>
  page(
    `**${what}**`,
    [`- **Why:** ${why}`, `- **Safe:** ${safe}`, `- **Fix:** ${fix}`, `- **Exit code:** ${exit}`].join("\n"),
  ).trim();

export function errorReference(): string {
  const pages = errorPages();
  const digits = [...new Set(pages.map(({ code }) => code.charAt(3)))];
  const sections = digits.flatMap((digit) => [
    `## ${digit}xxx${KINDS[digit] === undefined ? "" : `: ${KINDS[digit]}`}`,
    ...pages
      .filter(({ code }) => code.charAt(3) === digit)
      .flatMap((one) => [`### ${one.code}`, errorBody(one)]),
  ]);
  return page(
    `---\noutline: 2\n---`,
    GENERATED,
    "# Errors",
    "Every error has a stable code and four lines: what happened, why, what is safe, and how to fix it. `holdfast explain HF-2101` prints the same without a network, and the site has a page for each code. Words in &lt;angle brackets&gt; are filled in when the error occurs.",
    ...sections,
  );
}
