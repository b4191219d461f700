import { createHmac } from "node:crypto";
import { HoldfastError } from "../core/errors.ts";
import { buildAct, unwritten } from "../core/journal/acts.ts";
import type { EventDraft } from "../core/journal/events.ts";
import type { Store } from "../core/store/contract.ts";
import { SEALED_ROOT } from "../core/values/blind.ts";
import type { Keyring } from "./keyring.ts";
import { type DataKey, newDataKey } from "./record.ts";
import { type KeyFormat, keyAddress, unwrapKey, wrapKey } from "./wrapped-key.ts";

/**
 * A sealed store has its own secret, from which everything is derived that must be the same for all its runs and
 * unknown to anyone who only has its data. It is stored as the key of a hidden run, which has ended, so that nothing
 * happens to it, and is pinned, so that it is kept.
 */
export const ROOT_RUN = SEALED_ROOT;
/** Used instead of the store's name, which is derived from the secret. */
export const ROOT_STORE = "root";
export const ROOT_WORKFLOW = "holdfast:sealed-store";

export class Root {
  /** Every run of the store has marked heads: a run without them was written by someone without the key. */
  readonly isMarked: boolean;
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array, isMarked: boolean) {
    this.#secret = secret;
    this.isMarked = isMarked;
  }

  #derive(purpose: string): Buffer {
    return createHmac("sha256", this.#secret).update(`holdfast ${purpose} 1`).digest();
  }

  /** Names the store in authenticated data without revealing the secret. */
  get id(): string {
    return this.#derive("store id").toString("base64url");
  }

  /** The key of what belongs to the store and not to a run. It stays the same when the keyring's keys are changed. */
  get documentKey(): DataKey {
    return { id: this.#derive("document key id").subarray(0, 16), secret: this.#derive("document key") };
  }

  get blinding(): string {
    return this.#derive("blinding").toString("base64url");
  }

  /** The input of idempotency keys, derived so that neither the stored secret nor this one is enough. */
  identitySecret(stored: string): string {
    return createHmac("sha256", this.#derive("idempotency")).update(stored).digest("base64url");
  }
}

/** Opens the store's secret, or creates one. */
export async function openRoot(inner: Store, keyring: Keyring, acceptPlain: boolean): Promise<Root> {
  for (;;) {
    const root = await readRoot(inner, keyring);
    if (root) return root;
    const { runs } = await inner.list({ limit: 1 });
    if (runs.length > 0 && !acceptPlain) throw new HoldfastError("HF-3033");
    // If another process was first, its secret is used.
    await createRoot(inner, keyring, runs.length > 0 ? 1 : 2);
  }
}

/** The store's key as stored, wrapped by a key of the keyring. */
export interface RootRecord {
  readonly kek: string;
  readonly format: KeyFormat;
  readonly address: string;
  readonly text: string;
}

const FORMATS = [2, 1] as const satisfies readonly KeyFormat[];

/** All records of the store's key that the keyring might open, newest format first. */
export async function rootRecords(inner: Store, keyring: Keyring): Promise<readonly RootRecord[]> {
  const places = FORMATS.flatMap((format) =>
    keyring.ids().map((kek) => ({ kek, format, address: keyAddress(ROOT_RUN, kek, format) })),
  );
  const found = await inner.blobs(
    ROOT_RUN,
    places.map(({ address }) => address),
  );
  return places.flatMap((place) => {
    const text = found.get(place.address);
    return text === undefined ? [] : [{ ...place, text }];
  });
}

async function readRoot(inner: Store, keyring: Keyring): Promise<Root | null> {
  if ((await inner.read(ROOT_RUN)) === null) return null;
  const [record] = await rootRecords(inner, keyring);
  if (!record) throw closed(keyring.ids(), "its key is not in the keyring.");
  return new Root(await rootSecret(keyring, record.kek, record.text), record.format === 2);
}

/** Reports the store's own key instead of a run that nobody knows. */
async function rootSecret(keyring: Keyring, id: string, record: string): Promise<Uint8Array> {
  try {
    return (await unwrapKey(keyring, ROOT_STORE, ROOT_RUN, id, record)).secret;
  } catch (error) {
    if (HoldfastError.is(error, "HF-3032")) throw closed([id], error.why);
    throw error;
  }
}

const closed = (ids: readonly string[], problem: string): HoldfastError =>
  new HoldfastError("HF-3040", { ids: ids.join(", "), problem });

/** `format` 1 is for a store that holds runs without marked heads. */
export async function createRoot(inner: Store, keyring: Keyring, format: KeyFormat): Promise<void> {
  const blob = await wrapKey(keyring, ROOT_STORE, ROOT_RUN, newDataKey(), format);
  const version = "1";
  const row = unwritten({
    id: ROOT_RUN,
    workflow: ROOT_WORKFLOW,
    version,
    schema: 1,
    lineage: ROOT_RUN,
    parent: null,
    origin: null,
    // The oldest of all, so that it comes last in every list.
    createdAt: 0,
  });
  const events: EventDraft[] = [
    { kind: "run_created", step: "", meta: { workflow: ROOT_WORKFLOW, version, lineage: ROOT_RUN } },
    { kind: "checkpoint_tagged", step: "", meta: { seq: 1, pinned: true, pins: 1 } },
    { kind: "run_completed", step: "", meta: {} },
  ];
  const { append } = buildAct(row, { events }, null, { at: await inner.now() });
  await inner.append([{ ...append, blobs: [blob] }]);
}
