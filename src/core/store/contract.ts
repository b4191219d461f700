import type { AnySqlHandle, SqlHandle, SqlWork } from "../sql.ts";
import type { Parent, RunIdentity, RunProjection, RunRow, RunStatus } from "../types.ts";

/**
 * The store contract: everything the engine asks of a place to keep runs.
 *
 * A run is one row (identity, projection, claim, position, head hash) and a list of journal entries. An entry is what one
 * append writes: one or more events with consecutive positions, chained to the entry before it. The only way
 * to change a run is `append`, which is atomic and conditional; `renew` moves nothing but a claim's expiry. Expected races
 * are return values. An exception means the outcome is unknown: the caller looks it up before it goes on.
 */
export interface Store {
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  /** Where values are encrypted: a secret that goes into every digest of a value, so that none can be guessed from its digest. */
  readonly blinding?: string;

  /** Fetches what writing to this run takes, such as its key, so that no flush waits for it. `isNew`: it is about to be created. */
  prepare?(runId: string, isNew: boolean): Promise<void>;
  /** Opens or creates the store and says who it is. Called before anything else; may be called again. */
  identity(): Promise<StoreIdentity>;
  /** The store's clock in epoch milliseconds: the only clock claims and due times are judged by. */
  now(): Promise<number>;
  /** Applies each append on its own merits, all of them in one durable flush; results in the same order. */
  append(batch: readonly Append[]): Promise<readonly AppendResult[]>;
  /** Extends claims. Answers the row of each run whose claim is still held as stated, else `null`. */
  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]>;
  read(runId: string): Promise<RunRow | null>;
  /** Entries in order of position, starting with the entry that contains `from`; up to `limit` of them. */
  entries(runId: string, range: RunRange): Promise<readonly Entry[]>;
  /** The run's blobs among `hashes`; a hash that is not stored for this run is absent from the answer. */
  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Runs newest first (`createdAt`, then id, both descending), one page at a time. */
  list(query: RunQuery): Promise<RunPage>;
  /** Runs that may be claimed now: wake time reached and no live claim; longest due first. */
  due(query: DueQuery): Promise<readonly RunRow[]>;
  /** Present only with `capabilities.transactions`: user writes and one append in one commit. */
  readonly transaction?: SqlTransaction;
  /** Present only with a cache: how long copies of a workflow's runs stay there from now on; `undefined`: as it was opened with. */
  setCacheTtl?(ttlOf: (workflow: string) => number | undefined): void;
  /** Says that what it holds is an older state, put back: a new incarnation, the same secret. Before any work is done on it. */
  markRestored?(): Promise<StoreIdentity>;
  /** What is wrong with it besides its runs, in sentences: for whoever checks a whole store. */
  check?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface StoreCapabilities {
  /** What an acknowledged write survives. */
  readonly durability: "power-loss" | "process" | "none";
  /** `sync`: the work must be done when its function returns. `async`: it may be a promise. */
  readonly transactions: false | "sync" | "async";
}

export interface StoreIdentity {
  /** New with every restore, so that a store that went back in time is noticed. */
  readonly incarnation: string;
  /** Key material for idempotency keys, made once with the store and kept for good. Never logged. */
  readonly secret: string;
  /** When it was last restored, on its own clock. What had begun before may have gone on in what was lost. */
  readonly restoredAt?: number;
}

/** One link of the journal. `head` is hashed as stored and names the digest of `data`, which alone may be dropped (`null`). */
export interface Entry {
  /** Position of its first event. */
  readonly seq: number;
  /** How many events it holds. */
  readonly count: number;
  readonly head: string;
  readonly data: string | null;
}

/** A long value, kept once per run under the digest of its text. Runs share none: each can be dropped by itself. */
export type Blob = { readonly hash: string; readonly data: string };

/** What an append does to the run's claim. */
export type ClaimChange =
  | { readonly kind: "acquire"; readonly owner: string; readonly token: string; readonly ttlMs: number }
  | { readonly kind: "hold"; readonly ttlMs: number }
  /** Frees the claim. With `epoch` it is that one at least from now on: for a run that comes from another store. */
  | { readonly kind: "release"; readonly epoch?: number }
  /** Frees the claim and raises the epoch, so that the holder is fenced at once. */
  | { readonly kind: "revoke" }
  /** For acts from outside: whoever holds the claim goes on holding it. */
  | { readonly kind: "keep" };

export interface Append {
  /** Identity and projection as they stand after this append. */
  readonly run: RunIdentity & RunProjection;
  /** `null` creates the run and is refused where it exists. */
  readonly expect: Expected | null;
  readonly claim: ClaimChange;
  /** In order, without a gap; one, unless a run is created as a copy of another. */
  readonly entries: readonly Entry[];
  /** Hash of the last entry's head: the run's new head. */
  readonly head: string;
  readonly blobs: readonly Blob[];
  /** Values to forget in the same write. */
  readonly drop?: Drop;
}

/** Entries, by their `seq`, whose `data` becomes `null`, and blobs of the run that are deleted. */
export interface Drop {
  readonly entries: readonly number[];
  readonly blobs: readonly string[];
}

/** What must be true for an append to be taken. `token: null`: an act from outside, bound by position only; else the claim's own. */
export interface Expected {
  readonly seq: number;
  readonly epoch: number;
  readonly token: string | null;
}

export type AppendResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: Refusal; readonly row: RunRow | null };

/**
 * `exists`: create met a run of that id. `missing`: no such run. `damaged`: what is stored of it cannot be read (HF-3010). `fenced`: the claim is not the caller's any more. `held`: acquire
 * met a live claim, neither free nor expired. `conflict`: the run has moved on; read and decide again. Judged in this order.
 */
export type Refusal = "exists" | "missing" | "damaged" | "fenced" | "held" | "conflict";

export interface Renewal {
  readonly runId: string;
  readonly epoch: number;
  readonly token: string;
  readonly ttlMs: number;
}

/** Every filter given must match; an unknown filter is an error, never ignored. */
export interface RunQuery {
  readonly status?: readonly RunStatus[];
  readonly workflow?: string;
  readonly parent?: Parent["runId"];
  /** `false`: only runs whose values are still there. */
  readonly pruned?: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

export type RunRange = { readonly from: number; readonly limit: number };
export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Pass to the next call; `null` on the last page. */
  readonly cursor: string | null;
}

export interface DueQuery {
  readonly workflows: readonly string[];
  readonly limit: number;
}

/** Does `work`, then the append that is made of its value: both are committed together, or neither. */
export type SqlTransaction = <T, S extends AnySqlHandle = SqlHandle>(
  work: SqlWork<T, S>,
  append: (value: T) => Append,
) => Promise<TransactionResult<T>>;

export type TransactionResult<T> = { readonly value: T; readonly result: AppendResult };
