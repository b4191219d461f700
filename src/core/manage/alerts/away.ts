import type { Clock } from "../../clock.ts";
import { fingerprint } from "../../hash.ts";
import { type AlertLinks, type NotifyChannel, notificationOf } from "./channel.ts";
import { sent } from "./deliver.ts";
import type { Cause } from "./kinds.ts";
import type { LeaseRecord } from "./lease.ts";

/** The other processes wait longer, in case the first has died too. */
const OTHERS = 15;

interface AwayDeps {
  readonly channels: readonly NotifyChannel[];
  readonly links: AlertLinks;
  readonly clock: Clock;
  readonly storeName: string;
  /** How long the store may be away before somebody is called. */
  readonly afterMs: number;
}

/**
 * Calls somebody while the store is away and nothing can be written. The process that looked after alerts last does it;
 * if nothing came of the store for minutes, the others do too, under the same id.
 */
export class AwayWatch {
  readonly #deps: AwayDeps;
  #since: { readonly at: number; readonly start: number } | null = null;
  #error = "";
  readonly #told = new Set<string>();

  constructor(deps: AwayDeps) {
    this.#deps = deps;
  }

  /** The store doesn't answer. */
  async away(error: string, seen: LeaseRecord | null, isFirst: boolean): Promise<void> {
    const { clock, channels, links, afterMs } = this.#deps;
    this.#since ??= { at: clock.now(), start: clock.monotonic() };
    this.#error = error;
    if (clock.monotonic() - this.#since.start < (isFirst ? afterMs : OTHERS * afterMs)) return;
    const id = `store-away-${fingerprint(`${this.#deps.storeName} ${seen?.term ?? 0} ${seen?.outages ?? 0}`)}`;
    const message = { id, news: "opened", at: clock.now(), severity: "P1" } as const;
    for (const channel of channels) {
      if (this.#told.has(channel.name)) continue;
      const failure = await sent(clock, channel, notificationOf(this.#cause(), message, links));
      if (failure === null) this.#told.add(channel.name);
    }
  }

  /** What people were told, if they were: once the store is back, it is to be recorded, and cleared. */
  get told(): Cause | null {
    return this.#told.size > 0 ? this.#cause() : null;
  }

  /** The store is back, and what people were told is on record. */
  over(): void {
    this.#since = null;
    this.#told.clear();
  }

  #cause(): Cause {
    return {
      key: "store-away",
      kind: "store-away",
      severity: "P1",
      summary: `the ${this.#deps.storeName} store doesn't answer: ${this.#error}`.slice(0, 500),
      since: this.#since?.at ?? 0,
      run: null,
      workflow: null,
    };
  }
}
