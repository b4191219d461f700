import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import type { Blob } from "../core/store/contract.ts";
import { KEY_BYTES } from "./crypto.ts";
import type { KeyContext, Keyring } from "./keyring.ts";
import type { DataKey } from "./record.ts";

/**
 * `2`: the key of a store in which every run has marked heads. A key wrapped as one format doesn't open as the other.
 */
export type KeyFormat = 1 | 2;

/**
 * The key of a run as stored: a blob of that run, at an address derived from the run and the wrapping key. It names
 * both keys. No entry refers to it, so that only a rotation or the end of the run's values removes it.
 */
interface KeyRecord {
  readonly format: KeyFormat;
  readonly suite: 1;
  readonly kek: string;
  readonly key: string;
  readonly wrapped: string;
}

export const keyAddress = (run: string, kek: string, format: KeyFormat = 1): string =>
  digest(JSON.stringify(["key", run, kek, ...(format === 1 ? [] : [format])]));

const context = (
  store: string,
  run: string,
  { key, format }: Pick<KeyRecord, "key" | "format">,
): KeyContext => ({
  "holdfast:store": store,
  "holdfast:run": run,
  "holdfast:key": key,
  "holdfast:suite": "1",
  ...(format === 1 ? {} : { "holdfast:format": String(format) }),
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** Wraps a run's key by the current key of the keyring. */
export async function wrapKey(
  keyring: Keyring,
  store: string,
  run: string,
  key: DataKey,
  format: KeyFormat = 1,
): Promise<Blob> {
  const kek = keyring.current;
  const id = base64(key.id);
  const wrapped = await asked(kek, keyring.wrap(kek, key.secret, context(store, run, { key: id, format })));
  const record: KeyRecord = { format, suite: 1, kek, key: id, wrapped: base64(wrapped) };
  return { hash: keyAddress(run, kek, format), data: JSON.stringify(record) };
}

/** The key in the record. Throws HF-3032 when the key `kek` didn't wrap it for this run. */
export async function unwrapKey(
  keyring: Keyring,
  store: string,
  run: string,
  kek: string,
  text: string,
): Promise<DataKey> {
  const record = parse(text);
  if (record?.kek !== kek)
    throw shut(run, kek, "Its record is damaged, or of a kind that is not known here.");
  const wrapped = Buffer.from(record.wrapped, "base64");
  const secret = await asked(kek, keyring.unwrap(kek, wrapped, context(store, run, record)));
  if (secret?.length !== KEY_BYTES)
    throw shut(run, kek, "It was wrapped by another key of this name, or its record was changed or moved.");
  return { id: Buffer.from(record.key, "base64"), secret };
}

const shut = (run: string, kek: string, problem: string): HoldfastError =>
  new HoldfastError("HF-3032", { run, kek, problem });

function parse(text: string): KeyRecord | undefined {
  try {
    const record = JSON.parse(text) as KeyRecord;
    const isKnown = (record.format === 1 || record.format === 2) && record.suite === 1;
    const isWhole = [record.kek, record.key, record.wrapped].every((part) => typeof part === "string");
    return isKnown && isWhole && Buffer.from(record.key, "base64").length === 16 ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Any failure of a keyring counts as a keyring that doesn't answer. */
async function asked<T>(kek: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    const message = error instanceof Error ? error.message.slice(0, 300) : "no reason was given";
    throw new HoldfastError("HF-3030", { kek, message }, { cause: error });
  }
}
