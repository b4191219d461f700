import { HoldfastError } from "../core/errors.ts";
import { parseJson } from "../core/values/bounded-json.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import type { JsonSchema } from "./model.ts";
import { checkValue } from "./schema-rules.ts";

/** JSON in a model's text: alone, in a fence, or somewhere within it. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Shared by all candidates: each is checked on its own, and a text may hold many that begin and never end. */
const LIMITS = { bytes: 3_145_728, keys: 100_000, work: 3_145_728 } as const;

/** The cost of extracting a candidate, parsing it and checking it against the schema. */
const CANDIDATE_WORK = 500;

/** The first JSON value in the text that matches the schema; otherwise the problems of the most likely one. */
export function readAnswer(
  text: string,
  schema: JsonSchema,
  budget: ParseBudget = new ParseBudget("the answer", LIMITS),
): Answer {
  let first: readonly string[] | undefined;
  try {
    for (const value of valuesIn(text, budget)) {
      const problems = checkValue(schema, value, budget);
      if (problems.length === 0) return { ok: true, value };
      first ??= problems;
    }
  } catch (error) {
    first ??= tooMuch(error);
  }
  return unread(text, first);
}

/** The same by a function that gives the problems of a value. */
export async function readFitting(
  text: string,
  problemsOf: (value: unknown) => Promise<readonly string[]>,
): Promise<Answer> {
  const values: unknown[] = [];
  let first: readonly string[] | undefined;
  try {
    values.push(...valuesIn(text, new ParseBudget("the answer", LIMITS)));
  } catch (error) {
    first = tooMuch(error);
  }
  for (const value of values) {
    const problems = await problemsOf(value);
    if (problems.length === 0) return { ok: true, value };
    first ??= problems;
  }
  return unread(text, first);
}

function tooMuch(error: unknown): readonly string[] {
  if (!HoldfastError.is(error, "HF-1040")) throw error;
  return ["it is too long or nested too deeply to be read"];
}

const unread = (text: string, problems: readonly string[] | undefined): Answer => ({
  ok: false,
  problems: problems ?? [text.trim() === "" ? "it is empty" : "it is not JSON"],
});

function* valuesIn(text: string, budget: ParseBudget): Generator<unknown> {
  for (const candidate of [text, ...fenced(text)]) {
    const parsed = parse(candidate, budget);
    if (parsed) yield parsed.value;
  }
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    budget.spend("work", CANDIDATE_WORK);
    const end = endOf(text, at, budget);
    const parsed = end === undefined ? undefined : parse(text.slice(at, end), budget);
    if (!parsed || end === undefined) continue;
    yield parsed.value;
    // A value nested in JSON isn't an answer on its own.
    at = end - 1;
  }
}

const FENCE = "```";

/** The contents of fences, without the language tag. */
function fenced(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf(FENCE); at >= 0; ) {
    const end = text.indexOf(FENCE, at + FENCE.length);
    if (end < 0) return found;
    const inner = text.slice(at + FENCE.length, end);
    found.push(inner.slice(/^[a-zA-Z]*/.exec(inner)?.[0].length ?? 0));
    at = text.indexOf(FENCE, end + FENCE.length);
  }
  return found;
}

/** The index after the bracket that closes the one at `start`, or nothing. */
function endOf(text: string, start: number, budget: ParseBudget): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    budget.spend("work");
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The possible beginnings of a JSON text; anything else need not be parsed. */
const BEGINNING = /^\s*[[{"\-\dtfn]/;

function parse(text: string, budget: ParseBudget): { readonly value: unknown } | undefined {
  if (!BEGINNING.test(text)) return undefined;
  try {
    return { value: parseJson(text, budget) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
