import type { Append, News } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import type { Offer, OfferEnd } from "./contract.ts";

/** How long an offered run may wait for room here before another worker is asked. */
const OFFER_MS = 5_000;

/** How long, if a claim of it was sent and nobody has said what came of it. */
const UNSURE_MS = 60_000;

/** What keeps offers and claims alive. */
export interface Lifeline {
  /** Sends heartbeats for an offer until `quiet`. */
  beat(taskToken: Uint8Array): void;
  quiet(taskToken: Uint8Array): void;
  /** Resolves with the life of this process when Temporal knows that the run is one of those that it has. */
  join(runId: string): Promise<string>;
  /** The run isn't this process's any more. */
  leave(runId: string): void;
  /** Tells the run that a claim of this process has ended. */
  giveUp(runId: string, token: string): void;
}

interface OpenOffer {
  /** As of the last time that anybody here has seen it. */
  row: RunRow;
  readonly taskToken: Uint8Array;
  readonly since: number;
  /** The token of a claim that is on its way, or whose answer was lost. */
  claiming: string | null;
  readonly settle: (end: OfferEnd | "claimed") => void;
}

const LEFT: OfferEnd = { taken: false, why: "left" };

interface HeldClaim {
  readonly token: string;
  /** How long it lasts without a renewal, and how long it has had none. */
  readonly ttlMs: number;
  idleMs: number;
}

/**
 * How often claims are looked at that nobody renews. A blocked event loop doesn't count: only looks that took place do.
 */
const LOOK_MS = 500;

/** The runs that are offered to this process, which to the engine's worker are those that are due, and its claims. */
export class Holds {
  readonly #lifeline: Lifeline;
  readonly #hasCode: (workflow: string) => boolean;
  readonly #offers = new Map<string, OpenOffer>();
  readonly #claims = new Map<string, HeldClaim>();
  readonly #listeners = new Set<(news: News) => void>();
  #looking: NodeJS.Timeout | undefined;

  constructor(lifeline: Lifeline, hasCode: (workflow: string) => boolean) {
    this.#lifeline = lifeline;
    this.#hasCode = hasCode;
  }

