import type { Clock } from "../clock.ts";
import { lastEvent } from "../journal/door.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";
import { type Freeing, freeClaim } from "./free-claim.ts";

/** The number of runs examined at once; the next round continues after them. */
const PAGE = 100;

/** A worker takes a due run within about a second; after this time, the store's list of due runs has missed it. */
const GRACE_MS = 10_000;

interface OverlookedDeps extends Freeing {
  readonly execution: Freeing["execution"] &
    Pick<ExecutionDeps, "store" | "time"> & {
      readonly ports: { readonly clock: Clock };
      readonly settings: Pick<ExecutionDeps["settings"], "claimMs">;
    };
  readonly workflows: { has(name: string): boolean };
  readonly isTaken: (row: RunRow) => boolean;
  /** Takes a run that is due. */
  readonly take: (row: RunRow) => Promise<void>;
}

interface Held {
  readonly epoch: number;
  readonly until: number;
  /** When it was first seen in this state, on a clock that can't be set. */
  readonly since: number;
}

/**
 * Finds the runs that no sweep would ever find: those missing from the store's list of due runs, and those whose claim
 * ends later than it can last, because the store's clock was set back after their worker died. One page of runs is
 * examined per claim length, so the cost is negligible however many there are.
 */
export class Overlooked {
  readonly #deps: OverlookedDeps;
  readonly #held = new Map<string, Held>();
  #cursor: string | null = null;
  #nextAt: number;

  constructor(deps: OverlookedDeps) {
    this.#deps = deps;
    const { ports, settings } = deps.execution;
    this.#nextAt = ports.clock.monotonic() + settings.claimMs;
  }

  async look(): Promise<void> {
    const { ports, settings } = this.#deps.execution;
    const now = ports.clock.monotonic();
    if (now < this.#nextAt) return;
    this.#nextAt = now + settings.claimMs;
    try {
      for (const row of await this.#rows()) await this.#see(row);
    } catch (error) {
      ports.logger.warn("runs could not be looked through", { error: String(error) });
    }
  }

  /** The next page, and the watched runs. */
  async #rows(): Promise<readonly RunRow[]> {
    const { store, time } = this.#deps.execution;
    const query = { status: ["queued", "running", "waiting"], limit: PAGE } as const;
    const { runs, cursor } = await store.list(
      this.#cursor === null ? query : { ...query, cursor: this.#cursor },
    );
    this.#cursor = cursor;
    const watched: RunRow[] = [];
    for (const id of this.#held.keys()) {
      const row = runs.some((one) => one.id === id) ? null : await store.read(id);
      if (row) watched.push(row);
    }
    await time.read();
    return [...watched, ...runs];
  }

  async #see(row: RunRow): Promise<void> {
    const { workflows, isTaken, take, execution } = this.#deps;
    const { wakeAt, claim, updatedAt } = row;
    const now = execution.time.now();
    const isDue = wakeAt !== null && wakeAt <= now && row.damage === undefined;
    const isAhead = isDue && claim.until > now + execution.settings.claimMs;
    if (!isAhead) this.#held.delete(row.id);
    if (!isDue || !workflows.has(row.workflow) || isTaken(row)) return;
    if (isAhead) await this.#watch(row);
    else if (Math.max(wakeAt, claim.until, updatedAt) < now - GRACE_MS) await take(row);
  }

  /** A claim that wasn't renewed for its own length is over, whatever the store's clock says. */
  async #watch(row: RunRow): Promise<void> {
    const { store, ports } = this.#deps.execution;
    const { epoch, until } = row.claim;
    const held = this.#held.get(row.id);
    const now = ports.clock.monotonic();
    if (held?.epoch !== epoch || held.until !== until)
      return void this.#held.set(row.id, { epoch, until, since: now });
    const claimed = await lastEvent(store, row, ["run_claimed"]);
    const ms = claimed?.kind === "run_claimed" ? claimed.meta.ms : undefined;
    // An older version didn't record the length, but it can't exceed this.
    if (now - held.since >= (ms ?? until - (row.activeAt ?? 0))) await this.#free(row);
  }

  async #free(row: RunRow): Promise<void> {
    await freeClaim(
      this.#deps,
      row,
      {},
      `the claim of ${row.claim.owner ?? "a worker"} on this run ended too far in the future (${new Date(row.claim.until).toISOString()}), and was freed`,
    );
    this.#held.delete(row.id);
  }
}
