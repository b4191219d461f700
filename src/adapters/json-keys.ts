const UNSAFE_KEY = /"(?:~[^"]*|__proto__|constructor|prototype)":/;
const ESCAPED = "~";

/** JSON as it is stored: `parsed` is what the text holds. */
export const fromJsonText = (text: string, parsed: unknown = JSON.parse(text)): unknown =>
  UNSAFE_KEY.test(text) ? escaped(parsed) : parsed;

/** The JSON text of what is stored. */
export const jsonOf = (data: unknown): string => {
  const text = JSON.stringify(data);
  return text.includes(`"${ESCAPED}`) ? JSON.stringify(unescaped(data)) : text;
};

/** The journal refuses keys that could reach a prototype, so they are written with a mark. */
export const escaped = (value: unknown): unknown => mapKeys(value, keyOf);

export const unescaped = (value: unknown): unknown => mapKeys(value, nameOf);

function mapKeys(value: unknown, change: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => mapKeys(item, change));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const changed: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(changed, change(key), {
      value: mapKeys(item, change),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  return changed;
}

/** A name as a key of what is stored, and back. */
export const keyOf = (name: string): string =>
  name.startsWith(ESCAPED) || name === "__proto__" || name === "constructor" || name === "prototype"
    ? ESCAPED + name
    : name;
export const nameOf = (key: string): string => (key.startsWith(ESCAPED) ? key.slice(ESCAPED.length) : key);
