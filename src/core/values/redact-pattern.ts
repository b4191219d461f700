import { HoldfastError } from "../errors.ts";

export interface RedactionPattern {
  /** Names the kind in the replacement: letters, digits, `-` and `_`. */
  readonly kind: string;
  readonly pattern: RegExp;
}

/** The maximum number of ways to try a match at one place, besides one unlimited repetition. */
const MOST_WAYS = 4_096;

/**
 * Refuses an expression (HF-1032) that could take far longer than its text is long: one that repeats a group, refers
 * back, looks ahead or behind, or in which several repetitions can divide the same text in too many ways.
 */
export function checkPattern(kind: string, pattern: RegExp): void {
  if (!(pattern instanceof RegExp)) throw refused(kind, "it is not a regular expression");
  const { source } = pattern;
  if (source.length > 1_000) throw refused(kind, "it is longer than 1,000 characters");
  let [ways, unlimited] = [1, 0];
  for (const { token, repeat } of tokens(source)) {
    if (/^\((?:\?(?!:|<[A-Za-z]))/.test(token)) throw refused(kind, "it looks ahead or behind");
    if (/^\\(?:[1-9]|k<)/.test(token)) throw refused(kind, "it refers back");
    if (token === "|") ways *= 2;
    if (token === ")" && repeat && repeat.most > 1) throw refused(kind, "it repeats a group");
    if (!repeat) continue;
    if (repeat.most === Number.POSITIVE_INFINITY) unlimited++;
    else ways *= repeat.most - repeat.least + 1;
  }
  if (unlimited > 1) throw refused(kind, "it has more than one repetition without a limit");
  if (ways > MOST_WAYS) throw refused(kind, "its repetitions can match in too many ways");
  if (pattern.test("")) throw refused(kind, "it matches an empty text");
}

const refused = (kind: string, problem: string): HoldfastError =>
  new HoldfastError("HF-1032", { kind, problem });

interface Repeat {
  readonly least: number;
  readonly most: number;
}

const TOKEN = /\\k<[^>]*>|\\u\{[^}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?<?[:=!A-Za-z]?|\(|[^\\]/y;
const REPEAT = /(?:\*|\+|\?|\{(\d+)(,?)(\d*)\})\??/y;

/** The parts of an expression, each with its repetition. */
function* tokens(source: string): Generator<{ readonly token: string; readonly repeat?: Repeat }> {
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at;
    const [token = source.charAt(at)] = TOKEN.exec(source) ?? [];
    at += token.length;
    REPEAT.lastIndex = at;
    const found = token.startsWith("(") ? null : REPEAT.exec(source);
    at += found?.[0].length ?? 0;
    yield found ? { token, repeat: limits(found) } : { token };
  }
}

function limits([text, least = "", comma = "", most = ""]: RegExpExecArray): Repeat {
  if (text.startsWith("*")) return { least: 0, most: Number.POSITIVE_INFINITY };
  if (text.startsWith("+")) return { least: 1, most: Number.POSITIVE_INFINITY };
  if (text.startsWith("?")) return { least: 0, most: 1 };
  const from = Number(least);
  if (comma === "") return { least: from, most: from };
  return { least: from, most: most === "" ? Number.POSITIVE_INFINITY : Number(most) };
}
