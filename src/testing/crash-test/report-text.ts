import { promises } from "./findings.ts";
import type { CrashTestProblem, CrashTestReport } from "./report.ts";
import { checkReport } from "./report.ts";

/** Styles for parts of the text. Default: plain. */
export interface ReportPaint {
  good(text: string): string;
  bad(text: string): string;
  strong(text: string): string;
  dim(text: string): string;
}

const same = (text: string): string => text;
const PLAIN: ReportPaint = { good: same, bad: same, strong: same, dim: same };

export const countOf = (count: number, word: string): string =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 || word.endsWith("s") ? "" : "s"}`;

export const milliseconds = (ms: number): string => (ms < 1_000 ? `${ms}ms` : `${(ms / 1_000).toFixed(1)}s`);

/**
 * Formats the report for people in a few lines. Each problem is shown with its first case in full and the command that
 * repeats it.
 *
 * @example
 * ```ts
 * import { type CrashTestReport, reportToText } from "holdfast/testing";
 *
 * export const print = (report: CrashTestReport): void => console.log(reportToText(report));
 * ```
 */
export function reportToText(
  report: CrashTestReport,
  paint: ReportPaint = PLAIN,
  columns: number = Number.POSITIVE_INFINITY,
): string {
  checkReport(report);
  const { workflow, fault, store, boundaries, problems } = report;
  const more = boundaries.tried > 1 && boundaries.tried < boundaries.possible ? "; --limit 0 for all" : "";
  const title = `${workflow.name} · ${fault} at ${boundaries.selection}${more} · ${store.name}`;
  const mark = (isGood: boolean): string => (isGood ? paint.good("✓") : paint.bad("✗"));
  const lines = [
    paint.strong(title),
    `  ${mark(report.held === report.struck && report.struck > 0)} ${strikes(report)}`,
    `  ${mark(report.duplicates === 0)} ${effects(report)}`,
    `  ${mark(report.ok)} ${summary(report)}`,
    ...remarks(report).map((line) => paint.dim(`  · ${line}`)),
  ];
  const told = problems.flatMap((problem) => ["", ...problemLines(problem, report, paint, columns)]);
  return [...lines, ...told].join("\n");
}

/** `68/68 kills recovered   p50 412ms  p95 588ms   work lost ≤ 1 step`. */
export function strikes({ fault, held, struck, recoveryMs, stepsLost }: CrashTestReport): string {
  const what = fault === "sigkill" ? "kills recovered" : "faults survived";
  const times = recoveryMs
    ? `   p50 ${milliseconds(recoveryMs.p50)}  p95 ${milliseconds(recoveryMs.p95)}`
    : "";
  const lost = stepsLost.most === 0 ? "no work lost" : `work lost ≤ ${countOf(stepsLost.most, "step")}`;
  return `${held}/${struck} ${what}${times}   ${lost}`;
}

/** `0 duplicate side effects (12 payments, 12 mails counted)`. */
export function effects({ duplicates, effects: kinds, deduplicated }: CrashTestReport): string {
  const each = Object.entries(kinds).map(([kind, { each: count }]) => countOf(count, kind));
  const counted = each.length === 0 ? "" : ` (${each.join(", ")} counted in each case)`;
  const again = deduplicated === 0 ? "" : `   ${deduplicated} repeated under the same key`;
  return `${countOf(duplicates, "duplicate side effect")}${counted}${again}`;
}

function summary({ ok, fault, problems, struck }: CrashTestReport): string {
  // After an error the code may legitimately take another path.
  const same = fault === "throw" ? "same end" : "same end, same result";
  if (ok) return `${same}, journal verified after every case`;
  if (struck === 0) return "no boundary was reached: nothing was tested";
  return `${countOf(problems.length, "problem")} found`;
}

/** Notes that readers need to interpret the figures. */
export function remarks(report: CrashTestReport): string[] {
  const { baseline, boundaries, people, claimMs, recoveryMs, effects: kinds } = report;
  const settled = `${countOf(people.settled, "in-doubt step")} ${people.settled === 1 ? "was" : "were"} settled by what the witness saw`;
  const told: readonly (readonly [boolean, string])[] = [
    [people.settled > 0, settled],
    [people.answered > 0, `${countOf(people.answered, "gate answer")} given`],
    [people.signalled > 0, `${countOf(people.signalled, "signal")} sent`],
    [
      boundaries.missed > 0,
      `${boundaries.missed} of the boundaries were not reached this time (order of events)`,
    ],
    [
      baseline.notCompared.length > 0,
      `not compared, because two uninterrupted runs differ there: ${baseline.notCompared.slice(0, 4).join(", ")}`,
    ],
    [!baseline.sameCalls, "calls were not compared: two uninterrupted runs call different steps"],
    [
      Object.keys(kinds).length === 0,
      'no side effect was witnessed: add await witness("mail", id) to what has effects, to have them counted',
    ],
    [
      recoveryMs !== null,
      `recovery times include the start of a new process, and up to ${milliseconds(claimMs)} until the dead one's claim has run out (claimMs, 15s unless set)`,
    ],
  ];
  return told.flatMap(([isSo, line]) => (isSo ? [line] : []));
}

const INDENT = 10;

function problemLines(
  { promise, message, fix, cases, first, repeat }: CrashTestProblem,
  { struck }: CrashTestReport,
  paint: ReportPaint,
  columns: number,
): string[] {
  const often = cases === 0 ? "" : `, in ${cases} of ${struck} cases`;
  const width = Math.max(30, columns - INDENT);
  // A command is meant to be copied, so it stays on one line.
  const rows = [
    ["Seen", ...broken(message, width)],
    ["First", ...broken(first, width)],
    ["Fix", ...broken(fix, width)],
    ...(repeat === "" ? [] : [["Again", repeat]]),
  ];
  return [
    `${paint.bad("✗ broken:")} ${paint.strong(promises[promise])}${often}`,
    ...rows.flatMap(([label = "", ...lines]) =>
      lines.map((line, index) => {
        const margin = index === 0 ? `    ${paint.dim(label.padEnd(5))} ` : " ".repeat(INDENT);
        return margin + line;
      }),
    ),
  ];
}

/** Breaks a text into lines of at most `width` characters. */
function broken(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
