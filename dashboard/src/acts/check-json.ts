import { TEXT } from "../text.ts";

export type CheckedJson =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly line: number; readonly column: number; readonly message: string };

/** Reads a text of JSON, or says where it stops being one: browsers don't agree on how to tell. */
export function checkJson(text: string): CheckedJson {
  try {
    return { isValid: true, value: JSON.parse(text) as unknown };
  } catch {
    const { at, message } = problemOf(text);
    const above = text.slice(0, at).split("\n");
    return { isValid: false, line: above.length, column: (above.at(-1)?.length ?? 0) + 1, message };
  }
}

const TOKEN =
  /(?<space>[ \t\r\n]+)|(?<mark>[{}[\]:,])|(?<text>"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?<value>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy;

/** What may come next. */
type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd" | "nothing";

interface Problem {
  readonly at: number;
  readonly message: string;
}

/** The first place at which the text isn't JSON. */
function problemOf(text: string): Problem {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    if (!groups) return { at, message: TEXT.json.expected[expected] };
    if (groups["space"] !== undefined) continue;
    const next = after(groups["mark"] ?? (groups["text"] === undefined ? "value" : "text"), expected, open);
    if (next === null) return { at, message: TEXT.json.expected[expected] };
    expected = next;
  }
  return { at: text.length, message: TEXT.json.expected[expected] };
}

/** What may follow a token; `null` if the token may not stand here. */
function after(token: string, expected: Expected, open: ("{" | "[")[]): Expected | null {
  const isValueDue = expected === "value" || expected === "valueOrEnd";
  const isKeyDue = expected === "key" || expected === "keyOrEnd";
  if (token === "{" || token === "[") {
    if (!isValueDue) return null;
    open.push(token);
    return token === "{" ? "keyOrEnd" : "valueOrEnd";
  }
  if (token === "}" || token === "]") {
    const isFit = open.at(-1) === (token === "}" ? "{" : "[");
    const mayEnd = expected === "commaOrEnd" || expected === (token === "}" ? "keyOrEnd" : "valueOrEnd");
    if (!isFit || !mayEnd) return null;
    open.pop();
    return open.length === 0 ? "nothing" : "commaOrEnd";
  }
  if (token === ":") return expected === "colon" ? "value" : null;
  if (token === ",") return expected !== "commaOrEnd" ? null : open.at(-1) === "{" ? "key" : "value";
  if (token === "text" && isKeyDue) return "colon";
  if (!isValueDue) return null;
  return open.length === 0 ? "nothing" : "commaOrEnd";
}
