import { amount, isNumber } from "./numbers.ts";
import { TemplateProblem } from "./problem.ts";
import {
  entriesOf,
  isMapping,
  isText,
  jsonKey,
  listKind,
  nameOfKind,
  numberText,
  order,
  plainText,
} from "./value.ts";

export interface JsonFormat {
  /** Undefined: everything on one line. */
  readonly indent: string | undefined;
  readonly isSorted: boolean;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};

const quoted = (text: string): string =>
  `"${text.replace(/["\\]|[^ -~]/g, (one) => ESCAPES[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;

/** Formats like Python's `json.dumps`: with spaces, ASCII only. */
export function dumps(value: unknown, format: JsonFormat, level = 0): string {
  if (isText(value)) return quoted(plainText(value));
  if (value === null || typeof value === "boolean") return String(value);
  if (isNumber(value)) return jsonNumber(value);
  const [gap, end] =
    format.indent === undefined
      ? [", ", ""]
      : [`,\n${format.indent.repeat(level + 1)}`, `\n${format.indent.repeat(level)}`];
  const begin = gap.slice(1).replace(/^ $/, "");
  if (Array.isArray(value) && ["list", "tuple"].includes(listKind(value))) {
    if (value.length === 0) return "[]";
    return `[${begin}${value.map((one) => dumps(one, format, level + 1)).join(gap)}${end}]`;
  }
  if (!isMapping(value)) throw new TemplateProblem(`${nameOfKind(value)} cannot be written as JSON`);
  const entries = entriesOf(value);
  if (entries.length === 0) return "{}";
  const sorted = format.isSorted ? [...entries].sort(([a], [b]) => order(a, b)) : entries;
  const parts = sorted.map(([key, one]) => `${quoted(jsonKey(key))}: ${dumps(one, format, level + 1)}`);
  return `{${begin}${parts.join(gap)}${end}}`;
}

function jsonNumber(value: Parameters<typeof amount>[0]): string {
  const size = amount(value);
  if (Number.isNaN(size)) return "NaN";
  if (!Number.isFinite(size)) return size > 0 ? "Infinity" : "-Infinity";
  return numberText(value as number);
}
