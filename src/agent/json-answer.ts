import { HoldfastError } from "../core/errors.ts";
import { parseJson } from "../core/values/bounded-json.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import type { JsonSchema } from "./model.ts";
import { checkValue } from "./schema-rules.ts";

/** JSON in what a model wrote: alone, in a fence, or somewhere in its text. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

/** For all candidates together: each is looked at by itself, and a text may hold many that begin and never end. */
const LIMITS = { bytes: 3_145_728, keys: 100_000, work: 3_145_728 } as const;

/** Each is taken out of the text, read, and compared with the schema. */
const CANDIDATE_WORK = 500;

/** The first JSON value in the text that fits the schema; else why the most likely one does not. */
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
    if (!HoldfastError.is(error, "HF-1040")) throw error;
    first ??= ["it is too long or nested too deeply to be read"];
  }
  return { ok: false, problems: first ?? [text.trim() === "" ? "it is empty" : "it is not JSON"] };
}

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
    // What is inside of JSON is not an answer of its own.
    at = end - 1;
  }
}

const FENCE = "```";

/** What stands between fences, without the language behind the first one. */
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

/** Behind the bracket that closes the one at `start`, or nothing. */
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

/** What a JSON text may begin with; anything else need not be looked through. */
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
