/** One value that differs between two states. */
export interface Difference {
  /** From the part of the state on: `memory`, `totals`, `0`. */
  readonly path: readonly string[];
  readonly kind: "added" | "removed" | "changed";
  readonly from?: unknown;
  readonly to?: unknown;
}

/**
 * The differences in a delta of jsondiffpatch: `[new]` was added, `[old, 0, 0]` removed, `[old, new]` changed; an object
 * goes on below; one with `_t: "a"` is of a list, where `_3` is the third item of the old one.
 */
export function differencesOf(delta: unknown, path: readonly string[] = []): readonly Difference[] {
  if (typeof delta !== "object" || delta === null) return [];
  if (Array.isArray(delta)) return [leafOf(delta, path)];
  const isList = (delta as { readonly _t?: unknown })._t === "a";
  return Object.entries(delta).flatMap(([key, inner]: [string, unknown]) =>
    isList && key === "_t" ? [] : differencesOf(inner, [...path, isList ? key.replace(/^_/, "") : key]),
  );
}

function leafOf(delta: readonly unknown[], path: readonly string[]): Difference {
  if (delta.length === 1) return { path, kind: "added", to: delta[0] };
  if (delta.length === 3) return { path, kind: "removed", from: delta[0] };
  return { path, kind: "changed", from: delta[0], to: delta[1] };
}

/** The path of a JSON Patch as its parts. */
export const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Names of values that differ from run to run without meaning anything. */
const NOISY =
  /^(?:.*(?:At|Time|Date|Timestamp|Ms|Seconds)|at|ts|time|date|timestamp|duration|elapsed|now)$|_(?:at|time|date|ms)$/;

/** True for a time or a duration: it always differs. */
export const isNoise = (path: readonly string[]): boolean => NOISY.test(path.at(-1) ?? "");

/** Differences by the part of the state they are in. */
export function byPart<One extends { readonly path: readonly string[] }>(
  found: readonly One[],
): readonly (readonly [string, readonly One[]])[] {
  const parts = new Map<string, One[]>();
  for (const one of found) {
    const [part = ""] = one.path;
    const list = parts.get(part);
    if (list) list.push(one);
    else parts.set(part, [one]);
  }
  return [...parts];
}
