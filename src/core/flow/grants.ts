import type { Clock } from "../clock.ts";
import type { Grant } from "../guards/rate-gate.ts";
import type { Held, Kept } from "./kept.ts";
import { type Amount, askNow, givenBack, type LimitRecord, MOST_LEAD_MS, redated } from "./window.ts";

const LEAST_LEAD_MS = 10;

/** Asked again this soon when others are always faster. */
export const BUSY_MS = 50;

/** How often a write is tried before those who ask are told to come back. */
export const MOST_TRIES = 20;

/** How long calls here take to begin after they are granted, as seen lately. */
export class Lead {
  #ms = LEAST_LEAD_MS;

  get ms(): number {
    return Math.ceil(this.#ms);
  }

  /** A call began, or couldn't begin, so long after it was granted. */
  saw(elapsedMs: number): void {
    const next = Math.max(0.95 * this.#ms, 2 * elapsedMs);
    this.#ms = Math.min(Math.max(next, LEAST_LEAD_MS), MOST_LEAD_MS);
  }
}

export interface GrantDeps {
  readonly kept: Kept<LimitRecord>;
  readonly clock: Clock;
  /** The store's time, asked for now. */
  readonly now: () => Promise<number>;
  readonly lead: Lead;
}

/** A moment on the store's clock: it was `now` there at some time after `sentAt` here. */
export interface Moment {
  readonly now: number;
  readonly sentAt: number;
}

/**
 * A limit and the time, asked for at once: the date of a grant is then no older than it has to be. Whichever answer is
 * the newer one, a write counts only if the limit is still as it was read.
 */
export async function lookAt(
  { kept, clock, now }: Pick<GrantDeps, "kept" | "clock" | "now">,
  name: string,
): Promise<{ readonly moment: Moment; readonly held: Held<LimitRecord> | null }> {
  const sentAt = clock.monotonic();
  const [at, held] = await Promise.all([now(), kept.read(name)]);
  return { moment: { sentAt, now: at }, held };
}

/** What a call was granted, and from when on it counts. */
export class CountedGrant implements Grant {
  readonly #deps: GrantDeps;
  readonly #name: string;
  readonly #amount: Amount;
  #dated: number;
  #moment: Moment;

  constructor(deps: GrantDeps, name: string, amount: Amount, dated: number, moment: Moment) {
    this.#deps = deps;
    this.#name = name;
    this.#amount = amount;
    this.#dated = dated;
    this.#moment = moment;
  }

  isTimely(): boolean {
    const { clock, lead } = this.#deps;
    const elapsed = clock.monotonic() - this.#moment.sentAt;
    lead.saw(elapsed);
    // The store's clock may be about to tick, so it may be a millisecond later there than it said.
    return this.#moment.now + elapsed <= this.#dated - 1;
  }

  async renew(): Promise<number | null> {
    const { kept, lead } = this.#deps;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { moment, held } = await lookAt(this.#deps, this.#name);
      // The limit was deleted, and applies to nobody.
      if (!held) return this.#set(Infinity, moment);
      const at = { now: moment.now, leadMs: lead.ms };
      const asked =
        redated(held.value, this.#amount, this.#dated, at) ??
        askNow(held.value, this.#amount, at.now, at.leadMs);
      if (asked.until !== null) return asked.until;
      if (await kept.replace(this.#name, held.version, asked.record)) return this.#set(asked.dated, moment);
    }
    return (await this.#deps.now()) + BUSY_MS;
  }

  /** Gives it back: the call isn't made after all. */
  async giveBack(): Promise<void> {
    const { kept } = this.#deps;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const held = await kept.read(this.#name);
      const without = held && givenBack(held.value, this.#amount, this.#dated);
      if (!held || !without || (await kept.replace(this.#name, held.version, without))) return;
    }
  }

  #set(dated: number, moment: Moment): null {
    this.#dated = dated;
    this.#moment = moment;
    return null;
  }
}

/** For a limit that doesn't apply. */
export const FREE: Grant = { isTimely: () => true, renew: () => Promise.resolve(null) };
