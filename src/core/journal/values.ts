import { HoldfastError } from "../errors.ts";
import { digest, hmac } from "../hash.ts";
import type { Logger } from "../logger.ts";
import type { Blob, Store } from "../store/contract.ts";
import { blinded, looksBlinded, unblinded } from "../values/blind.ts";
import { dataDigest, decode, encode } from "../values/codec.ts";
import { smallError } from "../values/error-parts.ts";
import type { Redactor } from "../values/redact.ts";
import { missingValue } from "./door.ts";
import type { Raw } from "./events.ts";
import { damaged, otherData, parseEntry } from "./journal.ts";

/** A value longer than this is stored once, as a blob under the digest of its text. */
const INLINE_LIMIT = 8192;
/** Strings of this length or more are shared between the states of a loop, its steps and its snapshots. */
const SHARED_LENGTH = 1024;
const READ_AHEAD = 200;
const BLOBS_AT_ONCE = 200;

/**
 * The text with which an encoded value points to a blob. User data can't look like it, because its own "$" is escaped.
 */
const POINTER = '{"$":["Blob","';

/** The blobs that an encoded text points into. */
export const blobsIn = (text: string): readonly string[] =>
  text.includes(POINTER)
    ? Array.from(text.matchAll(/\{"\$":\["Blob","([\w-]{43})"\]\}/g), (match) => match[1] as string)
    : NO_HASHES;

const NO_HASHES: readonly string[] = [];

export interface Encoded {
  readonly data: Raw;
  readonly blobs: readonly Blob[];
  readonly text: string;
}

type Shared = boolean | ((text: string) => boolean);

/** The beginning of a stored value, as JSON in the journal's encoding. */
export interface Preview {
  readonly text: string;
  /** Of the whole text, in characters. */
  readonly length: number;
  readonly isWhole: boolean;
}

export interface ValueLimits {
  /** A larger value is refused. */
  readonly valueBytes: number;
  /** A larger value is logged. */
  readonly warnBytes: number;
}

/** Converts values to their stored form and back. */
export class Values {
  readonly #store: Store;
  readonly #limits: ValueLimits;
  readonly #logger: Logger;
  readonly #redact: ((text: string) => string) | undefined;
  #fetched: { readonly runId: string; readonly blobs: ReadonlyMap<string, string> } | undefined;
  #ahead: { readonly runId: string; readonly values: ReadonlyMap<number, Raw | undefined> } | undefined;

  constructor(store: Store, limits: ValueLimits, logger: Logger, redactor?: Redactor) {
    this.#store = store;
    this.#limits = limits;
    this.#logger = logger;
    this.#redact = redactor && ((text) => redactor.text(text));
  }

  /** True when values are encrypted, so that a head must not contain any part of them. */
  get sealed(): boolean {
    return this.#store.blinding !== undefined;
  }

  /** `shared` stores long strings once by content, for values that recur in later states: all of them, or some. */
  encode(step: string, value: unknown, shared: Shared = false): Encoded {
    const encoded = this.#encode(value, shared);
    const own = typeof encoded.data === "string" ? encoded.text.length : 0;
    const bytes = encoded.blobs.reduce((sum, blob) => sum + blob.data.length, own);
    this.#checkSize(step, bytes);
    return encoded;
  }

