import { HoldfastError } from "../../core/errors.ts";
import type { Documents } from "../../core/store/documents.ts";
import { chunkPages, dataOf } from "./chunks.ts";
import {
  type ForkSource,
  type Head,
  isJson,
  plainType,
  readHead,
  type StoredHead,
  writeHead,
} from "./heads.ts";
import { firstMessages } from "./json-mode.ts";
import type { KeptStream } from "./kept-stream.ts";
import { chunkAt, offsetOf } from "./state.ts";

const TRIES = 50;

/** From where a stream is to be forked. */
export interface ForkRequest {
  readonly path: string;
  /** Default: where the source ends. */
  readonly offset?: string;
  /** Messages, or bytes, behind the offset. */
  readonly sub: number;
}

interface Wanted {
  readonly contentType: string | undefined;
  readonly ttl: number | null;
  readonly expiresAt: string | null;
  readonly fork: ForkRequest | null;
}

/**
 * Forks share the data of their source: a head names the streams that its first chunks are in. The source counts its
 * forks before one is made, so that a crash in between keeps data too long and never loses any.
 */
export class Forks {
  readonly #get: () => Documents;

  constructor(documents: () => Documents) {
    this.#get = documents;
  }

  /** The head of a fork of `source`, and what it begins with that isn't a whole chunk of the source. */
  async begin(
    source: KeptStream,
    base: Head,
    { fork, contentType, ttl, expiresAt }: Wanted,
  ): Promise<{ readonly head: Head; readonly rest: Uint8Array }> {
    const { head, state, path } = source;
    const { offset = offsetOf(state), sub = 0 } = fork ?? {};
    const count = chunkAt(offset);
    const refused = (problem: string): HoldfastError =>
      new HoldfastError("HF-6213", { stream: path, problem });
    if (count === undefined) throw refused("that isn't an offset");
    if (offset > offsetOf(state)) throw refused("it hasn't come that far");
    if (contentType !== undefined && plainType(contentType) !== plainType(head.contentType))
      throw new HoldfastError("HF-6208", { stream: path, type: head.contentType, given: contentType });
    const { bytes, rest } = await this.#cut(source, count, sub);
    if (!rest) throw refused("it doesn't have so much there");
    const from: ForkSource = { path, id: head.id, offset, sub };
    await this.#count(from, 1);
    const segments = [...head.segments.filter(({ upTo }) => upTo < count), ...lastSegment(head, count)];
    const ends = ttl === null && expiresAt === null ? { ttl: head.ttl, expiresAt: head.expiresAt } : {};
    const mark = { count, bytes, producers: [] };
    return { head: { ...base, ...ends, contentType: head.contentType, from, segments, mark }, rest };
  }

  /** How many bytes the source has before chunk `count`, and the beginning of that chunk. */
  async #cut(
    { head, state }: KeptStream,
    count: number,
    sub: number,
  ): Promise<{ readonly bytes: number; readonly rest: Uint8Array | undefined }> {
    const none = new Uint8Array();
    if (count === state.count) return { bytes: state.bytes, rest: sub === 0 ? none : undefined };
    const id = head.segments.find(({ upTo }) => count < upTo)?.id ?? head.id;
    for await (const chunks of chunkPages(this.#get(), id, count)) {
      const chunk = chunks.find(({ n }) => n === count);
      if (!chunk) break;
      if (sub === 0) return { bytes: chunk.from, rest: none };
      const data = await dataOf(this.#get(), id, chunk);
      const isThere = isJson(head) || sub <= data.length;
      const rest = isJson(head) ? firstMessages(data, sub) : data.subarray(0, sub);
      return { bytes: chunk.from, rest: isThere ? rest : undefined };
    }
    return { bytes: 0, rest: undefined };
  }

  async release(from: ForkSource): Promise<StoredHead | null> {
    return this.#count(from, -1);
  }

  /** Changes the number of forks that a stream counts. */
  async #count({ path, id }: ForkSource, by: 1 | -1): Promise<StoredHead | null> {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await readHead(this.#get(), path);
      if (found?.head.id !== id) return null;
      const head = { ...found.head, forks: Math.max(0, found.head.forks + by) };
      const version = await writeHead(this.#get(), path, found.version, head);
      if (version !== null) return { head, version };
    }
    throw new HoldfastError("HF-6215", { stream: path });
  }
}

/** The part of a fork that is in its source itself, or in what the source was forked from. */
function lastSegment({ id, segments }: Head, count: number): Head["segments"] {
  if (count === 0) return [];
  const inherited = segments.find(({ upTo }) => count <= upTo);
  return [{ id: inherited?.id ?? id, upTo: count }];
}
