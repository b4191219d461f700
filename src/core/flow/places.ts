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
 * lose one: the run counts until somebody takes it over. Within this process runs of a queue are claimed one after
 * another, and a queue that is full isn't asked again at once.
 */
export class Places implements QueueGate {
  readonly #deps: PlacesDeps;
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Queues and keys without a place, by the time until which they aren't asked again. */
  readonly #full = new Map<string, number>();

  constructor(deps: PlacesDeps) {
    this.#deps = deps;
  }

  /** True when the store can count the places as part of a claim. */
  get #counts(): boolean {
    return Reflect.get(this.#deps.store.capabilities, "limits") === true;
  }

  async holds({ queue }: Pick<RunRow, "queue">): Promise<boolean> {
    return queue !== null && (await this.#deps.queues.of(queue)) !== undefined;
  }

  async within(row: RunRow, claim: (limits: ClaimLimits) => Promise<boolean>): Promise<boolean> {
    const { queue } = row;
    const found = queue === null ? undefined : await this.#deps.queues.of(queue);
    if (queue === null || !found) return claim({});
    if (found.paused) return false;
    return this.#inTurn(queue, async () => {
      if (this.#isFull(row)) return false;
      const { definition } = found;
      // A store that counts as part of the claim is exact, so it need not be asked before.
      const isAsked = !this.#counts || definition.rate !== undefined;
      if (isAsked && !(await this.#hasPlace(row, definition))) return false;
      const until = await this.#deps.queues.mayTakeUp(queue, definition, row);
      if (until !== null) return this.#note(runOf(row), until - this.#deps.now());
      if (await claim(this.#counts ? limitsOf(row, queue, definition) : {})) return true;
      await this.#hasPlace(row, definition);
      return false;
    });
  }

  freed({ queue }: Pick<RunRow, "queue">): boolean {
    if (queue === null) return false;
    for (const place of this.#full.keys()) if (ofQueue(place, queue)) this.#full.delete(place);
    return true;
  }

  /** Counts the other runs that are being advanced. */
  async #hasPlace(row: RunRow, { concurrency, perKey }: QueueOptions): Promise<boolean> {
    const queue = row.queue ?? "";
    if (concurrency !== undefined && (await this.#held(row, { queue }, concurrency)) >= concurrency)
      return this.#note(queueOf(row), FULL_MS);
    const { key } = row;
    if (perKey === undefined || key === null) return true;
    return (await this.#held(row, { queue, key }, perKey)) < perKey || this.#note(keyOf(row), FULL_MS);
  }

  async #held({ id }: RunRow, of: { queue: string; key?: string }, most: number): Promise<number> {
    const { runs } = await this.#deps.store.list({
      ...of,
      status: ["running"],
      limit: Math.min(most + 1, 1_000),
    });
    return runs.filter((run) => run.id !== id).length;
  }

  #isFull(row: RunRow): boolean {
    const now = this.#deps.clock.monotonic();
    return [queueOf(row), keyOf(row), runOf(row)].some((place) => (this.#full.get(place) ?? 0) > now);
  }

  #note(place: string, ms: number): false {
    if (this.#full.size > 10_000) this.#full.clear();
    this.#full.set(place, this.#deps.clock.monotonic() + ms);
    return false;
  }

  /** One after another. */
  #inTurn<T>(queue: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(queue) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined);
    this.#turns.set(queue, settled);
    void settled.then(() => this.#turns.get(queue) === settled && this.#turns.delete(queue));
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

const queueOf = ({ queue }: RunRow): string => JSON.stringify([queue]);
const keyOf = ({ queue, key }: RunRow): string => JSON.stringify([queue, "key", key]);
const runOf = ({ queue, id }: RunRow): string => JSON.stringify([queue, "run", id]);
const ofQueue = (place: string, queue: string): boolean =>
  place === JSON.stringify([queue]) || place.startsWith(`${JSON.stringify([queue]).slice(0, -1)},"key"`);
