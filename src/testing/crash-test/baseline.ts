import { isDeepStrictEqual } from "node:util";
import { isInside } from "../../core/keys.ts";
import type { Effect } from "../../core/types.ts";
import { decode } from "../../core/values/codec.ts";
import type { SceneResult } from "./config.ts";
import { type EffectNote, perKind, tally, timesSeen } from "./effects.ts";
import { callKey, countBy, isBegun, isEnded, type Note } from "./notes.ts";

/** What the workflow does when nothing disturbs it, as far as two runs of it agree. */
export interface Baseline {
  readonly result: SceneResult;
  /** How often each step was called, by run and step; null when two runs differ. */
  readonly calls: ReadonlyMap<string, number> | null;
  /** The steps of the first run, by run and step, with their effects; null when two runs asked for different ones. */
  readonly names: ReadonlyMap<string, Effect> | null;
  /** What the two runs show by themselves: different steps, although every step had returned the same. */
  readonly strayed: { readonly more: readonly string[]; readonly fewer: readonly string[] } | null;
  /** What steps returned that returned the same twice. */
  readonly steady: ReadonlyMap<string, string>;
  /** Steps with other steps inside. */
  readonly containers: ReadonlySet<string>;
  readonly effects: readonly EffectNote[];
  /** How often each effect is seen; null when two runs differ in what they did. */
  readonly seen: ReadonlyMap<string, number> | null;
  /** Different effects of each kind; null when two runs differ in how many there were. */
  readonly kinds: Readonly<Record<string, number>> | null;
  /** Parts of the result that differ between two runs, as paths; they are not compared. */
  readonly differing: readonly string[];
  /** What steps returned, as stored. */
  readonly known: Readonly<Record<string, string>>;
  readonly callCount: number;
  readonly stepCount: number;
}

export interface Observed {
  readonly result: SceneResult;
  readonly notes: readonly Note[];
}

export function baselineOf(first: Observed, second: Observed): Baseline {
  const [calls, other] = [first, second].map(({ notes }) => countBy(notes.filter(isBegun), callKey));
  const [list, again] = [first, second].map(({ notes }) => tally(notes).list);
  const seen = countsOf(list ?? []);
  const kinds = perKind(list ?? []);
  const keys = [...(calls ?? new Map<string, number>()).keys()];
  const steady = steadyValues(first.notes, second.notes);
  const strayed = strayedFrom(namesOf(first.notes), second.notes, valuesOf(first.notes));
  const isSame = isDeepStrictEqual(namesOf(first.notes), namesOf(second.notes));
  return {
    result: first.result,
    names: isSame ? namesOf(first.notes) : null,
    strayed,
    steady,
    calls: isDeepStrictEqual(calls, other) ? (calls ?? null) : null,
    containers: new Set(keys.filter((key) => keys.some((one) => isInside(one, key)))),
    effects: list ?? [],
    seen: isDeepStrictEqual(seen, countsOf(again ?? [])) ? seen : null,
    kinds: isDeepStrictEqual(kinds, perKind(again ?? [])) ? kinds : null,
    differing: differences(read(first.result.value), read(second.result.value)),
    known: Object.fromEntries(
      first.notes
        .filter(isEnded)
        .flatMap((note) => (note.value === undefined ? [] : [[callKey(note), note.value]])),
    ),
    callCount: first.notes.filter(isBegun).length,
    stepCount: keys.length,
  };
}

export const namesOf = (notes: readonly Note[]): ReadonlyMap<string, Effect> =>
  new Map(
    notes
      .filter(isBegun)
      .map((note) => [callKey(note), note.effect] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const valuesOf = (notes: readonly Note[]): Map<string, string> =>
  new Map(
    notes.filter(isEnded).flatMap((note) => (note.value === undefined ? [] : [[callKey(note), note.value]])),
  );

function steadyValues(first: readonly Note[], second: readonly Note[]): Map<string, string> {
  const again = valuesOf(second);
  return new Map([...valuesOf(first)].filter(([key, value]) => again.get(key) === value));
}

/**
 * Steps that were asked for beyond those that are usual, and those that were not. Null where they are the same, or where a step that is
 * known to return `values` returned something else: that may be the reason.
 */
export function strayedFrom(
  names: ReadonlyMap<string, Effect>,
  notes: readonly Note[],
  values: ReadonlyMap<string, string>,
): { readonly more: readonly string[]; readonly fewer: readonly string[] } | null {
  const asked = namesOf(notes);
  const more = [...asked.keys()].filter((key) => !names.has(key));
  const fewer = [...names.keys()].filter((key) => !asked.has(key));
  if (more.length === 0 && fewer.length === 0) return null;
  const returned = valuesOf(notes);
  const isExplained = [...values].some(([key, value]) => returned.has(key) && returned.get(key) !== value);
  return isExplained ? null : { more, fewer };
}

const countsOf = (list: readonly EffectNote[]): Map<string, number> =>
  new Map([...timesSeen(list)].map(([name, notes]) => [name, notes.length]));

export const read = (text: string | null): unknown => (text === null ? null : decode(text));

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Where two values differ, as paths such as `output.at`; `ignored` ones are passed over. */
export function differences(
  a: unknown,
  b: unknown,
  ignored: ReadonlySet<string> = new Set(),
  path = "output",
): string[] {
  if (ignored.has(path) || isDeepStrictEqual(a, b)) return [];
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.flatMap((one, index) => differences(one, b[index], ignored, `${path}[${index}]`));
  if (!isPlain(a) || !isPlain(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differences(a[key], b[key], ignored, `${path}.${key}`));
}