  #encode(value: unknown, shared: Shared): Encoded {
    const blobs: Blob[] = [];
    const keep = (text: string): string => {
      const blob = this.blob(text);
      blobs.push(blob);
      return blob.hash;
    };
    const hasMarks = this.#store.blinding !== undefined;
    const isShared = typeof shared === "function" ? shared : () => true;
    const spill = (text: string) =>
      isShared(text) && (hasMarks || !looksBlinded(text)) ? keep(text) : undefined;
    const redact = this.#redact ? { redact: this.#redact } : undefined;
    const text =
      shared !== false ? encode(value, { spill, spillAt: SHARED_LENGTH, ...redact }) : encode(value, redact);
    if (text.length <= INLINE_LIMIT) return { data: text, blobs, text };
    return { data: { blob: keep(text) }, blobs, text };
  }

  /** An error's text for a head: its message, or in an encrypted store only the kind of error. */
  headline(error: Error): string {
    if (!this.sealed) return error.message.slice(0, 500);
    return HoldfastError.is(error) ? error.code : error.name.slice(0, 100);
  }

  /** An unsaved value that the run continues with, as it will be after a resume. */
  redacted<T>(step: string, value: T): T {
    return this.#redact ? (this.echo(this.encode(step, value)) as T) : value;
  }

  /** A text under its address. */
  blob(text: string): Blob {
    const { blinding } = this.#store;
    const data = blinding === undefined ? text : blinded(blinding, text);
    return { hash: digest(data), data };
  }

  /** The digest with which a head names arguments, or what a gate shows. */
  digest(value: unknown): string {
    const { blinding } = this.#store;
    return blinding === undefined ? dataDigest(value) : hmac(blinding, encode(value, { sorted: true }));
  }

  /**
   * Encodes anything thrown as an Error with plain data. One over the limit is shortened, because a failure must not
   * get lost.
   */
  encodeError(step: string, thrown: unknown): Encoded {
    const error = toError(thrown);
    try {
      return this.encode(step, error);
    } catch {
      return this.#encode(smallError(error, this.#redact), false);
    }
  }

  /** The value as a replay would see it. One that can't be changed, if it is given, is returned as it is. */
  echo({ text, blobs }: Encoded, value?: unknown): unknown {
    if (value !== undefined && typeof value !== "object" && !this.#redact) return value;
    if (blobs.length === 0) return decode(text);
    const found = new Map(blobs.map((blob) => [blob.hash, blob.data]));
    return decode(text, { blob: (hash) => textOf(found, hash) });
  }

  #checkSize(step: string, bytes: number): void {
    const { valueBytes: limit, warnBytes: warnAt } = this.#limits;
    if (bytes > limit) throw new HoldfastError("HF-2002", { step, bytes, limit });
    if (bytes > warnAt) this.#logger.warn("large value", { step, bytes, warnAt });
  }

  /** The value of `raw`; a promise only if blobs must be fetched. */
  decode(runId: string, raw: Raw | undefined): unknown {
    if (raw === undefined) return undefined;
    if (typeof raw === "string" && !raw.includes(POINTER)) return decode(raw);
    return this.#decodeBlobs(runId, raw);
  }

  async #decodeBlobs(runId: string, raw: Raw): Promise<unknown> {
    const [text = ""] = await this.#texts(runId, [raw]);
    const found = await this.#blobs(runId, [...new Set(blobsIn(text))]);
    return decode(text, { blob: (hash) => textOf(found, hash) });
  }

  /** The values of a list in few requests, one after another: each is decoded when it is asked for. */
  async *decodeEach(runId: string, raws: readonly Raw[]): AsyncGenerator<unknown> {
    for (let from = 0; from < raws.length; from += BLOBS_AT_ONCE) {
      const texts = await this.#texts(runId, raws.slice(from, from + BLOBS_AT_ONCE));
      const found = await this.#blobs(runId, [...new Set(texts.flatMap(blobsIn))]);
      for (const text of texts) yield decode(text, { blob: (hash) => textOf(found, hash) });
    }
  }

  /** A stored value and the length of its text, from one read. */
  async sized(runId: string, raw: Raw): Promise<{ readonly value: unknown; readonly length: number }> {
    const [text = ""] = await this.#texts(runId, [raw]);
    return { value: await this.decode(runId, text), length: text.length };
  }

  async #texts(runId: string, raws: readonly Raw[]): Promise<string[]> {
    const hashes = raws.flatMap((raw) => (typeof raw === "string" ? [] : [raw.blob]));
    const found = await this.#blobs(runId, [...new Set(hashes)]);
    return raws.map((raw) => (typeof raw === "string" ? raw : (textOf(found, raw.blob) ?? "")));
  }

  /** Reads these blobs of a run in few requests, for values that are decoded next. What is missing is reported then. */
  async fetchAhead(runId: string, hashes: readonly string[]): Promise<void> {
    const found = new Map<string, string>();
    const wanted = [...new Set(hashes)];
    for (let from = 0; from < wanted.length; from += BLOBS_AT_ONCE)
      for (const [hash, data] of await this.#store.blobs(runId, wanted.slice(from, from + BLOBS_AT_ONCE)))
        found.set(hash, data);
    this.#fetched = { runId, blobs: found };
  }

  /** Lets go of what was read ahead. */
  forget(runId: string): void {
    if (this.#fetched?.runId === runId) this.#fetched = undefined;
  }

  async #read(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const ahead = this.#fetched?.runId === runId ? this.#fetched.blobs : undefined;
    return ahead && hashes.every((hash) => ahead.has(hash)) ? ahead : this.#store.blobs(runId, hashes);
  }

  async #blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (hashes.length === 0) return new Map();
    const found = await this.#read(runId, hashes);
    for (const hash of hashes) {
      const data = found.get(hash);
      if (data !== undefined && digest(data) === hash) continue;
      const problem = `Blob ${hash} is missing or changed.`;
      throw data === undefined
        ? await missingValue(this.#store, runId, 0, problem)
        : otherData(runId, 0, data, problem);
    }
    return found;
  }

  /** The beginning of a value's stored text, which is JSON, and the length of all of it. Nothing is decoded. */
  async preview(runId: string, raw: Raw | undefined, most: number): Promise<Preview | null> {
    if (raw === undefined) return null;
    if (typeof raw === "string") return cut(raw, most);
    const missing = (): Promise<unknown> => missingValue(this.#store, runId, 0, "A blob is missing.");
    if (this.#store.peek) {
      const found = await this.#store.peek(runId, raw.blob, most);
      if (!found) throw await missing();
      const { text, isWhole } = cut(found.start, most);
      return { text, length: found.length, isWhole: isWhole && Array.from(text).length === found.length };
    }
    const text = textOf(await this.#store.blobs(runId, [raw.blob]), raw.blob);
    if (text === undefined) throw await missing();
    return cut(text, most);
  }

  /** A recorded value: in memory, or read from its position. A promise only if it must be fetched. */
  of(runId: string, { data, seq }: { readonly data?: Raw | undefined; readonly seq: number }): unknown {
    return data === undefined ? this.at(runId, seq) : this.decode(runId, data);
  }

  /** The value of the event at `seq`, for records restored without it. Reads ahead. */
  async at(runId: string, seq: number): Promise<unknown> {
    return this.decode(runId, await this.rawAt(runId, seq));
  }

  /** The value recorded at a position, as it is stored. */
  async rawAt(runId: string, seq: number): Promise<Raw | undefined> {
    if (this.#ahead?.runId !== runId || !this.#ahead.values.has(seq)) {
      const entries = await this.#store.entries(runId, { from: seq, limit: READ_AHEAD });
      const events = entries.flatMap((entry) => parseEntry(runId, entry).events);
      if (!events.some((event) => event.seq === seq)) throw damaged(runId, seq, "An entry is missing.");
      if (events.some((event) => event.seq === seq && event.dropped))
        throw await missingValue(this.#store, runId, seq);
      const kept = events.filter((event) => !event.dropped);
      this.#ahead = { runId, values: new Map(kept.map((event) => [event.seq, event.data])) };
    }
    return this.#ahead.values.get(seq);
  }
}

/** The beginning of a text, without half of a character at its end. */
export function cut(text: string, most: number): Preview {
  const { length } = text;
  if (length <= most) return { text, length, isWhole: true };
  const start = text.slice(0, most);
  return { text: /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start, length, isWhole: false };
}

function textOf(blobs: ReadonlyMap<string, string>, hash: string): string | undefined {
  const data = blobs.get(hash);
  return data === undefined ? undefined : unblinded(data);
}

/** The thrown Error, or an Error that describes the thrown value. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return Object.assign(new Error(`Something other than an Error was thrown: ${describe(thrown)}`), {
    thrown,
  });
}

function describe(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}
