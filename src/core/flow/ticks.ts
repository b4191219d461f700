import { derivedNumber } from "../ids.ts";
import type { CatchUp } from "../schedule-options.ts";

/** The moments of a schedule, in epoch milliseconds. They depend on nothing but its definition. */
export interface Ticks {
  /** The first tick after this moment; `null` when there is none. */
  next(after: number): number | null;
  /** The last ticks up to and including this moment, at most `count`, oldest first. */
  last(upTo: number, count: number): readonly number[];
}

/** A tick every so often, counted from `anchor`, which is the first one. */
export function intervalTicks(everyMs: number, anchor: number): Ticks {
  const index = (moment: number) => Math.floor((moment - anchor) / everyMs);
  return {
    next: (after) => (after < anchor ? anchor : anchor + (index(after) + 1) * everyMs),
    last(upTo, count) {
      if (upTo < anchor) return [];
      const newest = index(upTo);
      const oldest = Math.max(0, newest - count + 1);
      return Array.from({ length: newest - oldest + 1 }, (_, n) => anchor + (oldest + n) * everyMs);
    },
  };
}

/** One tick. */
export const oneTick = (at: number): Ticks => ({
  next: (after) => (after < at ? at : null),
  last: (upTo, count) => (upTo >= at && count > 0 ? [at] : []),
});

/** Only the ticks from `startAt` up to and including `endAt`. */
export function within(ticks: Ticks, startAt: number | undefined, endAt: number | undefined): Ticks {
  const isIn = (tick: number) => tick >= (startAt ?? -Infinity) && tick <= (endAt ?? Infinity);
  return {
    next(after) {
      const tick = ticks.next(Math.max(after, (startAt ?? -Infinity) - 1));
      return tick !== null && isIn(tick) ? tick : null;
    },
    last: (upTo, count) => ticks.last(Math.min(upTo, endAt ?? Infinity), count).filter(isIn),
  };
}

/** How much later than its tick a run starts: the same whoever computes it. */
export const jitterOf = (schedule: string, tick: number, jitterMs: number): number =>
  jitterMs === 0 ? 0 : Math.floor(derivedNumber(JSON.stringify(["jitter", schedule, tick])) * jitterMs);

/** How late a tick may be handled and still count as on time. */
export const ON_TIME_MS = 60_000;

/** At most one tick a second can be on time, and jitter is never longer than the time between two of them. */
const MOST_ON_TIME = ON_TIME_MS / 1_000 + 3;

export interface Due {
  /** The ticks to act on now, oldest first. */
  readonly ticks: readonly number[];
  /** The first and the last of the moments between which ticks were left out, by the rule of catching up. */
  readonly missed: { readonly from: number; readonly to: number } | undefined;
  /** When the next tick is due, with its jitter; `null` when there is none. */
  readonly nextAt: number | null;
}

/**
 * The ticks that are due at `now`, of those after `from`. Ticks are taken in order, so one whose jitter hasn't passed
 * holds back those after it.
 */
export function dueTicks(
  ticks: Ticks,
  from: number,
  now: number,
  { most, withinMs }: CatchUp,
  jitter: (tick: number) => number,
): Due {
  const first = ticks.next(from);
  if (first === null) return { ticks: [], missed: undefined, nextAt: null };
  if (first > now) return { ticks: [], missed: undefined, nextAt: first + jitter(first) };
  const newest = newestOf(ticks, first, now, most + MOST_ON_TIME);
  const isLate = (tick: number) => now - tick - jitter(tick) > ON_TIME_MS;
  const late = newest.filter((tick) => isLate(tick) && now - tick <= withinMs);
  const kept = most === 0 ? [] : late.slice(-most);
  const ordered = [...kept, ...newest.filter((tick) => !isLate(tick))];
  const firstEarly = ordered.findIndex((tick) => tick + jitter(tick) > now);
  const taken = firstEarly === -1 ? ordered : ordered.slice(0, firstEarly);
  const next = ordered[taken.length] ?? ticks.next(Math.max(from, now));
  const oldest = ordered[0] ?? now + 1;
  return {
    ticks: taken,
    missed: first < oldest ? { from: first, to: before(ticks, oldest) } : undefined,
    nextAt: next === null ? null : next + jitter(next),
  };
}

/** The newest ticks from the first one up to now. Few are counted from the front, which is faster. */
function newestOf(ticks: Ticks, first: number, now: number, count: number): readonly number[] {
  const found = [first];
  for (let tick = ticks.next(first); tick !== null && tick <= now; tick = ticks.next(tick)) {
    found.push(tick);
    if (found.length > count) return ticks.last(now, count);
  }
  return found;
}

/** The last tick before this moment. */
const before = (ticks: Ticks, moment: number): number => ticks.last(moment - 1, 1)[0] ?? moment;
