import { isDeepStrictEqual } from "node:util";
import { isInside } from "../../core/keys.ts";
import type { Effect } from "../../core/types.ts";
import { decode } from "../../core/values/codec.ts";
import type { SceneResult } from "./config.ts";
import { type EffectNote, perKind, tally, timesSeen } from "./effects.ts";
import { callKey, countBy, isBegun, isEnded, type Note } from "./notes.ts";

/** The workflow's behaviour without faults, as far as two runs agree. */
export interface Baseline {
  readonly result: SceneResult;
  /** The number of calls by run and step; null when two runs differ. */
  readonly calls: ReadonlyMap<string, number> | null;
  /** The steps of the first run, by run and step, with their effects; null when two runs had different steps. */
  readonly names: ReadonlyMap<string, Effect> | null;
  /** Set when the two runs had different steps although every step returned the same value. */
  readonly strayed: { readonly more: readonly string[]; readonly fewer: readonly string[] } | null;
  /** The values of steps that returned the same value twice. */
  readonly steady: ReadonlyMap<string, string>;
  /** Steps that contain other steps. */
  readonly containers: ReadonlySet<string>;
  readonly effects: readonly EffectNote[];
  /** The number of times each effect was seen; null when the effects of two runs differ. */
  readonly seen: ReadonlyMap<string, number> | null;
  /** The number of distinct effects of each kind; null when two runs differ in the count. */
  readonly kinds: Readonly<Record<string, number>> | null;
  /** Paths of the result that differ between two runs; they aren't compared. */
  readonly differing: readonly string[];
  /** The values that steps returned, as stored. */
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
 * The steps beyond the usual ones, and those that are missing. Null when the steps are the same, or when a step that is
 * known to return `values` returned something else, which may be the reason.
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

/** Paths where two values differ, such as `output.at`; `ignored` ones are skipped. */
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
