/** Numbers as JSON, YAML and people write them. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const WHOLE = /^[+-]?\d+$/;

/** The number in a text, or nothing when it isn't a number or can't be represented exactly. */
export function exactNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || (value === 0 && /[1-9]/.test(text.split(/[eE]/)[0] ?? ""))) return undefined;
  if (WHOLE.test(text)) return isSameWhole(text, value) ? value : undefined;
  const isLarge = Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isLarge && !/[eE]/.test(text) ? undefined : value;
}

function isSameWhole(text: string, value: number): boolean {
  const digits = text.replace(/^[+-]/, "").replace(/^0+(?=\d)/, "");
  return String(Math.abs(value)) === digits;
}
