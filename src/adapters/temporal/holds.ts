import type { Append, News } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import type { HoldEnd, HoldOffer } from "./contract.ts";

/** How long an offered run may wait for room here before another worker is asked. */
const OFFER_MS = 5_000;

/** How long, if a claim of it was sent and nobody has said what came of it. */
const UNSURE_MS = 60_000;

/** Keeps activities alive, and ends them. */
export interface Beats {
  begin(taskToken: Uint8Array): void;
  /** Stops its heartbeat and completes it. */
  end(taskToken: Uint8Array, end: HoldEnd): void;
}

interface Offer {
  readonly id: string;
  /** As of the last time that anybody here has seen it. */
  row: RunRow;
  readonly taskToken: Uint8Array;
  readonly since: number;
  /** The token of a claim that is on its way, or whose answer was lost. */
  claiming: string | null;
  readonly settle: (end: HoldEnd | "claimed") => void;
}

const LEFT: HoldEnd = { taken: false, why: "left" };

interface HeldClaim {
  readonly token: string;
  taskToken: Uint8Array | null;
  /** How long it lasts without a renewal, and how long it has had none. */
  readonly ttlMs: number;
  idleMs: number;
}

/**
 * How often claims are looked at that nobody renews. A blocked event loop doesn't count: only looks that took place do.
 */
const LOOK_MS = 500;

/**
 * The activities of this process, each of which is a claim, or an offer of one. To the engine's worker the offers are
 * the runs that are due.
 */
export class Holds {
  readonly #beats: Beats;
  readonly #hasCode: (workflow: string) => boolean;
  readonly #offers = new Map<string, Offer>();
  readonly #claims = new Map<string, HeldClaim>();
  readonly #listeners = new Set<(news: News) => void>();
  #looking: NodeJS.Timeout | undefined;

  constructor(beats: Beats, hasCode: (workflow: string) => boolean) {
    this.#beats = beats;
    this.#hasCode = hasCode;
  }

  /** The runs that are offered to this process. */
  get offered(): readonly RunRow[] {
    return [...this.#offers.values()].map(({ row }) => row);
  }

  /** Names the offer that a claim of the run would take. */
  offerOf(runId: string): string | undefined {
    return this.#offers.get(runId)?.id;
  }

  hear(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The activity `hold`: resolves with its end, or with `claimed` when it goes on without this call. */
  async take({ row, id }: HoldOffer, taskToken: Uint8Array): Promise<HoldEnd | "claimed"> {
    const claim = this.#claims.get(row.id);
    if (claim && claim.token === row.claim.token) {
      claim.taskToken = taskToken;
      this.#beats.begin(taskToken);
      return "claimed";
    }
    if (!this.#hasCode(row.workflow) && !ended(row.status)) return { taken: false, why: "no-code" };
    return this.#offer({ row, id }, taskToken);
  }

  async #offer({ row, id }: HoldOffer, taskToken: Uint8Array): Promise<HoldEnd | "claimed"> {
    this.#beats.begin(taskToken);
    const settled = await new Promise<HoldEnd | "claimed">((settle) => {
      const offer: Offer = { id, row, taskToken, since: Date.now(), claiming: null, settle };
      this.#offers.set(row.id, offer);
      this.#lapseLater(offer);
      this.#announce(row.id);
    });
    if (this.#offers.get(row.id)?.taskToken === taskToken) this.#offers.delete(row.id);
    return settled;
  }

  /** An offer ends by itself, but not while this process may have taken the run. */
  #lapseLater(offer: Offer): void {
    const lapse = (): void => {
      const isOpen = offer.claiming !== null && Date.now() - offer.since < UNSURE_MS;
      if (isOpen) this.#lapseLater(offer);
      else offer.settle(LEFT);
    };
    setTimeout(lapse, OFFER_MS).unref();
  }

  /** Called before an append is sent. */
  claiming({ run: { id }, claim }: Append): void {
    const offer = this.#offers.get(id);
    if (offer && claim.kind === "acquire") offer.claiming = claim.token;
  }

  /** Called when an append was refused: with it, its claim. */
  refused({ run: { id }, claim }: Append): void {
    const offer = this.#offers.get(id);
    if (offer && claim.kind === "acquire" && offer.claiming === claim.token) offer.claiming = null;
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
      this.#claims.set(id, { token, ttlMs, idleMs: 0, taskToken: offer?.taskToken ?? null });
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
      if (claim.idleMs >= claim.ttlMs) this.lost(runId);
    }
    if (this.#claims.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** The claim has ended: released here, or taken away. */
  lost(runId: string): void {
    const claim = this.#claims.get(runId);
    this.#claims.delete(runId);
    if (claim?.taskToken) this.#beats.end(claim.taskToken, { taken: true });
  }

  /** Leaves everything as a crash would. */
  drop(): void {
    for (const { settle } of this.#offers.values()) settle(LEFT);
    for (const runId of this.#claims.keys()) this.lost(runId);
  }
}
