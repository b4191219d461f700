import type { ParseBudget } from "../../values/parse-budget.ts";

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [34, 92, 44, 91, 93, 123, 125];

/**
 * Charges a JSON text's parts and depth to a budget before anything is made of it. Texts inside it are passed over, whatever is in them.
 * Throws HF-1040 where the budget does not reach; what is no JSON is for the parser to say.
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

/** Where the text that begins at a quotation mark ends. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
