export type CheckedJson =
  | { readonly isValid: true; readonly value: unknown }
  | { readonly isValid: false; readonly line: number; readonly column: number; readonly message: string };

/** Reads a text of JSON, or says where it stops being one. */
export function checkJson(text: string): CheckedJson {
  try {
    return { isValid: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const at = offsetOf(text, message);
    const before = text.slice(0, at).split("\n");
    return {
      isValid: false,
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
      message: plain(message),
    };
  }
}

/** Engines say `at position 12`, `line 2 column 3`, or only that the text ended too early. */
function offsetOf(text: string, message: string): number {
  const [, position] = /position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [];
  if (line === undefined) return text.length;
  const above = text.split("\n").slice(0, Number(line) - 1);
  return above.reduce((sum, one) => sum + one.length + 1, 0) + Number(column) - 1;
}

/** The engine's sentence without the excerpt and the place, which are shown beside it. */
const plain = (message: string): string =>
  message
    .replace(/^JSON\.parse: /, "")
    .replace(/,? ?(?:\.\.\.)?".*" is not valid JSON/s, "")
    .replace(/ in JSON at position.*$/s, "")
    .replace(/ at (?:position|line) .*$/s, "");
