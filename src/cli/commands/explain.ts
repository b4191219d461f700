import type { ErrorEntry } from "../../core/errors/entry.ts";
import { type ErrorCode, errorTable, explainError } from "../../core/errors.ts";
import { nearest } from "../../core/nearest.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { exitCodeOf } from "../exit-codes.ts";
import { columns, fit, oneLine, wrap } from "../format.ts";
import { usage } from "../globals.ts";
import type { Outcome } from "../outcome.ts";
import { roomOf } from "../view/table.ts";

/** `holdfast explain 2101`: explains an error code in four lines, offline. */
export const command = defineCommand({
  name: "explain",
  summary: "Explain an error code: what it means, what is safe and how to fix it",
  args: ["[code]"],
  options: { all: { flag: "--all", summary: "List every code" } },
  examples: ["explain 2101", "explain HF-2101", "explain --all"],
  async run(context) {
    const { args, options, out, host } = context;
    const [given] = args;
    if (options.all) return list(context);
    if (given === undefined)
      throw usage(
        "the error code is missing",
        "Every error shows its code at the right.",
        "holdfast explain --all",
      );
    const code = `HF-${given.toUpperCase().replace(/^HF-?/, "")}`;
    const entry = shownEntry(explainError(code));
    if (!entry) {
      const meant = nearest(code, Object.keys(errorTable));
      throw usage(
        `${given} isn't an error code`,
        `Codes look like ${meant}.`,
        `holdfast explain ${meant.slice(3)}`,
      );
    }
    const { what, why, safe, fix } = entry;
    const exit = exitCodeOf(code as ErrorCode);
    const rows = [
      [code, what],
      ["Why", why],
      ["Safe", safe],
      ["Fix", fix],
      ["Exit", String(exit)],
    ] as const;
    const room = Math.max(40, Math.min(host.stdout.columns, 110) - 9);
    const lines = rows.flatMap(([label, text]) =>
      wrap(text, room).map((part, index) => `${out.paint.dim((index === 0 ? label : "").padEnd(8))} ${part}`),
    );
    return { data: { code, ...entry, exit }, text: lines.join("\n") };
  },
});

const shownEntry = (entry: ErrorEntry | undefined): ErrorEntry | undefined => entry && withNames(entry);

/**
 * A template in words: variable parts appear in angle brackets, and completely variable texts are described as such.
 */
const withNames = ({ what, why, safe, fix }: ErrorEntry): ErrorEntry => {
  const words = (text: string): string =>
    /^\{\w+\}$/.test(text) ? "It varies, and the error itself says it." : text.replace(/\{(\w+)\}/g, "<$1>");
  return { what: words(what), why: words(why), safe: words(safe), fix: words(fix) };
};

function list({ out, host }: CommandContext<unknown>): Outcome {
  const all = (Object.keys(errorTable) as ErrorCode[])
    .sort()
    .map((code) => ({ code, ...withNames(errorTable[code]), exit: exitCodeOf(code) }));
  const room = roomOf(host);
  const rows = columns(all.map(({ code, what }) => [out.paint.dim(code), oneLine(what)]));
  return { data: { codes: all }, text: rows.map((row) => fit(row, room)).join("\n") };
}
