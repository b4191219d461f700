/** The shortest time that a run stays unwritten now and then, for an act of another process to come in. */
const SHORTEST_MS = 20;

/** Now and then it is twice, four times … as long: at most so many times doubled. */
const MOST_DOUBLED = 5;

/** So many times as long it writes before: what this costs a run is a fortieth of its time. */
const SPACING = 40;

/**
 * When a run that writes without a break has to leave one. An act of another process reads the run, decides and writes on condition that
 * nothing has changed since, and a run of instant steps would always be faster. Every second break is longer than the shortest, every
 * fourth longer still: whatever time an act takes, up to half a second or so, it finds a break that is long enough after about a hundred
 * attempts. A run that has something to wait for, as most have, leaves breaks by itself.
 */
export class Openings {
  #count = 1;
  /** Since when it has written without such a break. */
  #since: number | undefined;

  /** For how long nothing may be written from now on, where the last write ended at `landedAt`. */
  due(now: number, landedAt: number): number {
    this.#since ??= now;
    const ms = SHORTEST_MS * 2 ** Math.min(doublings(this.#count), MOST_DOUBLED);
    const isOpen = now - landedAt >= ms;
    if (!isOpen && now - this.#since < SPACING * ms) return 0;
    this.#count++;
    this.#since = isOpen ? now : now + ms;
    return isOpen ? 0 : ms;
  }
}

/** How often a number can be halved. */
const doublings = (count: number): number => 31 - Math.clz32(count & -count);
