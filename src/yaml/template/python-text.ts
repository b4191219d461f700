/** Python's `str` methods, where JavaScript's strings behave differently. */
import { TemplateProblem } from "./problem.ts";
import {
  Callable,
  characters,
  entriesOf,
  isMapping,
  isText,
  lengthOf,
  listKind,
  Namespace,
  order,
  plainText,
  text,
} from "./value.ts";

/** Python's white space, as the inside of a character class. */
export const SPACE = "\\t-\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LEADING = new RegExp(`^[${SPACE}]+`);
const SPACES = new RegExp(`[${SPACE}]+`);
const ONLY_SPACE = new RegExp(`^[${SPACE}]+$`);
export const isSpace = (one: string): boolean => ONLY_SPACE.test(one);

/** `strip`, `lstrip`, `rstrip`. Without `chars` they remove white space. */
export function stripped(value: string, chars: string | undefined, sides: "both" | "left" | "right"): string {
  if (chars === undefined) {
    const left = sides === "right" ? value : value.replace(LEADING, "");
    return sides === "left" ? left : trimmedEnd(left);
  }
  const set = new Set(characters(chars));
  const all = characters(value);
  let [from, to] = [0, all.length];
  if (sides !== "right") while (from < to && set.has(all[from] as string)) from += 1;
  if (sides !== "left") while (to > from && set.has(all[to - 1] as string)) to -= 1;
  return all.slice(from, to).join("");
}

/** Not a pattern that ends in `$`: it would start over at every space. */
function trimmedEnd(value: string): string {
  let end = value.length;
  while (end > 0 && isSpace(value[end - 1] as string)) end -= 1;
  return value.slice(0, end);
}

/** `split()` without a separator. `most` limits the number of splits. */
export function words(value: string, most = -1): string[] {
  const rest = stripped(value, undefined, "both");
  if (rest === "") return [];
  const all = rest.split(SPACES);
  if (most < 0 || all.length <= most) return all;
  let at = value.replace(LEADING, "");
  const found: string[] = [];
  while (found.length < most) {
    const word = at.split(SPACES, 1)[0] as string;
    found.push(word);
    at = at.slice(word.length).replace(LEADING, "");
  }
  return at === "" ? found : [...found, at];
}

const LINE_ENDS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029";
const LINES = new RegExp(`[^${LINE_ENDS}]*(?:\\r\\n|[${LINE_ENDS}]|$)`, "g");
const LINE_END = new RegExp(`(?:\\r\\n|[${LINE_ENDS}])$`);

export function splitLines(value: string, keepEnds = false): string[] {
  const lines = value.match(LINES) ?? [];
  const all = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  return keepEnds ? all : all.map((line) => line.replace(LINE_END, ""));
}

/** `str.title()`: a letter after a non-letter begins a word. */
export const titled = (value: string): string =>
  value.replace(/\p{L}+/gu, (word) => {
    const [first = ""] = word;
    return first.toUpperCase() + word.slice(first.length).toLowerCase();
  });

export function capitalized(value: string): string {
  const [first = ""] = value;
  return first.toUpperCase() + value.slice(first.length).toLowerCase();
}

/** Pads on both sides like `str.center`. */
export function centered(value: string, width: number, fill = " "): string {
  const room = width - lengthOf(value);
  if (room <= 0) return value;
  const left = Math.floor(room / 2) + (room & width & 1);
  return fill.repeat(left) + value + fill.repeat(room - left);
}

/** Python's `repr()`. */
export function repr(value: unknown): string {
  if (isText(value)) return quotedText(plainText(value));
  if (Array.isArray(value) && ["list", "tuple"].includes(listKind(value))) {
    const inner = value.map(repr).join(", ");
    if (listKind(value) === "list") return `[${inner}]`;
    return value.length === 1 ? `(${inner},)` : `(${inner})`;
  }
  if (isMapping(value))
    return `{${entriesOf(value)
      .map(([key, one]) => `${repr(key)}: ${repr(one)}`)
      .join(", ")}}`;
  if (value instanceof Callable || value instanceof Namespace)
    throw new TemplateProblem("a function cannot be written");
  return text(value);
}

function quotedText(value: string): string {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const inner = value.replace(/[\\'"\p{C}\p{Z}]/gu, (one) => {
    if (one === " " || ((one === "'" || one === '"') && one !== quote)) return one;
    const known = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", [quote]: `\\${quote}` }[one];
    if (known !== undefined) return known;
    const code = one.codePointAt(0) as number;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code <= 0xffff
      ? `\\u${code.toString(16).padStart(4, "0")}`
      : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return quote + inner + quote;
}

const WIDTH = 80;

/** `pprint.pformat`, as long as no single text is longer than a line. */
export function pretty(value: unknown, indent = 0, after = 0): string {
  const line = repr(sortedKeys(value));
  if (lengthOf(line) <= WIDTH - indent - after) return line;
  const inner = (one: unknown, deeper: number, isLast: boolean): string =>
    pretty(one, indent + deeper, isLast ? after + 1 : 1);
  const gap = `,\n${" ".repeat(indent + 1)}`;
  if (Array.isArray(value) && value.length > 0) {
    const parts = value.map((one, index) => inner(one, 1, index === value.length - 1));
    const isList = listKind(value) === "list";
    return `${isList ? "[" : "("}${parts.join(gap)}${isList ? "]" : value.length === 1 ? ",)" : ")"}`;
  }
  if (isMapping(value)) {
    const entries = [...entriesOf(value)].sort(([a], [b]) => order(a, b));
    const parts = entries.map(([key, one], index) => {
      const name = `${repr(key)}: `;
      return name + inner(one, 1 + lengthOf(name), index === entries.length - 1);
    });
    return `{${parts.join(gap)}}`;
  }
  throw new TemplateProblem("pprint of a text that is longer than a line is not supported");
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return listKind(value) === "list" ? value.map(sortedKeys) : value;
  if (!isMapping(value)) return value;
  const entries = [...entriesOf(value)].sort(([a], [b]) => order(a, b));
  return entries.every(([key]) => typeof key === "string")
    ? Object.fromEntries(entries.map(([key, one]) => [key as string, sortedKeys(one)]))
    : value;
}
