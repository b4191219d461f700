import { exactNumber } from "./exact-number.ts";
import type { ParseBudget } from "./parse-budget.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Parses JSON from outside within a budget: one pass over the text counts its values and levels before anything is
 * built. A number that would change (9007199254740993, 1e999) stays text. Throws what `JSON.parse` throws, and HF-1040.
 */
export function parseJson(text: string, budget: ParseBudget): unknown {
  budget.spend("bytes", text.length);
  const inexact = lookThrough(text, budget);
  return JSON.parse(inexact.length === 0 ? text : quoted(text, inexact)) as unknown;
}

type Span = readonly [start: number, end: number];

/** Returns the positions of numbers that would change. */
function lookThrough(text: string, budget: ParseBudget): readonly Span[] {
  const inexact: Span[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === COLON) budget.spend("keys");
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      budget.spend("keys");
      budget.reach(++depth);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
    else if (isNumeric(code)) {
      const start = at;
      while (at + 1 < text.length && isNumeric(text.charCodeAt(at + 1))) at++;
      if (isChanged(text.slice(start, at + 1))) inexact.push([start, at + 1]);
    }
  }
  return inexact;
}

const isNumeric = (code: number): boolean =>
  (code >= 48 && code <= 57) || code === 45 || code === 46 || code === 43 || code === 101 || code === 69;

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Short numbers can't change; invalid ones are left to the parser. */
const isChanged = (text: string): boolean =>
  (text.length > 15 || /[eE]/.test(text)) && JSON_NUMBER.test(text) && exactNumber(text) === undefined;

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

function quoted(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    parts.push(text.slice(from, start), '"', text.slice(start, end), '"');
    from = end;
  }
  return [...parts, text.slice(from)].join("");
}
