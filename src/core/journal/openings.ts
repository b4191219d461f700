/** The shortest pause between writes, which lets an act of another process in. */
const SHORTEST_MS = 20;

/** How often the pause may be doubled. */
const MOST_DOUBLED = 5;

/** The ratio of writing time to pauses: they cost a run a fortieth of its time. */
const SPACING = 40;

/**
 * Decides when a run that writes continuously must pause. An act of another process reads the run, decides, and writes
 * on condition that nothing has changed since; a run of instant steps would always be faster. Every second pause is
 * longer than the shortest, every fourth longer still: an act that takes up to about half a second finds a long enough
 * pause after about a hundred attempts. Most runs have something to wait for and pause on their own.
 */
export class Openings {
  #count = 1;
  /** The time since when it has written without such a pause. */
  #since: number | undefined;

  /** How long nothing may be written from now on, given that the last write ended at `landedAt`. */
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