  /** The runs that are offered to this process. */
  get offered(): readonly RunRow[] {
    return [...this.#offers.values()].map(({ row }) => row);
  }

  /** The activity whose result a claim of the run may be. */
  offerOf(runId: string): Uint8Array | undefined {
    return this.#offers.get(runId)?.taskToken;
  }

  hear(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The activity `offer`: resolves with its end, or with `claimed` when the claim is its end. */
  async take({ row }: Offer, taskToken: Uint8Array): Promise<OfferEnd | "claimed"> {
    const { token } = row.claim;
    if (token !== null && this.#claims.get(row.id)?.token === token)
      return this.#keep(row.id, token, taskToken);
    if (!this.#hasCode(row.workflow) && !ended(row.status)) return { taken: false, why: "no-code" };
    return this.#offer(row, taskToken);
  }

  /** Temporal has taken this process for dead, and its life for over: it goes on in another one. */
  async #keep(runId: string, token: string, taskToken: Uint8Array): Promise<OfferEnd> {
    this.#lifeline.beat(taskToken);
    try {
      return { taken: true, kept: { token, life: await this.#lifeline.join(runId) } };
    } finally {
      this.#lifeline.quiet(taskToken);
    }
  }

  async #offer(row: RunRow, taskToken: Uint8Array): Promise<OfferEnd | "claimed"> {
    this.#lifeline.beat(taskToken);
    const settled = await new Promise<OfferEnd | "claimed">((settle) => {
      const offer: OpenOffer = { row, taskToken, since: Date.now(), claiming: null, settle };
      this.#offers.set(row.id, offer);
      this.#lapseLater(offer);
      this.#announce(row.id);
    });
    this.#lifeline.quiet(taskToken);
    if (this.#offers.get(row.id)?.taskToken === taskToken) this.#offers.delete(row.id);
    return settled;
  }

  /** An offer ends by itself, but not while this process may have taken the run. */
  #lapseLater(offer: OpenOffer): void {
    const lapse = (): void => {
      const isOpen = offer.claiming !== null && Date.now() - offer.since < UNSURE_MS;
      if (isOpen) this.#lapseLater(offer);
      else offer.settle(LEFT);
    };
    setTimeout(lapse, OFFER_MS).unref();
  }

  /** Called before a claim is sent; resolves with the life that it is taken in. */
  async claiming(runId: string, token: string): Promise<string> {
    const life = await this.#lifeline.join(runId);
    const offer = this.#offers.get(runId);
    if (offer) offer.claiming = token;
    return life;
  }

  /** Called when a claim has become the result of the offer, whatever the sandbox says to it. */
  spent(runId: string, taskToken: Uint8Array): void {
    const offer = this.#offers.get(runId);
    if (offer?.taskToken !== taskToken) return;
    this.#offers.delete(runId);
    offer.settle("claimed");
  }

  /** Called when an append was refused: with it, its claim. */
  refused({ run: { id }, claim }: Append): void {
    if (claim.kind !== "acquire") return;
    const offer = this.#offers.get(id);
    if (offer?.claiming === claim.token) offer.claiming = null;
    if (!this.#claims.has(id)) this.#lifeline.leave(id);
  }

  /** Called when nobody has said what came of a claim. If that stays so, its worker mustn't have it. */
  unsure({ run: { id }, claim }: Append): void {
    if (claim.kind !== "acquire") return;
    const { token } = claim;
    setTimeout(() => {
      if (this.#claims.get(id)?.token !== token) this.#lifeline.giveUp(id, token);
    }, UNSURE_MS).unref();
  }

  #announce(runId: string): void {
    for (const listener of this.#listeners) listener({ runs: [runId], isDue: true });
  }

  /** Somebody has written to the run since it was offered: it is taken as it is now, or isn't due any more. */
  moved(row: RunRow): void {
    const offer = this.#offers.get(row.id);
    if (!offer || row.seq <= offer.row.seq) return;
    offer.row = row;
    if (row.wakeAt === null && row.claim.token === null) return offer.settle({ taken: true });
    // The engine's worker is still busy with the refusal.
    setImmediate(() => this.#announce(row.id));
  }

  /** Called for each append of this process that the sandbox has taken. */
  appended({ run: { id, wakeAt }, claim, expect }: Append, now: RunRow): void {
    const offer = this.#offers.get(id);
    // An act from outside leaves the claim to whoever has it, which may be this process.
    if (claim.kind === "keep" && !expect?.token) {
      if (wakeAt === null) offer?.settle({ taken: true });
      return;
    }
    if (claim.kind === "acquire") {
      const { token, ttlMs } = claim;
      this.#claims.set(id, { token, ttlMs, idleMs: 0 });
      this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref();
      this.#offers.delete(id);
      offer?.settle("claimed");
      return;
    }
    if (now.claim.token !== null) return this.renewed(id);
    this.#offers.delete(id);
    offer?.settle({ taken: true });
    this.lost(id);
  }

  /** The engine still advances the run. */
  renewed(runId: string): void {
    const claim = this.#claims.get(runId);
    if (claim) claim.idleMs = 0;
  }

  /** A run that the engine has stopped advancing, without a word, must not be held for ever. */
  #look(): void {
    for (const [runId, claim] of this.#claims) {
      claim.idleMs += LOOK_MS;
      if (claim.idleMs >= claim.ttlMs) this.#giveUp(runId, claim);
    }
    if (this.#claims.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #giveUp(runId: string, { token }: HeldClaim): void {
    this.lost(runId);
    this.#lifeline.giveUp(runId, token);
  }

  /** The claim has ended: released here, or taken away. */
  lost(runId: string): void {
    if (this.#claims.delete(runId)) this.#lifeline.leave(runId);
  }

  /** Leaves everything as a crash would. */
  drop(): void {
    for (const { settle } of this.#offers.values()) settle(LEFT);
    for (const [runId, claim] of this.#claims) this.#giveUp(runId, claim);
  }
}
