import type { Clock } from "../../core/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { checkNamed } from "../../core/names.ts";
import { keepRecent } from "../../core/recent.ts";
import type { Store } from "../../core/store/contract.ts";
import type { Documents } from "../../core/store/documents.ts";
import { type Chunk, chunkPages, dataOf, deleteChunks, type Producer, writeChunk } from "./chunks.ts";
import { type ForkRequest, Forks } from "./forks.ts";
import {
  type Head,
  isExpired,
  isJson,
  listHeads,
  plainType,
  readHead,
  type StoredHead,
  writeHead,
} from "./heads.ts";
import { messagesIn } from "./json-mode.ts";
import type { KeptStream } from "./kept-stream.ts";
import { News } from "./news.ts";
import { applyChunk, judge, markOf, type ProducerVerdict, type StreamState, stateFrom } from "./state.ts";

/** The most states that are kept in memory. */
const MOST_STATES = 1_000;
/** How many appends lie between two marks in a head. */
const MARK_EVERY = 256;
/** How many streams one new stream looks at for their end. */
const SWEEP = 20;
const TRIES = 50;
const EMPTY = { count: 0, bytes: 0, producers: [] } as const;
const NOTHING = new Uint8Array();

export interface NewStream {
  readonly contentType: string | undefined;
  readonly ttl: number | null;
  readonly expiresAt: string | null;
  readonly closed: boolean;
  readonly body: Uint8Array;
  readonly fork: ForkRequest | null;
}

export interface NewData {
  readonly body: Uint8Array;
  readonly contentType: string | null;
  readonly closed: boolean;
  readonly producer: Producer | undefined;
  readonly seq: string | null;
}

/** What became of an append. */
export type Appended = { readonly stream: KeptStream } & (
  | { readonly is: "appended" | "closed" | "type" | "seq" }
  | Exclude<ProducerVerdict, { readonly is: "next" }>
);

