import { TemplateProblem } from "./problem.ts";
import { characters } from "./value.ts";

const SPACE = "[\\t\\n\\v\\f\\r ]";
const WORD = "[\\p{L}\\p{N}\\p{M}_]";
const PUNCTUATED = "[\\p{L}\\p{N}\\p{M}_!\"'&.,?]";
const LETTER = "[\\p{L}\\p{M}_]";
/**
 * The places where a line may be broken: at spaces, after hyphens inside words, at dashes. Like Python's `textwrap`.
 */
const CHUNKS = new RegExp(
  `(${SPACE}+|(?<=${PUNCTUATED})-{2,}(?=${WORD})|[^\\t\\n\\v\\f\\r ]+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${PUNCTUATED}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${PUNCTUATED})(?=-{2,}${WORD})))`,
  "u",
);
const WORDS = new RegExp(`(${SPACE}+)`);

/** The rest of a word or gap: a word that is too long is written piece by piece. */
interface Chunk {
  readonly letters: readonly string[];
  from: number;
}

const room = ({ letters, from }: Chunk): number => letters.length - from;
const isGap = ({ letters, from }: Chunk): boolean => /[\t\n\v\f\r ]/.test(letters[from] ?? "x");

/** Wraps one line of text to at most `width` characters. */
export function wrapped(line: string, width: number, breaksWords: boolean, breaksHyphens: boolean): string[] {
  if (width <= 0) throw new TemplateProblem("the width must be more than 0");
  const chunks: Chunk[] = line
    .split(breaksHyphens ? CHUNKS : WORDS)
    .filter((chunk) => chunk !== undefined && chunk !== "")
    .map((chunk) => ({ letters: characters(chunk), from: 0 }))
    .reverse();
  const lines: string[] = [];
  while (chunks.length > 0) {
    const current: string[] = [];
    let length = 0;
    if (lines.length > 0 && isGap(chunks.at(-1) as Chunk)) chunks.pop();
    for (let next = chunks.at(-1); next && length + room(next) <= width; next = chunks.at(-1)) {
      chunks.pop();
      current.push(next.letters.slice(next.from).join(""));
      length += room(next);
    }
    const long = chunks.at(-1);
    if (long && room(long) > width && (breaksWords || current.length === 0)) {
      current.push(cut(long, breaksWords ? Math.max(1, width - length) : room(long), breaksHyphens));
      if (room(long) === 0) chunks.pop();
    }
    if (current.at(-1)?.trim() === "") current.pop();
    if (current.length > 0) lines.push(current.join(""));
  }
  return lines;
}

/** Takes as much of a word as fits, up to a hyphen if it has one. */
function cut(chunk: Chunk, space: number, breaksHyphens: boolean): string {
  const { letters, from } = chunk;
  let end = Math.min(letters.length, from + space);
  if (breaksHyphens && letters.length > end) {
    const part = letters.slice(from, end);
    const hyphen = part.lastIndexOf("-");
    if (hyphen > 0 && part.slice(0, hyphen).some((one) => one !== "-")) end = from + hyphen + 1;
  }
  chunk.from = end;
  return letters.slice(from, end).join("");
}
