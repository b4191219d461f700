import type { Append, News } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import type { HoldEnd, HoldOffer } from "./contract.ts";

/** How long an offered run may wait for room here before another worker is asked. */
const OFFER_MS = 5_000;

/** Keeps activities alive, and ends them. */
export interface Beats {
  begin(taskToken: Uint8Array): void;
  /** Stops its heartbeat and completes it. */
  end(taskToken: Uint8Array, end: HoldEnd): void;
}

interface Offer {
  /** As of the last time that anybody here has seen it. */
  row: RunRow;
  readonly taskToken: Uint8Array;
  readonly settle: (end: HoldEnd | "claimed") => void;
}

interface HeldClaim {
  readonly token: string;
  taskToken: Uint8Array | null;
}

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

  constructor(beats: Beats, hasCode: (workflow: string) => boolean) {
    this.#beats = beats;
    this.#hasCode = hasCode;
  }

  /** The runs that are offered to this process. */
  get offered(): readonly RunRow[] {
    return [...this.#offers.values()].map(({ row }) => row);
  }

  hear(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The activity `hold`: resolves with its end, or with `claimed` when it goes on without this call. */
  async take({ row }: HoldOffer, taskToken: Uint8Array): Promise<HoldEnd | "claimed"> {
    const claim = this.#claims.get(row.id);
    if (claim && claim.token === row.claim.token) {
      claim.taskToken = taskToken;
      this.#beats.begin(taskToken);
      return "claimed";
    }
    if (!this.#hasCode(row.workflow) && !ended(row.status)) return { taken: false, why: "no-code" };
    return this.#offer(row, taskToken);
  }

  async #offer(row: RunRow, taskToken: Uint8Array): Promise<HoldEnd | "claimed"> {
    this.#beats.begin(taskToken);
    const settled = await new Promise<HoldEnd | "claimed">((settle) => {
      this.#offers.set(row.id, { row, taskToken, settle });
      setTimeout(settle, OFFER_MS, { taken: false, why: "left" } satisfies HoldEnd).unref();
      this.#announce(row.id);
    });
    if (this.#offers.get(row.id)?.taskToken === taskToken) this.#offers.delete(row.id);
    return settled;
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
  appended({ run: { id }, claim }: Append, now: RunRow): void {
    const offer = this.#offers.get(id);
    if (claim.kind === "acquire") {
      this.#claims.set(id, { token: claim.token, taskToken: offer?.taskToken ?? null });
      this.#offers.delete(id);
      offer?.settle("claimed");
      return;
    }
    if (now.claim.token !== null) return;
    this.#offers.delete(id);
    offer?.settle({ taken: true });
    this.lost(id);
  }

  /** The claim has ended: released here, or taken away. */
  lost(runId: string): void {
    const claim = this.#claims.get(runId);
    this.#claims.delete(runId);
    if (claim?.taskToken) this.#beats.end(claim.taskToken, { taken: true });
  }

  /** Leaves everything as a crash would. */
  drop(): void {
    for (const { settle } of this.#offers.values()) settle({ taken: false, why: "left" });
    for (const runId of this.#claims.keys()) this.lost(runId);
  }
}
