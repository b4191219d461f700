import type { Append, AppendResult, Entry, Store, StoreIdentity } from "../../core/store/contract.ts";
import { checkLimit } from "../../core/store/query.ts";
import type { RunRow } from "../../core/types.ts";
import type { PatientCache } from "./cache.ts";
import { type Copy, entriesFrom, isCurrent, seal, unseal, withBlobs } from "./copy.ts";
import { Trails } from "./trails.ts";

export interface TieredSetup {
  readonly primary: Store;
  readonly cache: PatientCache;
  readonly ttlMs: number;
  readonly mostSize: number;
}

/** For fewer entries the primary is faster than looking for a copy. */
const WORTH_IT = 50;
/** A copy is rewritten no sooner than this many times the duration of its last write. */
const REST_FACTOR = 20;

const keyOf = (runId: string, workflow: string): string => `journal:${runId}:${workflow}`;

/** Maintains copies of runs in the cache. The primary is always asked first and decides. Nothing here throws. */
export class Copies {
  readonly #setup: TieredSetup;
  readonly #trails: Trails;
  readonly #writing = new Map<string, Promise<void>>();
  readonly #forgetting = new Set<Promise<void>>();
  readonly #dirty = new Set<string>();
  readonly #resting = new Map<string, NodeJS.Timeout>();
  #identity: StoreIdentity | undefined;
  #ttlOf: (workflow: string) => number | undefined = () => undefined;
  #isClosed = false;

  constructor(setup: TieredSetup) {
    this.#setup = setup;
    this.#trails = new Trails(setup.mostSize);
  }

  knows(identity: StoreIdentity): void {
    this.#identity = identity;
  }

  /** Sets how long new copies live; `undefined` restores the value given when the store was opened. */
  limit(ttlOf: (workflow: string) => number | undefined): void {
    this.#ttlOf = ttlOf;
  }

  /** How long the keys of a workflow's runs live. */
  ttlOf(workflow: string): number {
    return this.#ttlOf(workflow) ?? this.#setup.ttlMs;
  }

