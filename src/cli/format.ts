import { eastAsianWidth } from "get-east-asian-width";
import { replaceUnseen } from "../core/values/unseen.ts";
import { isMark, splitMarks, withoutMarks } from "./paint.ts";

export { count, duration, plural, seconds, spent, tokens, usd } from "../core/values/amounts.ts";

/** `12m ago` for people, an exact time for programs. */
export function when(at: number, now: number, isTTY: boolean): string {
  if (!isTTY) return new Date(at).toISOString();
  const away = Math.abs(now - at);
  if (away < 1_000) return "now";
  return at <= now ? `${coarse(away)} ago` : `in ${coarse(away)}`;
}

/** One unit: `41m`, `2h`, `3d`. */
export function coarse(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 1_000)}s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)}m`;
  return ms < 86_400_000 ? `${Math.round(ms / 3_600_000)}h` : `${Math.round(ms / 86_400_000)}d`;
}

/** The number of columns of a text; colours and accents take none, letters of some scripts two. */
export const width = (text: string): number => {
  let columns = 0;
  for (const letter of withoutMarks(text)) columns += widthOf(letter);
  return columns;
};

const ASCII_END = 0x7f;

function widthOf(letter: string): number {
  const code = letter.codePointAt(0) ?? 0;
  if (code < ASCII_END) return 1;
  return /[\p{Mn}\p{Me}\u200d]/u.test(letter) ? 0 : eastAsianWidth(code);
}

/** Foreign text as part of a line: without line breaks or anything that a terminal would obey. */
export const oneLine = (text: string): string => replaceUnseen(text.replace(/\s+/g, " "), () => "").trim();

/** One word of a command to copy, quoted if necessary. */
export const word = (text: string): string =>
  /^[\w.:@/#[\]-]+$/.test(text) ? text : `'${oneLine(text).replaceAll("'", "'\\''")}'`;

/** Cuts a text to this many columns, with `…` at the end. Keeps colours. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let [out, used] = ["", 0];
  let isFull = false;
  for (const part of splitMarks(text)) {
    if (isMark(part)) out += part;
    else
      for (const letter of part) {
        isFull ||= used + widthOf(letter) >= columns;
        if (isFull) break;
        out += letter;
        used += widthOf(letter);
      }
  }
  return `${out}…`;
}

/** Cuts in the middle, because the end often distinguishes names. */
export function fitMiddle(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  const letters = Array.from(
    splitMarks(text)
      .filter((part) => !isMark(part))
      .join(""),
  );
  let [end, used] = ["", 0];
  while (used + widthOf(letters.at(-1) ?? "") <= Math.min(10, columns / 3)) {
    const letter = letters.pop() ?? "";
    [end, used] = [letter + end, used + widthOf(letter)];
  }
  return fit(text, columns - used) + end;
}

/** Wraps at spaces so that no line is longer than `columns`. */
export function wrap(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let current = "";
    for (const word of line.split(" ")) {
      const longer = current === "" ? word : `${current} ${word}`;
      if (width(longer) <= columns || current === "") current = longer;
      else {
        lines.push(current);
        current = word;
      }
    }
    return [...lines, current];
  });
}

/** Pads columns to their widest cell; the last one stays as it is. */
export function columns(rows: readonly (readonly string[])[], gap = "  "): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, width(cell))));
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === row.length - 1 ? cell : cell + " ".repeat((widths[index] ?? 0) - width(cell)),
      )
      .join(gap)
      .trimEnd(),
  );
}
