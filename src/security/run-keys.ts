import { HoldfastError } from "../core/errors.ts";
import type { Blob, Store } from "../core/store/contract.ts";
import type { Keyring } from "./keyring.ts";
import { type DataKey, isSealed, newDataKey } from "./record.ts";
import { keyAddress, unwrapKey, wrapKey } from "./wrapped-key.ts";

/** `plain`: the run is from before the store was sealed. `gone`: its key was shredded. `missing`: there is no such run. */
export type RunKey = DataKey | "plain" | "gone" | "missing";

/** A key for a run that is about to be made, and its record. */
export interface Minted {
  readonly key: DataKey;
  readonly blob: Blob;
}

interface Known {
  readonly key: DataKey | "plain";
  /** When the store was last seen to hold it. */
  checkedAt: number;
}

/** A key that another process may have shredded is looked for again after this time. */
const TRUST_MS = 60_000;
/** So many entries of a run tell whether it was ever sealed. */
const LOOK = 50;

export interface KeySource {
  readonly inner: Store;
  readonly keyring: Keyring;
  /** Names the store in what is authenticated; the same after a restore. */
  readonly storeId: string;
  readonly acceptPlain: boolean;
  /** Keys that are kept in memory. */
  readonly most: number;
}

/** The keys of runs: found in the store, unwrapped by the keyring, and kept in memory for as many runs as there is room for. */
export class RunKeys {
  readonly #source: KeySource;
  readonly #known = new Map<string, Known>();
  readonly #minted = new Map<string, Minted>();
  readonly #finding = new Map<string, Promise<RunKey>>();

  constructor(source: KeySource) {
    this.#source = source;
  }

  /** Under these addresses a run's key may stand. */
  addresses(runId: string): readonly string[] {
    return this.#source.keyring.ids().map((id) => keyAddress(runId, id));
  }

  /** The key, where it is at hand. */
  atHand(runId: string): DataKey | "plain" | undefined {
    const known = this.#known.get(runId);
    if (known) this.#keep(runId, known);
    return known?.key;
  }

  /** The key to read with: at hand and surely still in the store, or else found there. */
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
    // It is still there, so nobody has shredded it: the keyring need not be asked.
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

  /** Keeps a key that the store holds. */
  learn<K extends DataKey | "plain">(runId: string, key: K): K {
    this.#keep(runId, { key, checkedAt: performance.now() });
    return key;
  }

  #keep(runId: string, known: Known): void {
    this.#known.delete(runId);
    this.#known.set(runId, known);
    trim(this.#known, this.#source.most);
  }

  forget(runId: string): void {
    this.#known.delete(runId);
  }

  /** A key for a run that is about to be made: the same until it is known what became of that. */
  async mint(runId: string): Promise<Minted> {
    const { keyring, storeId, most } = this.#source;
    const minted = this.#minted.get(runId);
    if (minted) return minted;
    const key = newDataKey();
    const made = { key, blob: await wrapKey(keyring, storeId, runId, key) };
    this.#minted.set(runId, made);
    trim(this.#minted, most);
    return made;
  }

  minted(runId: string): Minted | undefined {
    return this.#minted.get(runId);
  }

  /** What became of the append with the minted key. */
  settle(runId: string, { key }: Minted, isTaken: boolean): void {
    this.#minted.delete(runId);
    if (isTaken) this.learn(runId, key);
  }
}

function trim(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

/** Whether a run's beginning holds encrypted values. */
export async function wasSealed(inner: Store, runId: string): Promise<boolean> {
  const entries = await inner.entries(runId, { from: 1, limit: LOOK });
  return entries.some(({ data }) => data !== null && isSealed(data));
}