  /** Called after the primary has answered. */
  wrote(batch: readonly Append[], results: readonly AppendResult[] | null): void {
    batch.forEach((append, index) => {
      const { id } = append.run;
      if (!results?.[index]?.ok || append.claim.kind === "erase") return this.#trails.lost(id);
      this.#trails.took(append);
      if (this.#trails.get(id)?.copy) this.#save(id);
      else if (append.drop) this.#forget(id, append.run.workflow);
    });
  }

  /** Removes the copies of runs that are erased. One that the cache doesn't give up ends with its time to live. */
  async erase(batch: readonly Append[]): Promise<void> {
    for (const { run, claim } of batch) {
      if (claim.kind !== "erase") continue;
      this.#trails.lost(run.id);
      this.#dirty.delete(run.id);
      await this.#writing.get(run.id);
      await this.#setup.cache.remove(keyOf(run.id, run.workflow));
    }
  }

  async entries(
    runId: string,
    range: { readonly from: number; readonly limit: number },
  ): Promise<readonly Entry[]> {
    const { primary } = this.#setup;
    checkLimit(range.limit);
    if (range.limit < WORTH_IT) return primary.entries(runId, range);
    if (this.#trails.isReading(runId, range.from)) {
      const page = await primary.entries(runId, range);
      if (this.#trails.read(runId, page)) this.#save(runId);
      return page;
    }
    const row = await primary.read(runId);
    const copy = row && (await this.#copyFor(row));
    const found = copy && entriesFrom(copy, range.from, range.limit);
    if (found) return found;
    const page = await primary.entries(runId, range);
    if (row && !copy && this.#trails.read(runId, page, row)) this.#save(runId);
    return page;
  }

  async blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { primary } = this.#setup;
    const known = this.#trails.get(runId)?.copy;
    if (!known) return primary.blobs(runId, hashes);
    if (hashes.every((hash) => known.blobs.has(hash))) {
      const row = await primary.read(runId);
      if (row && isCurrent(known, row))
        return new Map(hashes.map((hash) => [hash, known.blobs.get(hash) as string]));
    }
    const found = await primary.blobs(runId, hashes);
    const row = this.#trails.get(runId)?.copy === known ? await primary.read(runId) : null;
    // The run hasn't moved since the blobs were read, so they belong to this state.
    if (row && isCurrent(known, row) && this.#trails.get(runId)?.copy === known) {
      this.#trails.knows(row, withBlobs(known, found));
      this.#save(runId);
    }
    return found;
  }

  /** Writes everything that is still pending. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
    await Promise.all([...this.#writing.values(), ...this.#forgetting]);
    await Promise.all([...this.#dirty].map((runId) => this.#write(runId)));
    await this.#setup.cache.close();
  }

  /** A copy at the row's position, from this process's memory or from the cache. */
  async #copyFor(row: RunRow): Promise<Copy | null> {
    const { id, workflow } = row;
    const own = (): Copy | null => {
      const known = this.#trails.get(id)?.copy;
      return known && isCurrent(known, row) ? known : null;
    };
    const known = own();
    if (known) return known;
    const text = await this.#setup.cache.get(keyOf(id, workflow));
    const identity = text === null ? null : await this.#who();
    const found = text === null || !identity ? null : this.#unseal(text, id, identity);
    // Another caller in this process may have updated it in the meantime.
    const caught = own();
    if (caught) return caught;
    const copy = found && (isCurrent(found, row) ? found : this.#trails.caughtUp(id, found));
    if (!copy || !isCurrent(copy, row)) return null;
    this.#trails.knows(row, copy);
    if (copy !== found) this.#save(id);
    return copy;
  }

  /** Copies are sealed with the primary's secret, also for somebody who has not asked for it yet, and only prunes. */
  async #who(): Promise<StoreIdentity | null> {
    this.#identity ??= await this.#setup.primary.identity().catch(() => undefined);
    return this.#identity ?? null;
  }

  #unseal(text: string, runId: string, identity: StoreIdentity): Copy | null {
    try {
      return unseal(text, runId, identity);
    } catch {
      return null;
    }
  }

  /** The cached copy still has the values just dropped, so it is rewritten or removed. */
  #forget(runId: string, workflow: string): void {
    const forgetting = this.#forgotten(runId, workflow).finally(() => this.#forgetting.delete(forgetting));
    this.#forgetting.add(forgetting);
  }

  async #forgotten(runId: string, workflow: string): Promise<void> {
    await this.#writing.get(runId);
    const { primary, cache } = this.#setup;
    const row = await primary.read(runId).catch(() => null);
    if (!row || !(await this.#copyFor(row))) await cache.remove(keyOf(runId, workflow));
  }

  #save(runId: string): void {
    this.#dirty.add(runId);
    if (this.#isClosed || this.#writing.has(runId) || this.#resting.has(runId)) return;
    const start = performance.now();
    const writing = this.#write(runId).then(() => {
      this.#writing.delete(runId);
      const rest = (): void => {
        this.#resting.delete(runId);
        if (this.#dirty.has(runId)) this.#save(runId);
      };
      if (this.#isClosed) return;
      this.#resting.set(runId, setTimeout(rest, REST_FACTOR * (performance.now() - start)).unref());
    });
    this.#writing.set(runId, writing);
  }

  async #write(runId: string): Promise<void> {
    // Waits for appends of the same turn, to write them together.
    await Promise.resolve();
    this.#dirty.delete(runId);
    const { cache } = this.#setup;
    const trail = this.#trails.get(runId);
    if (!trail?.copy || cache.isResting) return;
    const identity = await this.#who();
    const ttlMs = this.ttlOf(trail.workflow);
    const key = keyOf(runId, trail.workflow);
    try {
      // What cannot be sealed must not leave an older copy there, which may hold what was dropped since.
      if (ttlMs === 0 || !identity) await cache.remove(key);
      else await cache.set(key, seal(trail.copy, runId, identity), ttlMs);
    } catch {
      // The text is too long to build, so it isn't cached.
    }
    const isSame = this.#trails.get(runId) === trail;
    if (isSame && trail.isOver) this.#trails.lost(runId);
  }
}
