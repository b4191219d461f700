import { seededIds } from "../../core/ids.ts";
import { baseName, segmentsOf } from "../../core/keys.ts";
import type { Point } from "../../core/ports.ts";
import { spread } from "../spread.ts";

/** The kinds of faults. The process survives all but `sigkill`. */
export const faults = ["sigkill", "throw", "store-down", "slow-store", "clock-skew"] as const;
/** What goes wrong at a boundary. */
export type CrashFault = (typeof faults)[number];

export type Side = "before" | "after";

/**
 * The place of a fault, counted from the start of the process: a write, a protocol point, a witnessed effect, or the
 * call of a step.
 */
export type Strike =
  | { readonly write: number; readonly side: Side }
  | { readonly point: Point; readonly nth: number }
  | { readonly effect: number }
  | { readonly call: number; readonly side: Side };

/** A boundary that an uninterrupted run crossed. */
export interface Place {
  /** Names the case on a command line: `write-12-after`. */
  readonly id: string;
  /** A description: `after write 12: load done, pay begins`. */
  readonly label: string;
  /** The steps it belongs to. */
  readonly steps: readonly string[];
  readonly strike: Strike;
}

/** The points around a call of user code; all others are next to a write. */
export const CALL_POINTS: Partial<Record<Point, string>> = {
  "C05:before-call": "just before the call of",
  "C07:after-call": "just after the call of",
  "C11:backoff": "while waiting to retry",
};

export function placeId(strike: Strike): string {
  if ("write" in strike) return `write-${strike.write}-${strike.side}`;
  if ("call" in strike) return `call-${strike.call}-${strike.side}`;
  if ("effect" in strike) return `effect-${strike.effect}`;
  return `${strike.point.slice(0, 3)}-${strike.nth}`;
}

/** The places at which a fault can happen. */
export function placesFor(fault: CrashFault, places: readonly Place[]): Place[] {
  return places.filter(({ strike }) => {
    if (fault === "sigkill") return !("call" in strike);
    return fault === "throw" ? "call" in strike : "write" in strike;
  });
}

export interface Selection {
  /** `every` boundary, `random` ones, or those of one step. */
  readonly at: string;
  readonly seed: number;
  /** The maximum number; 0 for all. */
  readonly limit: number;
}

/** The selected boundaries, and a description of the selection. */
export interface Selected {
  readonly places: readonly Place[];
  readonly possible: number;
  readonly text: string;
}

const plural = (count: number): string => (count === 1 ? "boundary" : "boundaries");

export function select(all: readonly Place[], { at, seed, limit }: Selection): Selected {
  const isStep = at !== "every" && at !== "random";
  const fitting = isStep ? all.filter(({ steps }) => steps.some((step) => isOf(step, at))) : all;
  const possible = fitting.length;
  const where = isStep ? ` of step ${at}` : "";
  if (limit === 0 || possible <= limit) {
    const places = at === "random" ? shuffled(fitting, seed) : [...fitting];
    return { places, possible, text: `all ${possible} ${plural(possible)}${where}` };
  }
  const said = `${limit} of ${possible} ${plural(possible)}${where}`;
  if (at !== "random") {
    const gap = Math.round((possible - 1) / Math.max(1, limit - 1));
    const how = gap > 1 ? `every ${ordinal(gap)}` : "evenly spread";
    return { places: spread(fitting, limit), possible, text: `${said}, ${how}` };
  }
  const drawn = new Set(shuffled(fitting, seed).slice(0, limit));
  return {
    places: fitting.filter((place) => drawn.has(place)),
    possible,
    text: `${said}, drawn with seed ${seed}`,
  };
}

/** Matches a step by its whole key, by its name, and by the name of what contains it. */
function isOf(key: string, name: string): boolean {
  return key === name || segmentsOf(key).some((part) => part === name || baseName(part) === name);
}

function shuffled<T>(list: readonly T[], seed: number): T[] {
  const ids = seededIds(seed);
  return list
    .map((one) => ({ one, order: ids.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ one }) => one);
}

function ordinal(n: number): string {
  const ending = n % 100 >= 11 && n % 100 <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${ending}`;
}
