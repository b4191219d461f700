import type { ParseBudget } from "../../values/parse-budget.ts";

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [34, 92, 44, 91, 93, 123, 125];

/**
 * Charges a JSON text's parts and depth to a budget before it is parsed. String contents are skipped. Throws HF-1040
 * when the budget is exceeded; invalid JSON is left to the parser.
 */
export function measureJson(text: string, budget: ParseBudget): void {
  let depth = 0;
  const deeper = (): void => {
    budget.reach(++depth);
    budget.spend("keys");
  };
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (char === COMMA) budget.spend("keys");
    else if (char === OPEN || char === OPEN_LIST) deeper();
    else if (char === CLOSE || char === CLOSE_LIST) depth--;
  }
}

/** The end of the string that begins at a quotation mark. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
