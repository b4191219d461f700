import type { StatePatch } from "../../core/values/patch.ts";
import { changes, isEqual, listChanges } from "../diff.ts";
import { nameOf } from "../json-keys.ts";
import { brief } from "./brief-messages.ts";
import type { KeptState } from "./kept-state.ts";
import type { ThreadState } from "./state.ts";
import type { Item, Prepared, Stored } from "./stored.ts";

/** The elements of the lists in a state that were saved from here. */
export type KnownItems = ReadonlyMap<string, readonly Item[]>;

/** The changes from one state to the next, as the journal holds them. Elements that were saved from here before are known to be the same. */
export function stateChanges(
  before: KeptState | ThreadState,
  after: KeptState,
  known: KnownItems | undefined,
  fresh: ReadonlyMap<string, Prepared>,
): StatePatch[] {
  const { values: valuesBefore, ...rest } = before;
  const { values: valuesAfter, ...restAfter } = after;
  const patches = briefest(rest, restAfter);
  const names = new Set([...Object.keys(valuesBefore), ...Object.keys(valuesAfter)]);
  for (const key of names) {
    const [old, now] = [valuesBefore[key], valuesAfter[key]];
    const path = ["values", key];
    if (!now) patches.push(["remove", path]);
    else if (!old) patches.push(["add", path, now]);
    else if (old !== now)
      patches.push(...valueChanges(old, now, path, known?.get(nameOf(key)), fresh.get(nameOf(key))));
  }
  return patches;
}

/** Small values are written anew where that is shorter than their changes. */
function briefest(before: object, after: object): StatePatch[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): StatePatch[] => {
    const [old, now]: unknown[] = [Reflect.get(before, name), Reflect.get(after, name)];
    if (now === undefined) return [["remove", [name]]];
    if (old === undefined) return [["add", [name], now]];
    const patches = changes(old, now, [name]);
    if (name === "delta" || patches.length === 0) return patches;
    const isLonger = JSON.stringify(patches).length > JSON.stringify([["replace", [name], now]]).length;
    return isLonger ? [["replace", [name], now]] : patches;
  });
}

function valueChanges(
  old: Stored,
  now: Stored,
  path: readonly string[],
  known: readonly Item[] | undefined,
  fresh: Prepared | undefined,
): StatePatch[] {
  const [[, before], [, after]] = [old, now];
  if (old[0] !== now[0] || !Array.isArray(before) || !Array.isArray(after)) return changes(old, now, path);
  const items = fresh && "items" in fresh ? fresh.items : [];
  const isKnown = (a: number, b: number): boolean => known?.[a] !== undefined && known[a] === items[b];
  // An earlier version of this package has written messages whole; they stay as they are.
  const same = (a: number, b: number): boolean =>
    isKnown(a, b) || isEqual(before[a], after[b]) || isEqual(brief(before[a]), after[b]);
  return listChanges(before, after, [...path, 1], same);
}

/** A value of this length is worth storing once. */
const LONG = 1_024;
/** The path of an element in a channel's list: `values`, the channel, 1, its index. */
const IN_LIST = 4;

/** True when the changes hold a channel's long value as a whole, which often comes again. An element of a list seldom does. */
export const holdWhole = (patches: readonly StatePatch[]): boolean =>
  patches.some(
    ([, path, value]) =>
      path[0] === "values" && path.length < IN_LIST && (JSON.stringify(value)?.length ?? 0) >= LONG,
  );
