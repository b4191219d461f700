import type { RecordTable, StoredRecord } from "../records.ts";
import type { AnySqlHandle, SqlHandle, SqlWork } from "../sql.ts";
import type { Parent, RunIdentity, RunProjection, RunRow, RunStatus } from "../types.ts";
import type { ChangeQuery, Changes } from "./changes.ts";
import type { Documents } from "./documents.ts";

/**
 * The store contract: everything that the engine needs for keeping runs.
 *
 * A run is one row (identity, projection, claim, position, head hash) and a list of journal entries. An entry is what
 * one append writes: one or more events with consecutive positions, chained to the previous entry. The only way to
 * change a run is `append`, which is atomic and conditional; `renew` changes only a claim's expiry. Expected races are
 * return values. An exception means that the outcome is unknown: the caller looks it up before it continues.
 */
export interface Store {
  readonly name: string;
  readonly capabilities: StoreCapabilities;
  /**
   * In an encrypted store: a secret that is part of every digest of a value, so that no value can be guessed from its
   * digest.
   */
  readonly blinding?: string;

  /**
   * Fetches what a write to this run needs, such as its key, so that no flush waits for it. `isNew`: it is about to be
   * created.
   */
  prepare?(runId: string, isNew: boolean): Promise<void>;
  /** Opens or creates the store and returns its identity. Called before anything else; may be called again. */
  identity(): Promise<StoreIdentity>;
  /** The store's clock in epoch milliseconds: the only clock for claims and due times. */
  now(): Promise<number>;
  /** Applies each append independently, all of them in one durable flush; results are in the same order. */
  append(batch: readonly Append[]): Promise<readonly AppendResult[]>;
  /** Extends claims. Returns the row of each run whose claim is still held as stated, otherwise `null`. */
  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]>;
  read(runId: string): Promise<RunRow | null>;
  /**
   * The row as a list shows it, which may be a moment old; only in a store where that costs far less than `read`. Whoever
   * waits for a run looks here, and reads what it finds.
   */
  glance?(runId: string): Promise<RunRow | null>;
  /** Entries in order of position, starting with the entry that contains `from`; up to `limit` of them. */
  entries(runId: string, range: RunRange): Promise<readonly Entry[]>;
  /**
   * The same entries without their data: `""` where there is any. Missing in a store that can't read one without the
   * other.
   */
  outlines?(runId: string, range: RunRange): Promise<readonly Entry[]>;
  /** The run's blobs among `hashes`; a hash that isn't stored for this run is missing from the result. */
  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The beginning of a blob, without reading the rest; missing in a store that reads blobs as a whole. */
  peek?(runId: string, hash: string, most: number): Promise<BlobStart | null>;
  /** The hashes of all blobs that are stored for the run; missing where that is not possible, or a crash may leave some. */
  blobNames?(runId: string): Promise<readonly string[]>;
  /** Runs newest first (`createdAt`, then id, both descending), one page at a time. */
  list(query: RunQuery): Promise<RunPage>;
  /** How many runs match, in one look at an index; missing in a store that can only list them. */
  count?(query: RunFilter): Promise<readonly RunCount[]>;
  /** Runs that may be claimed now: wake time reached and no live claim; the highest priority first, then longest due. */
  due(query: DueQuery): Promise<readonly RunRow[]>;
  /** Present only with `capabilities.records`: the records of a run that are still stored, in order of position. */
  records?(runId: string): Promise<readonly StoredRecord[]>;
  /** What was written since a position; missing in a store that would have to look at all runs to find out. */
  changes?(query: ChangeQuery): Promise<Changes>;
  /**
   * Calls the listener soon after another process has written; returns a function that ends this. Only an accelerator:
   * news may be late, double or missing, so whoever listens also polls.
   */
  hear?(listener: (news: News) => void): () => void;
  /** What belongs to the store and not to a run; missing in a store that can't keep any. */
  readonly documents?: Documents;
  /** Present only with `capabilities.transactions`: user writes and one append in one commit. */
  readonly transaction?: SqlTransaction;
  /**
   * Present only with a cache: sets how long new copies of a workflow's runs stay there; `undefined`: the setting from
   * opening.
   */
  setCacheTtl?(ttlOf: (workflow: string) => number | undefined): void;
  /**
   * Declares that the content is an older, restored state: sets a new incarnation and keeps the secret. Call it before
   * any work.
   */
  markRestored?(): Promise<StoreIdentity>;
  /** Returns problems of the store besides its runs, in sentences, for a check of the whole store. */
  check?(): Promise<readonly string[]>;
  /** The bytes that its data occupies; missing in a store that can't tell. */
  size?(): Promise<number>;
  close(): Promise<void>;
}