/** Streams that clients create and write, kept in the store: those of the Durable Streams protocol. */
export class KeptStreams {
  readonly #store: Store;
  readonly #now: () => Promise<number>;
  readonly #states = new Map<string, StreamState>();
  /** Appends of this process to one stream happen one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #news: News;
  readonly #forks: Forks;
  #swept: string | undefined;

  constructor(store: Store, clock: Clock, now: () => Promise<number>) {
    this.#store = store;
    this.#now = now;
    this.#news = new News(clock);
    this.#forks = new Forks(() => this.#documents);
  }

  get #documents(): Documents {
    const { documents, name } = this.#store;
    if (!documents) throw new HoldfastError("HF-6011", { what: "streams", store: name });
    return documents;
  }

  /** The stream at a path (HF-6200, HF-6206). `touch`: this is a use of it, which moves its end. */
  async open(path: string, touch: boolean): Promise<KeptStream> {
    const found = await this.#find(path);
    if (!found) throw new HoldfastError("HF-6200", { stream: path });
    if (found.head.isDeleted) throw new HoldfastError("HF-6206", { stream: path });
    if (touch) await this.#touch(path, found);
    return { path, head: found.head, state: await this.#stateOf(found.head) };
  }

  async #find(path: string): Promise<StoredHead | null> {
    checkNamed("stream", path, 256);
    const found = await readHead(this.#documents, path);
    if (!found || found.head.isDeleted || !isExpired(found.head, await this.#now())) return found;
    return (await this.#remove(path, found)) ? null : readHead(this.#documents, path);
  }

  async #touch(path: string, { head, version }: StoredHead): Promise<void> {
    if (head.ttl === null) return;
    const now = await this.#now();
    // Somebody else who touches it at the same time does as well.
    if (now - head.touchedAt > Math.min(1_000, head.ttl * 50))
      await writeHead(this.#documents, path, version, { ...head, touchedAt: now });
  }

  /** What the stream's appends add up to, those of other processes included. */
  async #stateOf(head: Head): Promise<StreamState> {
    const state = this.#states.get(head.id) ?? stateFrom(head.mark);
    keepRecent(this.#states, head.id, state, MOST_STATES);
    if (state.closed) return state;
    for await (const chunks of chunkPages(this.#documents, head.id, state.count))
      for (const chunk of chunks) if (chunk.n >= state.count && !state.closed) applyChunk(state, chunk);
    return state;
  }

  /** Creates a stream, or finds the same one; `isNew` tells which. */
  async create(
    path: string,
    given: NewStream,
  ): Promise<{ readonly stream: KeptStream; readonly isNew: boolean }> {
    for (let tries = 0; tries < TRIES; tries++) {
      const known = await this.#find(path);
      if (known) return { stream: await this.#same(path, known, given), isNew: false };
      const stream = await this.#createNew(path, given);
      if (stream) return { stream, isNew: true };
    }
    throw new HoldfastError("HF-6215", { stream: path });
  }

  async #createNew(path: string, given: NewStream): Promise<KeptStream | null> {
    const now = await this.#now();
    const base: Head = {
      id: crypto.randomUUID(),
      contentType: given.contentType ?? "application/octet-stream",
      createdAt: now,
      ttl: given.ttl,
      expiresAt: given.expiresAt,
      touchedAt: now,
      from: null,
      segments: [],
      forks: 0,
      isDeleted: false,
      mark: EMPTY,
    };
    const fork = given.fork && (await this.#forks.begin(await this.#source(given.fork.path), base, given));
    const head = fork?.head ?? base;
    const bytes = isJson(head) && given.body.length > 0 ? joined(messagesIn(given.body)) : given.body;
    // Its first data is written before it is there, so that nobody sees it without.
    const state = stateFrom(head.mark);
    await this.#fill(head, state, fork?.rest ?? NOTHING, false);
    await this.#fill(head, state, bytes, given.closed);
    if (await writeHead(this.#documents, path, null, head)) {
      keepRecent(this.#states, head.id, state, MOST_STATES);
      await this.#sweep();
      return { path, head, state };
    }
    await deleteChunks(this.#documents, head.id);
    if (fork) await this.#release(head);
    return null;
  }

  async #source(path: string): Promise<KeptStream> {
    const found = await this.#find(path);
    if (!found) throw new HoldfastError("HF-6200", { stream: path });
    if (found.head.isDeleted) throw new HoldfastError("HF-6207", { stream: path, problem: "it is deleted" });
    return { path, head: found.head, state: await this.#stateOf(found.head) };
  }

  async #fill(head: Head, state: StreamState, bytes: Uint8Array, closed: boolean): Promise<void> {
    if (bytes.length === 0 && !closed) return;
    const chunk: Chunk = {
      n: state.count,
      from: state.bytes,
      size: bytes.length,
      ...(closed ? { closed: true as const } : {}),
    };
    await writeChunk(this.#documents, head.id, chunk, bytes);
    applyChunk(state, chunk);
  }

  /** The stream that is there already, if it is what was asked for (HF-6207). */
  async #same(path: string, { head }: StoredHead, given: NewStream): Promise<KeptStream> {
    const stream: KeptStream = { path, head, state: await this.#stateOf(head) };
    const { fork } = given;
    const type = given.contentType ?? (fork ? head.contentType : "application/octet-stream");
    const isFork =
      (fork?.path ?? null) === (head.from?.path ?? null) &&
      (fork?.offset === undefined || fork.offset === head.from?.offset) &&
      (fork?.sub ?? 0) === (head.from?.sub ?? 0);
    const problems = [
      head.isDeleted && "it is deleted",
      plainType(type) !== plainType(head.contentType) && `its type is ${head.contentType}`,
      !endsAlike(head, given) && "it ends at another time",
      given.closed !== stream.state.closed && (stream.state.closed ? "it is closed" : "it is open"),
      !isFork && "it has another source",
    ].filter((problem) => problem !== false);
    if (problems[0] !== undefined) throw new HoldfastError("HF-6207", { stream: path, problem: problems[0] });
    return stream;
  }

  /** Appends data, closes the stream, or both, exactly once if a producer says which append it is. */
  append(path: string, given: NewData): Promise<Appended> {
    const turn = (this.#turns.get(path) ?? Promise.resolve()).then(() => this.#append(path, given));
    const settled = turn.catch(() => undefined);
    this.#turns.set(path, settled);
    return turn.finally(() => {
      if (this.#turns.get(path) === settled) this.#turns.delete(path);
    });
  }

  async #append(path: string, given: NewData): Promise<Appended> {
    for (let tries = 0; tries < TRIES; tries++) {
      const stream = await this.open(path, true);
      const { head, state } = stream;
      const refused = refusal(stream, given);
      if (refused) return refused;
      const bytes = dataToKeep(stream, given);
      const chunk: Chunk = {
        n: state.count,
        from: state.bytes,
        size: bytes.length,
        ...(given.closed ? { closed: true as const } : {}),
        ...(given.producer ? { producer: given.producer } : {}),
        ...(given.seq === null ? {} : { seq: given.seq }),
      };
      if (!(await writeChunk(this.#documents, head.id, chunk, bytes))) continue;
      applyChunk(state, chunk);
      this.#news.tell(head.id);
      if (state.count > 0 && state.count % MARK_EVERY === 0) await this.#mark(path, head.id, state);
      return { stream, is: "appended" };
    }
    throw new HoldfastError("HF-6215", { stream: path });
  }

  async #mark(path: string, id: string, state: StreamState): Promise<void> {
    const found = await readHead(this.#documents, path);
    if (found?.head.id === id && !state.closed)
      await writeHead(this.#documents, path, found.version, { ...found.head, mark: markOf(state) });
  }

  /** The data from a chunk on: as many chunks as fit, and at least one. */
  async read({ head, state }: KeptStream, from: number, most: number): Promise<readonly Uint8Array[]> {
    const found: Uint8Array[] = [];
    let size = 0;
    for (let n = from; n < state.count; ) {
      const segment = head.segments.find(({ upTo }) => n < upTo);
      const id = segment?.id ?? head.id;
      const end = Math.min(segment?.upTo ?? state.count, state.count);
      const before = n;
      for await (const chunks of chunkPages(this.#documents, id, n)) {
        for (const chunk of chunks.filter((one) => one.n < end && one.size > 0)) {
          found.push(await dataOf(this.#documents, id, chunk));
          size += chunk.size;
          n = chunk.n + 1;
          if (size >= most) return found;
        }
        if (n >= end) break;
      }
      if (n === before) break;
    }
    return found;
  }

  /** Resolves when there is more than `count`, the stream is closed or gone, or the signal is raised. */
  async moved({ path, head: { id } }: KeptStream, count: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wait = this.#news.next(id, signal);
      const found = await this.#find(path);
      const state = found?.head.id === id && !found.head.isDeleted ? await this.#stateOf(found.head) : null;
      if (!state || state.count > count || state.closed) return wait.cancel();
      await wait.done;
    }
  }

  /** Deletes a stream. One that others were forked from keeps its data until they are deleted. */
  async delete(path: string): Promise<void> {
    for (let tries = 0; tries < TRIES; tries++) {
      const found = await this.#find(path);
      if (!found) throw new HoldfastError("HF-6200", { stream: path });
      if (found.head.isDeleted) throw new HoldfastError("HF-6206", { stream: path });
      if (await this.#remove(path, found)) return;
      if ((await readHead(this.#documents, path))?.head.isDeleted) return;
    }
    throw new HoldfastError("HF-6215", { stream: path });
  }

  /** True when nothing is left of it; a stream with forks is only marked. */
  async #remove(path: string, { head, version }: StoredHead): Promise<boolean> {
    const documents = this.#documents;
    if (head.forks > 0) {
      await writeHead(documents, path, version, { ...head, isDeleted: true });
      return false;
    }
    if (!(await writeHead(documents, path, version, null))) return false;
    this.#states.delete(head.id);
    await deleteChunks(documents, head.id);
    this.#news.tell(head.id);
    await this.#release(head);
    return true;
  }

  /** A stream that needed the data of another one doesn't any more. */
  async #release({ from }: Head): Promise<void> {
    if (!from) return;
    const left = await this.#forks.release(from);
    if (left?.head.isDeleted && left.head.forks === 0) await this.#remove(from.path, left);
  }

  /** Looks at some streams for their end, so that those that nobody asks for go too. */
  async #sweep(): Promise<void> {
    const now = await this.#now();
    const some = await listHeads(this.#documents, this.#swept, SWEEP);
    this.#swept = some.length < SWEEP ? undefined : some.at(-1)?.path;
    for (const { path, head, version } of some)
      if (!head.isDeleted && isExpired(head, now)) await this.#remove(path, { head, version });
  }
}

const joined = (messages: readonly string[]): Uint8Array => Buffer.from(messages.join(","));

/** A fork that names no end has that of its source. */
function endsAlike(head: Head, { ttl, expiresAt, fork }: NewStream): boolean {
  if (fork && ttl === null && expiresAt === null) return true;
  return ttl === head.ttl && expiresAt === head.expiresAt;
}

/** Why an append isn't made, if so. A closed stream is named first, so that its writer learns of it. */
function refusal(
  stream: KeptStream,
  { body, contentType, producer, seq, closed }: NewData,
): Appended | undefined {
  const { head, state } = stream;
  if (state.closed) {
    const { closedBy } = state;
    const isAgain =
      producer &&
      closedBy?.id === producer.id &&
      closedBy.epoch === producer.epoch &&
      closedBy.seq === producer.seq;
    if (isAgain) return { stream, is: "duplicate", lastSeq: producer.seq };
    return { stream, is: body.length === 0 && closed && !producer ? "appended" : "closed" };
  }
  if (body.length > 0 && plainType(contentType ?? "") !== plainType(head.contentType))
    return { stream, is: "type" };
  const verdict = producer && judge(state, producer);
  if (verdict && verdict.is !== "next") return { stream, ...verdict };
  if (seq !== null && state.lastSeq !== undefined && seq <= state.lastSeq) return { stream, is: "seq" };
  return undefined;
}

function dataToKeep({ path, head }: KeptStream, { body }: NewData): Uint8Array {
  if (body.length === 0 || !isJson(head)) return body;
  const messages = messagesIn(body);
  if (messages.length === 0) throw new HoldfastError("HF-6212", { stream: path });
  return joined(messages);
}
