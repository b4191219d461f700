import type { JsonSchema } from "./model.ts";
import { problemsOf } from "./schema-rules.ts";

/** JSON in what a model wrote: alone, in a fence, or somewhere in its text. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly string[] };

const FENCE = /```[a-zA-Z]*\s*\n?([\s\S]*?)```/g;
/** Places in a text where JSON may begin that are tried, so that a long text takes no long time. */
const MAX_STARTS = 64;

/** The first JSON value in the text that fits the schema; else why the most likely one does not. */
export function readAnswer(text: string, schema: JsonSchema): Answer {
  let first: readonly string[] | undefined;
  for (const candidate of candidates(text)) {
    const parsed = parse(candidate);
    if (!parsed) continue;
    const problems = problemsOf(schema, parsed.value);
    if (problems.length === 0) return { ok: true, value: parsed.value };
    first ??= problems;
  }
  return { ok: false, problems: first ?? [text.trim() === "" ? "it is empty" : "it is not JSON"] };
}

function* candidates(text: string): Generator<string> {
  yield text;
  for (const match of text.matchAll(FENCE)) yield match[1] as string;
  let starts = 0;
  for (let at = 0; at < text.length && starts < MAX_STARTS; at++) {
    if (text[at] !== "{" && text[at] !== "[") continue;
    starts++;
    const end = endOf(text, at);
    if (end === undefined) continue;
    yield text.slice(at, end);
    // What is inside of JSON is not an answer of its own.
    if (parse(text.slice(at, end))) at = end - 1;
  }
}

/** Behind the bracket that closes the one at `start`, or nothing. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
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

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
