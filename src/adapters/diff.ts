import type { StatePatch } from "../core/values/patch.ts";

type Path = readonly (string | number)[];

/** The changes that turn one piece of plain data into another. */
export function changes(before: unknown, after: unknown, path: Path = []): StatePatch[] {
  if (Object.is(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after))
    return listChanges(before, after, path, (a, b) => isEqual(before[a], after[b]));
  if (!isPlain(before) || !isPlain(after)) return isEqual(before, after) ? [] : [["replace", path, after]];
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...removed.map((key): StatePatch => ["remove", [...path, key]]),
    ...Object.entries(after).flatMap(([key, value]): StatePatch[] =>
      Object.hasOwn(before, key)
        ? changes(before[key], value, [...path, key])
        : [["add", [...path, key], value]],
    ),
  ];
}

/** The changes of a list: what is the same at both ends stays. `same`: whether an element before is one after. */
export function listChanges(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  same: (before: number, after: number) => boolean,
): StatePatch[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && same(start, start)) start++;
  let end = 0;
  while (end < least - start && same(before.length - 1 - end, after.length - 1 - end)) end++;
  const [lost, added] = [before.length - end - start, after.length - end - start];
  if (lost > MOST_SINGLE && added > 0 && end === 0)
    return [
      ["replace", [...path, "length"], start],
      ...after.slice(start).map((item, index): StatePatch => ["add", [...path, start + index], item]),
    ];
  const both = Math.min(lost, added);
  const patches: StatePatch[] = [];
  for (let i = start; i < start + both; i++) patches.push(...changes(before[i], after[i], [...path, i]));
  if (lost > both && end === 0) patches.push(["replace", [...path, "length"], start + both]);
  else for (let i = both; i < lost; i++) patches.push(["remove", [...path, start + both]]);
  for (let i = both; i < added; i++) patches.push(["add", [...path, start + i], after[start + i]]);
  return patches;
}

const MOST_SINGLE = 64;

export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    const other: readonly unknown[] = b;
    return a.every((item, index) => isEqual(item, other[index]));
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(Reflect.get(a, key), Reflect.get(b, key)));
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Uint8Array) &&
  !(value instanceof Date);
