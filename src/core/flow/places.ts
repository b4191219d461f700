import type { Clock } from "../clock.ts";
import type { QueueOptions } from "../queue-options.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";
import type { ClaimLimits, QueueGate } from "../worker/queue-gate.ts";
import type { Queues } from "./queues.ts";

interface PlacesDeps {
  readonly queues: Queues;
  readonly store: Store;
  readonly clock: Clock;
  readonly now: () => number;
}

/** How long a queue that was full isn't asked again, unless a run of it ends here first. */
const FULL_MS = 500;

/**
 * Finds places for runs in their queues. Places are counted from the runs that are being advanced, so a crash can't
 * lose one: the run counts until somebody takes it over, which needs no other place. Within this process runs of a
 * queue are claimed one after another. A queue that is full is asked again only when there may be a place: that costs
 * the same however many runs stand in it.
 */
export class Places implements QueueGate {
  readonly #deps: PlacesDeps;
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Queues and keys without a place, by the time until which they aren't asked again. */
  readonly #full = new Map<string, number>();
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: PlacesDeps) {
    this.#deps = deps;
  }

  /** True when the store can count the places as part of a claim. */
  get #counts(): boolean {
    return this.#deps.store.capabilities.limits === true;
  }

  async holds({ queue }: Pick<RunRow, "queue">): Promise<boolean> {
    return queue !== null && (await this.#deps.queues.of(queue)) !== undefined;
  }

  onPlace(wake: () => void): void {
    this.#wake = wake;
  }

  isFull(row: RunRow): boolean {
    if (row.queue === null) return false;
    const now = this.#deps.clock.monotonic();
    const places = hasPlace(row) ? [rateOf(row)] : [rateOf(row), queueOf(row), keyOf(row)];
    return places.some((place) => (this.#full.get(place) ?? 0) > now);
  }

  async within(row: RunRow, claim: (limits: ClaimLimits) => Promise<boolean>): Promise<boolean> {
    const { queue } = row;
    const found = queue === null ? undefined : await this.#deps.queues.of(queue);
    if (queue === null || !found) return claim({});
    if (found.paused) return this.#note(queueOf(row), FULL_MS);
    return this.#inTurn(queue, async () => {
      if (this.isFull(row)) return false;
      const { definition } = found;
      // A store that counts as part of the claim is exact, so it need not be asked before.
      const isAsked = !this.#counts || definition.rate !== undefined;
      if (isAsked && !((await this.#finds(row, definition)) && (await this.#isCurrent(row)))) return false;
      const taken = await this.#deps.queues.takeUp(queue, definition);
      if (typeof taken === "number") return this.#note(rateOf(row), taken - this.#deps.now());
      if (await claim(this.#counts && !hasPlace(row) ? limitsOf(row, queue, definition) : {})) return true;
      await taken?.giveBack();
      await this.#finds(row, definition);
      return false;
    });
  }

  freed(row: RunRow): boolean {
    const noted = [...this.#full.keys()].filter((place) => isPlaceOf(place, row));
    for (const place of noted) this.#full.delete(place);
    return noted.length > 0 && !this.isFull(row);
  }

  /** Counts the other runs that are being advanced. */
  async #finds(row: RunRow, { concurrency, perKey }: QueueOptions): Promise<boolean> {
    if (hasPlace(row)) return true;
    const queue = row.queue ?? "";
    if (concurrency !== undefined && (await this.#held(row, { queue }, concurrency)) >= concurrency)
      return this.#note(queueOf(row), FULL_MS);
    const { key } = row;
    if (perKey === undefined || key === null) return true;
    return (await this.#held(row, { queue, key }, perKey)) < perKey || this.#note(keyOf(row), FULL_MS);
  }

  /** False when another process was faster, so that nothing is counted for a run that it has. */
  async #isCurrent({ id, seq, claim }: RunRow): Promise<boolean> {
    const row = await this.#deps.store.read(id);
    return row?.seq === seq && row.claim.epoch === claim.epoch;
  }

  async #held({ id }: RunRow, of: { queue: string; key?: string }, most: number): Promise<number> {
    const { runs } = await this.#deps.store.list({
      ...of,
      status: ["running"],
      limit: Math.min(most + 1, 1_000),
    });
    return runs.filter((run) => run.id !== id).length;
  }

  #note(place: string, ms: number): false {
    if (this.#full.size > 10_000) this.#full.clear();
    this.#full.set(place, this.#deps.clock.monotonic() + ms);
    this.#wakeLater();
    return false;
  }

  /** Has the queues asked again when the first of them may have a place. */
  #wakeLater(): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    const at = [...this.#full.values()].reduce(
      (least, one) => (one > now && one < least ? one : least),
      Infinity,
    );
    if (at === Infinity || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.cancel();
    const rung = (): void => {
      this.#alarm = undefined;
      this.#wakeLater();
      this.#wake();
    };
    this.#alarm = { at, cancel: clock.setTimer(rung, Math.max(1, at - now), { background: true }) };
  }

  /** One after another. */
  #inTurn<T>(queue: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(queue) ?? Promise.resolve()).then(work);
    const ended = (): void => {
      if (this.#turns.get(queue) === settled) this.#turns.delete(queue);
    };
    const settled: Promise<void> = turn.then(ended, ended);
    this.#turns.set(queue, settled);
    return turn;
  }
}

/** The conditions of a claim. */
const limitsOf = ({ key }: RunRow, queue: string, { concurrency, perKey }: QueueOptions): ClaimLimits => ({
  limits: [
    ...(concurrency === undefined ? [] : [{ queue, most: concurrency }]),
    ...(perKey === undefined || key === null ? [] : [{ queue, key, most: perKey }]),
  ],
});

/** A run whose worker died still has its place. */
const hasPlace = ({ status }: RunRow): boolean => status === "running";

const queueOf = ({ queue }: RunRow): string => JSON.stringify([queue]);
const keyOf = ({ queue, key }: RunRow): string => JSON.stringify([queue, "key", key]);
const rateOf = ({ queue }: RunRow): string => JSON.stringify([queue, "rate"]);
const isPlaceOf = (place: string, row: RunRow): boolean =>
  place === queueOf(row) || place.startsWith(`${queueOf(row).slice(0, -1)},"key"`);
