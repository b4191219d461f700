import type { Clock } from "../clock.ts";
import type { QueueOptions } from "../queue-options.ts";
import type { QueuePart, Store } from "../store/contract.ts";
import { isPart } from "../store/query.ts";
import type { RunRow } from "../types.ts";
import type { QueueGate, Terms } from "../worker/queue-gate.ts";
import { FullParts } from "./full-parts.ts";
import type { Queues } from "./queues.ts";
import { groupOf, Turns } from "./turns.ts";

interface PlacesDeps {
  readonly queues: Queues;
  readonly store: Store;
  readonly clock: Clock;
  readonly now: () => number;
}

/** How often a paused queue is looked at. */
const PAUSED_MS = 500;

/**
 * Finds places for runs in their queues. Places are counted from the runs that are being advanced, so a crash can't
 * lose one: the run counts until somebody takes it over, which needs no other place. Within this process runs of a
 * queue are claimed one after another. A queue that is full is asked again only when there may be a place, and its runs
 * aren't read meanwhile: that costs the same however many runs stand in it.
 */
export class Places implements QueueGate {
  readonly #deps: PlacesDeps;
  readonly #chains = new Map<string, Promise<unknown>>();
  readonly #full: FullParts;
  readonly #turns = new Turns();
  #wake: () => void = () => undefined;

  constructor(deps: PlacesDeps) {
    this.#deps = deps;
    this.#full = new FullParts(deps.clock, () => this.#wake());
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
    return this.#full.current.some(({ part, isRate }) => (isRate || !hasPlace(row)) && isPart(row, part));
  }

  leftOut(): readonly QueuePart[] {
    return [...this.#full.current.map(({ part }) => part), ...this.#turns.parts];
  }

  nextRound(): boolean {
    const full = this.#full.current.flatMap(({ part }) => (part.key === undefined ? [part.queue] : []));
    return this.#turns.next((queue) => full.includes(queue));
  }

  async within(row: RunRow, claim: (terms: Terms) => Promise<boolean>): Promise<boolean> {
    const { queue } = row;
    const found = queue === null ? undefined : await this.#deps.queues.of(queue);
    if (queue === null || !found) return claim({});
    if (found.paused) return this.#full.note({ queue }, PAUSED_MS);
    return this.#inTurn(queue, async () => {
      if (this.isFull(row)) return false;
      const { definition } = found;
      const group = hasPlace(row) ? undefined : groupOf(row, definition);
      if (group && this.#turns.hasHad(group)) return this.#isLater();
      // A store that counts as part of the claim is exact, so it need not be asked before.
      const isAsked = !this.#counts || definition.rate !== undefined;
      if (isAsked && !((await this.#finds(row, definition)) && (await this.#isCurrent(row)))) return false;
      const grant = await this.#deps.queues.takeUp(queue, definition);
      if (typeof grant === "number") return this.#full.noteRate({ queue }, grant - this.#deps.now());
      const limits = this.#counts && !hasPlace(row) ? limitsOf(row, queue, definition) : {};
      if (await claim({ ...limits, ...(grant ? { grant } : {}) })) {
        if (group) this.#turns.had(group);
        this.#full.forget(row);
        return true;
      }
      await grant?.giveBack();
      await this.#finds(row, definition);
      return false;
    });
  }

  freed(row: RunRow): boolean {
    return this.#full.forget(row) && !this.isFull(row);
  }

  /** The run's turn comes when others have had theirs. */
  #isLater(): false {
    this.#wake();
    return false;
  }

  /** Counts the other runs that are being advanced. */
  async #finds(row: RunRow, { concurrency, perKey }: QueueOptions): Promise<boolean> {
    const { queue, key } = row;
    if (queue === null || hasPlace(row)) return true;
    if (concurrency !== undefined && (await this.#held(row, { queue }, concurrency)) >= concurrency)
      return this.#full.note({ queue });
    if (perKey === undefined || key === null) return true;
    return (await this.#held(row, { queue, key }, perKey)) < perKey || this.#full.note({ queue, key });
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

  /** One after another. */
  #inTurn<T>(queue: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#chains.get(queue) ?? Promise.resolve()).then(work);
    const ended = (): void => {
      if (this.#chains.get(queue) === settled) this.#chains.delete(queue);
    };
    const settled: Promise<void> = turn.then(ended, ended);
    this.#chains.set(queue, settled);
    return turn;
  }
}

/** The conditions of a claim. */
const limitsOf = ({ key }: RunRow, queue: string, { concurrency, perKey }: QueueOptions): Terms => ({
  limits: [
    ...(concurrency === undefined ? [] : [{ queue, most: concurrency }]),
    ...(perKey === undefined || key === null ? [] : [{ queue, key, most: perKey }]),
  ],
});

/** A run whose worker died still has its place. */
const hasPlace = ({ status }: RunRow): boolean => status === "running";
