import type { Clock } from "../clock.ts";
import { HoldfastError } from "../errors.ts";
import type { Ids } from "../ids.ts";
import { platform } from "../platform.ts";
import type { Ports } from "../ports.ts";
import { claimAfter, refusalAmong, UNCLAIMED } from "../store/claim.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { Append, AppendResult, DueQuery, Entry, RunQuery, Store } from "../store/contract.ts";
import { type Documents, documentsOver } from "../store/documents.ts";
import { byAge, checkLimit, checkQuery, cursorAfter, dueRows, matches } from "../store/query.ts";
import { SeenStore } from "../store/seen.ts";
import type { StoreTime } from "../store/time.ts";
import { identityOf } from "../tags.ts";
import type { RunRow } from "../types.ts";
import type { Redactor } from "../values/redact.ts";
import { Acts } from "./acts.ts";

/** A run in memory: its row, and what was written on top of the store below. */
interface Draft {
  row: RunRow;
  /** Its journal up to here is in the store below. */
  readonly below: number;
  readonly entries: Entry[];
  readonly blobs: Map<string, string>;
}

interface ScratchOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** A stored run to continue in memory, as it was at its `seq`. */
  readonly run?: RunRow;
}

/**
 * A store on top of another one, which it only reads: all writes stay in memory and end with the process. Runs stored
 * below can be read but not changed. It keeps working while the one below fails.
 */
export class ScratchStore implements Store {
  readonly name: string;
  /** Limits count the runs in memory: those stored below don't run here. */
  readonly capabilities = { durability: "none", transactions: false, limits: true } as const;
  /** Blinds digests as the store below does, so that those recorded there match here. */
  readonly blinding?: string;
  readonly documents?: Documents;
  readonly #base: Store;
  readonly #clock: Clock;
  readonly #identity: { readonly incarnation: string; readonly secret: string };
  readonly #drafts = new Map<string, Draft>();
  #closed = false;

  constructor(base: Store, { clock, ids, run }: ScratchOptions) {
    this.name = `${base.name} (in memory)`;
    this.#base = base;
    if (base.blinding !== undefined) this.blinding = base.blinding;
    if (base.documents) this.documents = documentsOver(base.documents);
    this.#clock = clock;
    this.#identity = { incarnation: ids.id(), secret: ids.token() + ids.token() };
    if (run) this.#drafts.set(run.id, { row: run, below: run.seq, entries: [], blobs: new Map() });
  }

  /** True when a run is in the store below, so that it must not be changed. */
  async isStored(runId: string): Promise<boolean> {
    return !this.#drafts.has(runId) && (await this.#readBelow(runId)) !== null;
  }

