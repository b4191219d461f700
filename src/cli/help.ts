import { width, wrap } from "./format.ts";
import type { Sink } from "./host.ts";

/** The least room beside a term; with less, its text goes below it. */
const LEAST = 24;

/** Help for a terminal: no line is wider than it, and texts stay in their column. */
export function helpText(text: string, { isTTY, columns }: Pick<Sink, "isTTY" | "columns">): string {
  if (!isTTY) return text;
  const lines = text.split("\n").flatMap((line) => fitted(line, columns));
  return lines.join("\n");
}

function fitted(line: string, columns: number): readonly string[] {
  if (width(line) <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? "";
  const body = line.slice(indent.length);
  const options = body.split(/ {2,}(?=-)/);
  if (options.length > 1) return options.flatMap((one) => fitted(`${indent}${one.trimEnd()}`, columns));
  const pieces = body.split(/ {3,}/);
  if (pieces.length > 2) return filled(pieces, indent, columns);
  const [, term, text] = /^(\S.*?\s{2,})(\S.*)$/.exec(body) ?? [];
  if (term === undefined || text === undefined) return hung(indent, body, columns, indent.length + 2);
  const at = indent.length + term.length;
  if (columns - at >= LEAST) return hung(`${indent}${term}`, text, columns, at);
  const below = " ".repeat(indent.length + 4);
  return [`${indent}${term.trimEnd()}`, ...hung(below, text, columns, below.length)];
}

/** `first` before the first line, and spaces before the others. */
function hung(first: string, text: string, columns: number, at: number): readonly string[] {
  const lines = wrap(text, Math.max(LEAST, columns - Math.max(at, width(first))));
  return lines.map((part, index) => (index === 0 ? first : " ".repeat(at)) + part);
}

/** As many pieces on a line as fit, three spaces apart. */
function filled(pieces: readonly string[], indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)}   ${piece}`;
    if (longer !== undefined && width(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(`${indent}${piece}`);
  }
  return lines;
}
