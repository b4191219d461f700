/** A half of a character that takes two code units. */
const LONE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/**
 * Replaces halves of characters, in texts and in the texts of plain data: they can be saved, but receivers refuse JSON
 * with them. Returns the same value if there are none.
 */
export function wellFormed<T>(value: T): T {
  if (typeof value === "string") return value.replace(LONE, "\uFFFD") as T;
  if (Array.isArray(value)) {
    const items = value.map(wellFormed) as unknown[];
    return items.every((item, index) => item === (value as unknown[])[index]) ? value : (items as T);
  }
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const fields = Object.entries(value).map(([key, item]) => [wellFormed(key), wellFormed(item)] as const);
  const isSame = fields.every(([key, item]) => (value as Record<string, unknown>)[key] === item);
  return isSame ? value : (Object.fromEntries(fields) as T);
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