  async #readBelow(runId: string): Promise<RunRow | null> {
    try {
      return await this.#base.read(runId);
    } catch {
      return null;
    }
  }

  async identity(): Promise<{ incarnation: string; secret: string }> {
    this.#time();
    return this.#identity;
  }

  async now(): Promise<number> {
    return this.#time();
  }

  #time(): number {
    if (this.#closed) throw new HoldfastError("HF-3012");
    return this.#clock.now();
  }

  async append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    this.#time();
    const below = new Map<string, RunRow | null>();
    for (const { run, expect } of batch)
      if (expect === null && !this.#drafts.has(run.id)) below.set(run.id, await this.#readBelow(run.id));
    // Synchronous from here on, so that of two appends one sees the other.
    const now = this.#time();
    return batch.map((append) => this.#apply(append, below.get(append.run.id) ?? null, now));
  }

  #apply(append: Append, below: RunRow | null, now: number): AppendResult {
    const { run, entries, head, drop } = platform().clone(append);
    const draft = this.#drafts.get(run.id);
    const row = draft?.row ?? below;
    const drafts = (): RunRow[] => [...this.#drafts.values()].map((one) => one.row);
    const refused = refusalAmong(append, row, now, drafts);
    if (refused) return refused;
    if (append.claim.kind === "erase") {
      this.#drafts.delete(run.id);
      return { ok: true };
    }
    const last = entries.at(-1) as Entry;
    const claim = claimAfter(row?.claim ?? UNCLAIMED, append.claim, now);
    const identity = identityOf(row ?? run);
    const next: RunRow = { ...run, ...identity, claim, seq: last.seq + last.count - 1, head };
    const kept = draft ?? { row: next, below: 0, entries: [], blobs: new Map<string, string>() };
    kept.row = next;
    for (const [index, entry] of kept.entries.entries())
      if (drop?.entries.includes(entry.seq)) kept.entries[index] = { ...entry, data: null };
    for (const hash of drop?.blobs ?? []) kept.blobs.delete(hash);
    kept.entries.push(...entries);
    for (const { hash, data } of append.blobs) kept.blobs.set(hash, data);
    this.#drafts.set(run.id, kept);
    return { ok: true };
  }

  async renew(batch: Parameters<Store["renew"]>[0]): Promise<readonly (RunRow | null)[]> {
    const now = this.#time();
    return batch.map(({ runId, epoch, token, ttlMs }) => {
      const draft = this.#drafts.get(runId);
      if (draft?.row.claim.token !== token || draft.row.claim.epoch !== epoch) return null;
      const claim = claimAfter(draft.row.claim, { kind: "hold", ttlMs }, now);
      draft.row = { ...draft.row, claim };
      return draft.row;
    });
  }

  async read(runId: string): Promise<RunRow | null> {
    this.#time();
    return this.#drafts.get(runId)?.row ?? this.#base.read(runId);
  }

  async entries(runId: string, range: { from: number; limit: number }): Promise<readonly Entry[]> {
    this.#time();
    checkLimit(range.limit);
    const draft = this.#drafts.get(runId);
    if (!draft) return this.#base.entries(runId, range);
    const { below } = draft;
    const old = range.from <= below ? await this.#base.entries(runId, range) : [];
    const fresh = draft.entries.filter(({ seq, count }) => seq + count > range.from);
    return [...old.filter(({ seq }) => seq <= below), ...fresh].slice(0, range.limit);
  }

  async blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    this.#time();
    const draft = this.#drafts.get(runId);
    const found = new Map<string, string>();
    for (const hash of hashes) {
      const data = draft?.blobs.get(hash);
      if (data !== undefined) found.set(hash, data);
    }
    if (draft?.below === 0 || found.size === hashes.length) return found;
    const missing = hashes.filter((hash) => !found.has(hash));
    return new Map([...found, ...(await this.#base.blobs(runId, missing))]);
  }

  async list(query: RunQuery): Promise<{ runs: readonly RunRow[]; cursor: string | null }> {
    this.#time();
    const after = checkQuery(query);
    const page = await this.#base.list(query);
    const drafts = [...this.#drafts.values()]
      .map(({ row }) => row)
      .filter(
        (row) => matches(row, query) && (after === null || (row.id !== after.id && byAge(after, row) < 0)),
      );
    const all = [...page.runs.filter(({ id }) => !this.#drafts.has(id)), ...drafts].sort(byAge);
    const runs = all.slice(0, query.limit);
    const last = page.cursor !== null || all.length > runs.length ? runs.at(-1) : undefined;
    return { runs, cursor: last ? cursorAfter(last) : null };
  }

  async due(query: DueQuery): Promise<readonly RunRow[]> {
    const now = this.#time();
    return dueRows(
      [...this.#drafts.values()].map(({ row }) => row),
      query,
      now,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#base.close();
  }
}

/** Acts on runs of a scratch store. Acts on a run stored below are refused, with the reason. */
class ScratchActs extends Acts {
  readonly #scratch: ScratchStore;

  constructor(scratch: ScratchStore, queue: CommitQueue, time: StoreTime) {
    super(scratch, queue, time);
    this.#scratch = scratch;
  }

  override async submit(append: Append): Promise<boolean> {
    const { id } = append.run;
    if (append.expect !== null && (await this.#scratch.isStored(id)))
      throw new HoldfastError("HF-1007", {
        run: id,
        status: "stored and saving is off",
        verb: "be changed",
        why: "This engine was created with saving: false. It leaves everything stored as it is.",
        fix: "Create the engine without saving: false.",
      });
    return super.submit(append);
  }
}

/** The store that an engine works on: the given one, or, with saving turned off, memory on top of it. */
export function engineStore(
  { store, saving }: { readonly store: Store; readonly saving?: boolean },
  ports: Ports,
  onBack: (error: HoldfastError) => void,
): Store {
  if (saving !== false) return new SeenStore(store, onBack);
  ports.logger.warn("saving is switched off: new runs live in memory only, stored ones are left alone", {
    store: store.name,
  });
  return new ScratchStore(store, ports);
}

export const engineActs = (store: Store, queue: CommitQueue, time: StoreTime, redactor?: Redactor): Acts =>
  store instanceof ScratchStore
    ? new ScratchActs(store, queue, time)
    : new Acts(store, queue, time, redactor);
