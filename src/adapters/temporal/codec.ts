import { fileURLToPath } from "node:url";
import { checkKeys } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import { keepRecent } from "../../core/recent.ts";
import { type CompressionOptions, packer, unpack } from "../../security/compression.ts";
import { decrypt, encrypt, lengthPrefixed } from "../../security/crypto.ts";
import { checkKeyring, type KeyContext, type Keyring } from "../../security/keyring.ts";
import { type DataKey, newDataKey } from "../../security/record.ts";

/** How values in Temporal's history are sealed. */
export interface TemporalCodecOptions {
  /** Wraps the keys of runs: `envKeyring()`, `fileKeyring(…)` or `kmsKeyring(…)` of `holdfast/security`. */
  readonly keyring: Keyring;
  /** Values are compressed before they are encrypted. With `false` their size reveals less about them. */
  readonly compression?: CompressionOptions | false;
  /** With `true`, values that were written without a codec can be read. Default `false`: they are refused (HF-7101). */
  readonly acceptPlain?: boolean;
}

/** A value as Temporal carries it. */
export interface Payload {
  metadata?: Record<string, Uint8Array> | null;
  data?: Uint8Array | null;
}

/** The place of a value, as Temporal names it. */
interface Place {
  readonly workflowId?: string;
}

/** Temporal's interface of codecs. */
export interface Codec {
  encode(payloads: Payload[], place?: Place): Promise<Payload[]>;
  decode(payloads: Payload[], place?: Place): Promise<Payload[]>;
}

/** The options of Temporal's data converter for sealed values: of values, and of the texts of failures. */
export function codecOptions(options: TemporalCodecOptions): {
  readonly payloadCodecs: readonly Codec[];
  readonly failureConverterPath: string;
} {
  return { payloadCodecs: [temporalCodec(options)], failureConverterPath: FAILURES };
}

/** The file of the converter that makes payloads of the texts of failures. */
export const FAILURES = fileURLToPath(new URL("./failure-converter.js", import.meta.url));

const ENCODING = "binary/holdfast-sealed";
/** The names of a sealed value's parts, beside Temporal's own `encoding`. */
const PART = {
  run: "holdfast-run",
  kek: "holdfast-kek",
  key: "holdfast-key",
  id: "holdfast-id",
  size: "holdfast-size",
};

const MOST_KEYS = 10_000;

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (part: Uint8Array | undefined): string => Buffer.from(part ?? []).toString();

interface Wrapped {
  readonly key: DataKey;
  readonly kek: string;
  readonly wrapped: Uint8Array;
}

/**
 * A payload codec for Temporal that seals every value with Holdfast's keyring. Nothing in the history, in the server's
 * database or on Temporal's pages is readable but names: of workflows, activities, runs and keys.
 *
 * Each process seals a run's values with a key of its own for that run, which travels with them, wrapped by the current
 * key of the keyring. Values can be opened as long as the keyring has the wrapping key, so a rotation is a new current
 * key, with the old one kept until the last run that used it is gone.
 *
 * @example
 * ```ts
 * import { temporalCodec } from "holdfast/adapters/temporal/interpreter";
 * import { envKeyring } from "holdfast/security";
 *
 * export const dataConverter = { payloadCodecs: [temporalCodec({ keyring: envKeyring() })] };
 * ```
 */
export function temporalCodec(options: TemporalCodecOptions): Codec {
  checkKeys(options, ["keyring", "compression", "acceptPlain"], "codec");
  checkKeyring(options.keyring);
  const { keyring, acceptPlain = false } = options;
  const pack = packer(options.compression);
  const keys = new Keys(keyring);
  return {
    async encode(payloads, { workflowId = "" } = {}) {
      const { key, kek, wrapped } = await keys.ofRun(workflowId);
      return payloads.map((payload) => {
        const plain = framed(payload);
        const packed = pack(plain);
        const size = String(packed ? plain.length : 0);
        const metadata = {
          encoding: bytes(ENCODING),
          [PART.run]: bytes(workflowId),
          [PART.kek]: bytes(kek),
          [PART.key]: wrapped,
          [PART.id]: key.id,
          [PART.size]: bytes(size),
        };
        return { metadata, data: encrypt(key.secret, about(workflowId, size), packed ?? plain) };
      });
    },
    decode: (payloads, { workflowId } = {}) =>
      Promise.all(payloads.map((payload) => opened(keys, payload, workflowId, acceptPlain))),
  };
}

