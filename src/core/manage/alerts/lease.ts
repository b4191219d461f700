import { isRecord } from "../../check-options.ts";
import type { Clock } from "../../clock.ts";
import { Kept, UNCHANGED } from "../../flow/kept.ts";
import type { Documents } from "../../store/documents.ts";

/** Who looks after the alerts of a store, and until when if nothing is heard of it. */
export interface LeaseRecord {
  readonly owner: string;
  /** Counts the changes of owners. */
  readonly term: number;
  /** On the store's clock. */
  readonly until: number;
  /** Outages of the store that are over. */
  readonly outages: number;
}

const isLease = (value: unknown): value is LeaseRecord =>
  isRecord(value) && typeof value["owner"] === "string" && typeof value["until"] === "number";

const KEY = "leader";

/** Makes sure that one process at a time looks after alerts: whoever has the lease renews it, and others wait for its end. */
export class AlertLease {
  readonly #kept: Kept<LeaseRecord>;
  readonly #owner: string;
  readonly #ms: number;
  readonly #clock: Clock;
  /** As it was last seen. */
  #seen: LeaseRecord | null = null;
  /** On the monotonic clock. */
  #deadline = 0;

  constructor(
    documents: () => Documents,
    newVersion: () => string,
    { owner, ms, clock }: { readonly owner: string; readonly ms: number; readonly clock: Clock },
  ) {
    this.#kept = new Kept({ documents, newVersion, kind: "alert-leader", isValid: isLease });
    this.#owner = owner;
    this.#ms = ms;
    this.#clock = clock;
  }

  get seen(): LeaseRecord | null {
    return this.#seen;
  }

  /** True while this process may act as the one. */
  get isHeld(): boolean {
    return this.#seen?.owner === this.#owner && this.#clock.monotonic() < this.#deadline;
  }

  /** True when this process was the one when the store was last heard of. */
  get wasHeld(): boolean {
    return this.#seen?.owner === this.#owner;
  }

  /** Takes the lease if it is free, or renews it; `outage`: counts one that is over. Returns whether it is held. */
  async take(now: number, outage = false): Promise<boolean> {
    const start = this.#clock.monotonic();
    const held = await this.#kept.change(KEY, (current) => {
      if (current && current.owner !== this.#owner && current.until > now) return UNCHANGED;
      const term = current?.owner === this.#owner ? current.term : (current?.term ?? 0) + 1;
      const outages = (current?.outages ?? 0) + (outage ? 1 : 0);
      return { owner: this.#owner, term, until: now + this.#ms, outages };
    });
    this.#seen = held?.value ?? null;
    const isOwn = this.#seen?.owner === this.#owner;
    if (isOwn) this.#deadline = start + this.#ms;
    return isOwn;
  }

  /** Leaves it to the next one at once. */
  async release(): Promise<void> {
    await this.#kept.change(KEY, (current) =>
      current?.owner === this.#owner ? { ...current, until: 0 } : UNCHANGED,
    );
    this.#deadline = 0;
  }
}
