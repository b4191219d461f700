import { keyOf, unescaped } from "../json-keys.ts";

/**
 * A value as it is stored: plain data, as JSON would write it, with cycles and functions left out. Dates stay dates
 * where Mastra gives and expects them.
 */
export function storable(
  value: unknown,
  dates: "as dates" | "as texts",
  above: readonly object[] = [],
): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date && dates === "as dates") return value;
  if (above.includes(value)) return undefined;
  const inside = [...above, value];
  if ("toJSON" in value && typeof value.toJSON === "function") return storable(value.toJSON(), dates, inside);
  if (Array.isArray(value)) return value.map((item) => storable(item, dates, inside) ?? null);
  const named = value instanceof Error ? { name: value.name, message: value.message } : {};
  const plain: Record<string, unknown> = {};
  for (const [key, item] of Object.entries({ ...named, ...value })) {
    const kept = storable(item, dates, inside);
    if (kept !== undefined) plain[keyOf(key)] = kept;
  }
  return plain;
}

/** What was stored, as a copy of its own. */
export const restored = <T>(stored: unknown): T => unescaped(stored) as T;
