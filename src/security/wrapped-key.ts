import { HoldfastError } from "../core/errors.ts";
import { digest } from "../core/hash.ts";
import type { Blob } from "../core/store/contract.ts";
import { KEY_BYTES } from "./crypto.ts";
import type { KeyContext, Keyring } from "./keyring.ts";
import type { DataKey } from "./record.ts";

/** `2`: the key of a store in which every run has marked heads. What is wrapped as the one does not open as the other. */
export type KeyFormat = 1 | 2;

/**
 * The key of a run as the store holds it: a blob of that run, under an address that is made of the run and the key that wraps it. It
 * says by which key it is wrapped and which one it is. No entry names it, so that nothing but a rotation or the end of the run's values
 * takes it away.
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

/** The key in the record, or HF-3032 when it is not what the key `kek` wrapped for this run. */
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

/** A keyring that fails, in whatever words, is one that does not answer. */
async function asked<T>(kek: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    const message = error instanceof Error ? error.message.slice(0, 300) : "no reason was given";
    throw new HoldfastError("HF-3030", { kek, message }, { cause: error });
  }
}