/** What another process has told. */
export interface News {
  /** Runs to which something happened besides a step; others may have moved as well. `null`: perhaps to any of them. */
  readonly runs: readonly string[] | null;
  /** True when one of them may be due, or an act from outside came to it. */
  readonly isDue: boolean;
}

/** What a store can do beyond the contract. */
export interface StoreCapabilities {
  /** What an acknowledged write survives. */
  readonly durability: "power-loss" | "process" | "none";
  /** `sync`: the work must be done when its function returns. `async`: it may be a promise. */
  readonly transactions: false | "sync" | "async";
  /** The tables of records that it writes with an append. A store without this is given no records. */
  readonly records?: readonly RecordTable[];
  /** True when dropped records of agents can go to the table `agent_checkpoints_archive`. */
  readonly archives?: boolean;
  /** True when a claim may be limited by how many runs of a queue are running, and a create by what else is there. */
  readonly limits?: boolean;
  /** True when each run is written on its own, so that no append should wait for those of other runs. */
  readonly independent?: boolean;
  /** How many batches of appends, none with a run of another, it takes at once; 1 when missing. */
  readonly lanes?: number;
  /** True when the store itself finds out that a worker has died, ends its claims and offers its runs to others. */
  readonly endsClaims?: boolean;
  /** True when reading a run costs far less than a write, because it is in this process or in a file beside it. */
  readonly readsAtOnce?: boolean;
}

/** Which store this is, and since when. */
export interface StoreIdentity {
  /** New with every restore, so that a store that went back in time is noticed. */
  readonly incarnation: string;
  /** Key material for idempotency keys, created once with the store and kept for good. Never logged. */
  readonly secret: string;
  /** The time of the last restore, on the store's clock. Work begun before it may have continued in the lost part. */
  readonly restoredAt?: number;
}

/**
 * One link of the journal. `head` is hashed as stored and names the digest of `data`, which alone may be dropped
 * (`null`).
 */
export interface Entry {
  /** The position of its first event. */
  readonly seq: number;
  /** The number of its events. */
  readonly count: number;
  readonly head: string;
  readonly data: string | null;
}

/**
 * A long value, stored once per run under the digest of its text. Runs don't share blobs, so each run can be dropped on
 * its own.
 */
export type Blob = { readonly hash: string; readonly data: string };

/** The beginning of a blob: at least so many characters, or all of them, and the number of all. */
export type BlobStart = { readonly start: string; readonly length: number };

/**
 * A condition of a claim: fewer than `most` other runs of this queue, and with `key` of this key, have the status
 * `running`. They are counted in the same transaction, so nothing can get out of step.
 */
export interface ClaimLimit {
  readonly queue: string;
  readonly key?: string;
  readonly most: number;
}

/**
 * A condition of a create: no other run of the same workflow has this key and is unended, or still waits for its start.
 * They are looked for in the same transaction.
 */
export interface Alone {
  readonly key: string;
  readonly among: "unended" | "unbegun";
}

/** The effect of an append on the run's claim. */
export type ClaimChange =
  | {
      readonly kind: "acquire";
      readonly owner: string;
      readonly token: string;
      readonly ttlMs: number;
      /** Only with `capabilities.limits`; a store without it throws HF-3092. */
      readonly limits?: readonly ClaimLimit[];
    }
  | { readonly kind: "hold"; readonly ttlMs: number }
  /** Frees the claim. With `epoch`, the epoch is at least that from now on: for a run from another store. */
  | { readonly kind: "release"; readonly epoch?: number }
  /** Frees the claim and raises the epoch, so that the holder is fenced at once. */
  | { readonly kind: "revoke" }
  /** For outside acts: the holder keeps the claim. */
  | { readonly kind: "keep" }
  /**
   * Removes the run with everything that belongs to it: row, journal, blobs, records. The append has no entries, blobs
   * or records. After that the id is free: the store knows nothing of it.
   */
  | { readonly kind: "erase" };

