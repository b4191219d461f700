import { HoldfastError } from "../core/errors.ts";
import { dropOldest } from "../core/recent.ts";
import type { Blob, Store } from "../core/store/contract.ts";
import type { Keyring } from "./keyring.ts";
import { type DataKey, isSealed, newDataKey } from "./record.ts";
import { keyAddress, unwrapKey, wrapKey } from "./wrapped-key.ts";

/**
 * `plain`: the run dates from before the store was sealed. `gone`: its key was shredded. `missing`: there is no such
 * run.
 */
export type RunKey = DataKey | "plain" | "gone" | "missing";

/** A key for a run that is about to be created, and its record. */
export interface Minted {
  readonly key: DataKey;
  readonly blob: Blob;
}

interface Known {
  readonly key: DataKey | "plain";
  /** When the key was last found in the store. */
  checkedAt: number;
}

/** After this time a key is looked up again, because another process may have shredded it. */
const TRUST_MS = 60_000;
/** How many entries of a run are examined for encrypted values. */
const LOOK = 50;

export interface KeySource {
  readonly inner: Store;
  readonly keyring: Keyring;
  /** Names the store in authenticated data; survives a restore. */
  readonly storeId: string;
  readonly acceptPlain: boolean;
  /** The number of keys kept in memory. */
  readonly most: number;
}

/** The keys of runs: read from the store, unwrapped by the keyring, and cached in memory up to a limit. */
export class RunKeys {
  readonly #source: KeySource;
  readonly #known = new Map<string, Known>();
  readonly #minted = new Map<string, Minted>();
  readonly #finding = new Map<string, Promise<RunKey>>();

  constructor(source: KeySource) {
    this.#source = source;
  }

  /** The addresses at which a run's key may be stored. */
  addresses(runId: string): readonly string[] {
    return this.#source.keyring.ids().map((id) => keyAddress(runId, id));
  }

  /** The cached key, if there is one. */
  atHand(runId: string): DataKey | "plain" | undefined {
    const known = this.#known.get(runId);
    if (known) this.#keep(runId, known);
    return known?.key;
  }

  /** The key for reading: cached and still in the store, or read from there. */
  async find(runId: string): Promise<RunKey> {
    const known = this.#known.get(runId);
    if (known && performance.now() - known.checkedAt < TRUST_MS) return this.atHand(runId) as RunKey;
    let finding = this.#finding.get(runId);
    if (!finding) {
      finding = this.#look(runId, known).finally(() => this.#finding.delete(runId));
      this.#finding.set(runId, finding);
    }
    return finding;
  }

  async #look(runId: string, known: Known | undefined): Promise<RunKey> {
    const { inner, keyring, storeId } = this.#source;
    const ids = keyring.ids();
    const records = await inner.blobs(runId, this.addresses(runId));
    const id = ids.find((one) => records.has(keyAddress(runId, one)));
    if (id === undefined) return this.#without(runId);
    // The key is still stored, so it hasn't been shredded, and the keyring need not be asked.
    if (known && known.key !== "plain") return this.learn(runId, known.key);
    const record = records.get(keyAddress(runId, id)) as string;
    return this.learn(runId, await unwrapKey(keyring, storeId, runId, id, record));
  }

  async #without(runId: string): Promise<RunKey> {
    const { inner, acceptPlain, keyring } = this.#source;
    this.#known.delete(runId);
    const row = await inner.read(runId);
    if (!row) return "missing";
    if (row.prunedAt !== null) return "gone";
    if (acceptPlain && !(await wasSealed(inner, runId))) return this.learn(runId, "plain");
    throw new HoldfastError("HF-3031", { run: runId, ids: keyring.ids().join(", ") });
  }

  /** Caches a key that the store holds. */
  learn<K extends DataKey | "plain">(runId: string, key: K): K {
    this.#keep(runId, { key, checkedAt: performance.now() });
    return key;
  }

  #keep(runId: string, known: Known): void {
    this.#known.delete(runId);
    this.#known.set(runId, known);
    dropOldest(this.#known, this.#source.most);
  }

  forget(runId: string): void {
    this.#known.delete(runId);
  }

  /** A key for a run that is about to be created: the same one until the outcome is known. */
  async mint(runId: string): Promise<Minted> {
    const { keyring, storeId, most } = this.#source;
    const minted = this.#minted.get(runId);
    if (minted) return minted;
    const key = newDataKey();
    const made = { key, blob: await wrapKey(keyring, storeId, runId, key) };
    this.#minted.set(runId, made);
    dropOldest(this.#minted, most);
    return made;
  }

  minted(runId: string): Minted | undefined {
    return this.#minted.get(runId);
  }

  /** Records the outcome of the append with the minted key. */
  settle(runId: string, { key }: Minted, isTaken: boolean): void {
    this.#minted.delete(runId);
    if (isTaken) this.learn(runId, key);
  }
}

/** True when the run's first entries hold encrypted values. */
export async function wasSealed(inner: Store, runId: string): Promise<boolean> {
  const entries = await inner.entries(runId, { from: 1, limit: LOOK });
  return entries.some(({ data }) => data !== null && isSealed(data));
}
