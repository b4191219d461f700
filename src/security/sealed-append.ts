import type { StoredRecord } from "../core/records.ts";
import type { Append, AppendResult, Entry } from "../core/store/contract.ts";
import { UNREADABLE } from "../core/values/blind.ts";
import type { Pack } from "./compression.ts";
import { packText, unpackText } from "./packed-store.ts";
import { type DataKey, isSealed, openRecord, type RecordPlace, sealRecord } from "./record.ts";
import type { Minted, RunKeys } from "./run-keys.ts";
import { openStored, sealStored } from "./sealed-records.ts";

/** An append for the store below, and what to remember about its key once it is accepted. */
export interface Prepared {
  readonly append: Append;
  readonly minted?: Minted;
  /** True when it drops the last values of the run, and its key with them. */
  readonly shreds: boolean;
}

/** An append that was refused before it was sealed. */
export interface Refused {
  readonly refused: AppendResult;
}

/** Converts the values of appends to records, and records to values. */
export class Sealer {
  readonly #keys: RunKeys;
  readonly #store: string;
  readonly #pack: Pack;

  constructor(keys: RunKeys, store: string, pack: Pack) {
    this.#keys = keys;
    this.#store = store;
    this.#pack = pack;
  }

  /** Seals the append if its key is cached; otherwise returns `undefined`. */
  now(append: Append): Prepared | undefined {
    const { run, expect } = append;
    if (!hasValues(append)) return { append: this.#withoutKey(append), shreds: isEnd(append) };
    if (expect === null) {
      const minted = this.#keys.minted(run.id);
      return minted && this.#withKey(append, minted);
    }
    const key = this.#keys.atHand(run.id);
    return key && { append: this.#sealed(this.#withoutKey(append), key), shreds: isEnd(append) };
  }

  /** Seals the append after fetching or creating its key. */
  async later(append: Append): Promise<Prepared | Refused> {
    const { run, expect } = append;
    if (expect === null) return this.#withKey(append, await this.#keys.mint(run.id));
    const key = await this.#keys.find(run.id);
    if (key === "missing") return { refused: { ok: false, reason: "missing", row: null } };
    if (key === "gone") return this.#withKey(append, await this.#keys.mint(run.id));
    return { append: this.#sealed(this.#withoutKey(append), key), shreds: isEnd(append) };
  }

  #withKey(append: Append, minted: Minted): Prepared {
    const sealed = this.#sealed(append, minted.key);
    return { append: { ...sealed, blobs: [...sealed.blobs, minted.blob] }, minted, shreds: false };
  }

  /** Removes the run's key together with its last values. */
  #withoutKey(append: Append): Append {
    const { drop, run } = append;
    if (!drop || !isEnd(append)) return append;
    return { ...append, drop: { ...drop, blobs: [...drop.blobs, ...this.#keys.addresses(run.id)] } };
  }

  #sealed(append: Append, key: DataKey | "plain"): Append {
    const { id } = append.run;
    const sealed = (place: RecordPlace, data: string): string =>
      key === "plain" ? packText(this.#pack, data) : sealRecord(key, place, data, this.#pack);
    return {
      ...append,
      entries: append.entries.map((entry) =>
        entry.data === null ? entry : { ...entry, data: sealed(this.#ofEntry(id, entry), entry.data) },
      ),
      blobs: append.blobs.map(({ hash, data }) => ({ hash, data: sealed(this.#ofBlob(id, hash), data) })),
      ...(append.records && key !== "plain"
        ? {
            records: append.records.map((one) =>
              sealStored(one, { store: this.#store, run: id }, key, this.#pack),
            ),
          }
        : {}),
    };
  }

  #ofEntry(run: string, { seq, head }: Entry): RecordPlace {
    return { store: this.#store, run, type: "entry", at: String(seq), head };
  }

  #ofBlob(run: string, hash: string): RecordPlace {
    return { store: this.#store, run, type: "blob", at: hash, head: "" };
  }

  openEntry(run: string, key: DataKey | "plain" | "gone", entry: Entry): Entry {
    if (entry.data === null) return entry;
    if (key === "gone") return { ...entry, data: null };
    return { ...entry, data: this.#opened(key, this.#ofEntry(run, entry), entry.data) };
  }

  openBlob(run: string, key: DataKey | "plain", hash: string, data: string): string {
    return this.#opened(key, this.#ofBlob(run, hash), data);
  }

  openRecord(run: string, key: DataKey | "plain" | "gone", record: StoredRecord): StoredRecord {
    return typeof key === "string" ? record : openStored(record, { store: this.#store, run }, key);
  }

  /** A record that doesn't open, or a value that was never sealed, is reported as damage. */
  #opened(key: DataKey | "plain", place: RecordPlace, data: string): string {
    if (key === "plain") return isSealed(data) ? UNREADABLE : unpackText(data);
    return openRecord(key, place, data) ?? UNREADABLE;
  }
}

const hasValues = ({ entries, blobs, records }: Append): boolean =>
  blobs.length > 0 || records !== undefined || entries.some(({ data }) => data !== null);

/** True when the append drops the last of the run's values, or the whole run. */
const isEnd = ({ drop, entries, claim }: Append): boolean =>
  claim.kind === "erase" ||
  (drop !== undefined &&
    entries.some(({ head }) => head.includes('"values_dropped"') && head.includes('"all":true')));