export interface Append {
  /** Identity and projection after this append. */
  readonly run: RunIdentity & RunProjection;
  /** `null` creates the run, and is refused if it exists. */
  readonly expect: Expected | null;
  readonly claim: ClaimChange;
  /**
   * True when `run` differs from the row at `expect` in nothing but its `COUNTED` fields: a store may write only these, the
   * position, the head and the claim. A position says what the row is, so a store that ignores this writes the same.
   */
  readonly countsOnly?: true;
  /** Only for a create without limits, and only with `capabilities.limits`; a store without it throws HF-3092. */
  readonly alone?: Alone;
  /** In order, without a gap; one, unless a run is a copy of another, comes back from another store, or is erased. */
  readonly entries: readonly Entry[];
  /** The hash of the last entry's head: the run's new head. */
  readonly head: string;
  readonly blobs: readonly Blob[];
  /** Rows for the tables that the store says it writes: each shows the value of one of the append's events. */
  readonly records?: readonly StoredRecord[];
  /** Values to drop in the same write. */
  readonly drop?: Drop;
}

/** Entries, by `seq`, whose `data` becomes `null`, and blobs of the run to delete. */
export interface Drop {
  readonly entries: readonly number[];
  readonly blobs: readonly string[];
  /** Records of the run to delete, by the positions of their events. A record goes with the value that it shows. */
  readonly records?: readonly number[];
  /** True to move the deleted records of agents to `agent_checkpoints_archive`, where the store has that table. */
  readonly archive?: boolean;
}

/**
 * The conditions for accepting an append. `token: null`: an outside act, bound by position only; otherwise the claim's
 * own.
 */
export interface Expected {
  readonly seq: number;
  readonly epoch: number;
  readonly token: string | null;
}

export type AppendResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly reason: Refusal;
      readonly row: RunRow | null;
      /** With `taken`: the id of the other run. */
      readonly by?: string;
    };

/**
 * `exists`: a create found a run with that id. `missing`: no such run. `damaged`: its stored data can't be read
 * (HF-3010). `fenced`: the caller no longer has the claim. `held`: an acquire found a live claim, neither free nor
 * expired. `conflict`: the run has moved; read and decide again. `full`: a limit of the claim is reached. `taken`: a
 * create isn't alone. Checked in this order.
 */
export type Refusal = "exists" | "missing" | "damaged" | "fenced" | "held" | "conflict" | "full" | "taken";

export interface Renewal {
  readonly runId: string;
  readonly epoch: number;
  readonly token: string;
  readonly ttlMs: number;
}

/** Every given filter must match; an unknown filter is an error, never ignored. */
export interface RunQuery {
  readonly status?: readonly RunStatus[];
  readonly workflow?: string;
  readonly parent?: Parent["runId"];
  readonly name?: string;
  /** All of these labels, with these values. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly queue?: string;
  readonly key?: string;
  /** Created at this time or later. */
  readonly createdAfter?: number;
  /** Created earlier than this. */
  readonly createdBefore?: number;
  /** `false`: only runs that still have their values. */
  readonly pruned?: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

export type RunFilter = Omit<RunQuery, "limit" | "cursor">;

/** The number of runs of a workflow in a status; never 0. */
export interface RunCount {
  readonly status: RunStatus;
  readonly workflow: string;
  readonly count: number;
}

export type RunRange = { readonly from: number; readonly limit: number };
export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Pass it to the next call; `null` on the last page. */
  readonly cursor: string | null;
}

export interface DueQuery {
  readonly workflows: readonly string[];
  readonly limit: number;
  /**
   * Leaves out the runs of these parts of queues, except those that have the status `running`. A store may ignore it,
   * but then a worker reads past all runs of a full queue to find others.
   */
  readonly without?: readonly QueuePart[];
}

/** The runs of a queue, or those of a key or of a label's value in it; `""`: those that have none. */
export interface QueuePart {
  readonly queue: string;
  readonly key?: string;
  readonly label?: readonly [name: string, value: string];
}

/** Runs `work`, then the append built from its value: both are committed together, or neither. */
export type SqlTransaction = <T, S extends AnySqlHandle = SqlHandle>(
  work: SqlWork<T, S>,
  append: (value: T) => Append,
) => Promise<TransactionResult<T>>;

export type TransactionResult<T> = { readonly value: T; readonly result: AppendResult };