const about = (run: string, size: string): Uint8Array => lengthPrefixed(["temporal", run, size]);

async function opened(
  keys: Keys,
  payload: Payload,
  workflowId: string | undefined,
  acceptPlain: boolean,
): Promise<Payload> {
  const { metadata, data } = payload;
  if (text(metadata?.["encoding"]) !== ENCODING) {
    if (acceptPlain) return payload;
    throw shut("it isn't sealed, and this codec takes sealed values only");
  }
  const run = text(metadata?.[PART.run]);
  if (run !== "" && workflowId !== undefined && workflowId !== run)
    throw shut(`it belongs to the run ${run}`);
  const size = text(metadata?.[PART.size]);
  const secret = await keys.unwrapped(run, metadata ?? {});
  const sealed = decrypt(secret, about(run, size), data ?? new Uint8Array());
  const plain = sealed && size !== "0" ? unpack(sealed, Number(size)) : sealed;
  if (!plain) throw shut("its content was changed");
  return unframed(plain);
}

const shut = (problem: string): HoldfastError => new HoldfastError("HF-7101", { problem });

/** The keys of runs: own ones for writing, unwrapped ones for reading. */
class Keys {
  readonly #keyring: Keyring;
  readonly #own = new Map<string, Promise<Wrapped>>();
  readonly #known = new Map<string, Promise<Uint8Array>>();

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /** After a rotation of the keyring, runs get new keys. */
  ofRun(run: string): Promise<Wrapped> {
    const kek = this.#keyring.current;
    const name = JSON.stringify([run, kek]);
    const wrapped = this.#own.get(name) ?? this.#minted(run, kek);
    keepRecent(this.#own, name, wrapped, MOST_KEYS);
    wrapped.catch(() => this.#own.delete(name));
    return wrapped;
  }

  async #minted(run: string, kek: string): Promise<Wrapped> {
    const key = newDataKey();
    return { key, kek, wrapped: await this.#keyring.wrap(kek, key.secret, contextOf(run, key.id)) };
  }

  unwrapped(run: string, metadata: Record<string, Uint8Array>): Promise<Uint8Array> {
    const wrapped = metadata[PART.key] ?? new Uint8Array();
    const name = Buffer.from(wrapped).toString("base64");
    const secret = this.#known.get(name) ?? this.#unwrap(run, metadata, wrapped);
    keepRecent(this.#known, name, secret, MOST_KEYS);
    secret.catch(() => this.#known.delete(name));
    return secret;
  }

  async #unwrap(run: string, metadata: Record<string, Uint8Array>, wrapped: Uint8Array): Promise<Uint8Array> {
    const kek = text(metadata[PART.kek]);
    const ids = this.#keyring.ids();
    if (!ids.includes(kek)) throw new HoldfastError("HF-7100", { kek, ids: ids.join(", ") || "none" });
    const secret = await this.#keyring.unwrap(
      kek,
      wrapped,
      contextOf(run, metadata[PART.id] ?? new Uint8Array()),
    );
    if (!secret) throw shut(`its key was not wrapped by ${kek} for this run`);
    return secret;
  }
}

const contextOf = (run: string, id: Uint8Array): KeyContext => ({
  "holdfast:temporal": run,
  "holdfast:key": Buffer.from(id).toString("base64"),
});

/** A payload as bytes: the length of its metadata, its metadata as JSON, its data. */
function framed({ metadata, data }: Payload): Uint8Array {
  const parts = Object.entries(metadata ?? {}).map(([name, part]) => [
    name,
    Buffer.from(part).toString("base64"),
  ]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(parts)));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, data ?? new Uint8Array()]);
}

function unframed(plain: Buffer): Payload {
  const end = 4 + plain.readUInt32BE(0);
  const head = JSON.parse(plain.subarray(4, end).toString()) as Record<string, string>;
  const metadata = Object.fromEntries(
    Object.entries(head).map(([name, part]) => [name, Buffer.from(part, "base64")]),
  );
  return { metadata, data: plain.subarray(end) };
}
