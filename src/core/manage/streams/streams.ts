import { checkKeys, keysOf } from "../../check-options.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import { readRun } from "../../journal/door.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { headsOf } from "../../journal/read.ts";
import { type StreamEvent, streamEvents } from "../../journal/stream-fold.ts";
import { checkNamed } from "../../names.ts";
import {
  parseCursor,
  type ReadStreamOptions,
  STREAM_START,
  type StreamPiece,
  type StreamPosition,
  streamCursor,
  unknownCursor,
} from "../../streams.ts";
import { ended, type RunRow } from "../../types.ts";

/** How often a run that another process advances is looked at by those who follow one of its streams. */
const LOOK_MS = 150;

/** Waits until a run is as `done` says. */
export type UntilRun = (runId: string, done: (row: RunRow) => boolean, roundMs: number) => Promise<RunRow>;

/** One of a run's streams. */
export interface RunStream {
  readonly name: string;
  /** The number of its items that count. */
  readonly items: number;
  readonly closed: boolean;
  readonly updatedAt: number;
}

/** What a reader finds at once: pieces, where the next ones begin, and whether there can be any. */
export interface StreamPart<T = unknown> {
  readonly pieces: readonly StreamPiece<T>[];
  readonly cursor: string;
  readonly closed: boolean;
}

/**
 * Streams that runs write with `ctx.stream`, from any process.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const engine = createEngine({ store: await openSqliteStore() });
 * const words: unknown[] = [];
 * for await (const piece of engine.streams.read("chat-1", "answer")) {
 *   if (piece.kind === "item") words.push(piece.value);
 *   else if (piece.kind === "restarted") words.length = piece.to;
 * }
 * ```
 */
export class RunStreams {
  readonly #parts: EngineParts;
  readonly #until: UntilRun;

  constructor(parts: EngineParts, until: UntilRun) {
    this.#parts = parts;
    this.#until = until;
  }

  /** The pieces of a stream in order, those to come included, until it is closed or its run has ended. */
  async *read<T = unknown>(
    runId: string,
    name: string,
    options: ReadStreamOptions = {},
  ): AsyncGenerator<StreamPiece<T>> {
    checkKeys(options, keysOf<ReadStreamOptions>({ from: true, follow: true, signal: true }));
    const { follow = true, signal } = options;
    let from = options.from;
    while (!signal?.aborted) {
      const { part, row } = await this.#part<T>(runId, name, from);
      yield* part.pieces;
      from = part.cursor;
      if (part.closed || !follow || (ended(row.status) && part.pieces.length === 0)) return;
      if (!ended(row.status)) await this.moved(runId, row.seq, signal);
    }
  }

  /** What there is now behind a cursor. */
  async part<T = unknown>(runId: string, name: string, from?: string): Promise<StreamPart<T>> {
    return (await this.#part<T>(runId, name, from)).part;
  }

  async #part<T>(
    runId: string,
    name: string,
    from: string | undefined,
  ): Promise<{ readonly part: StreamPart<T>; readonly row: RunRow }> {
    checkId(runId);
    checkNamed("stream", name);
    const start = from === undefined ? STREAM_START : parseCursor(name, from);
    const row = await readRun(this.#parts.store, runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    if (start.seq > row.seq) throw unknownCursor(name, from ?? "", "The run hasn't come that far.");
    const pieces: StreamPiece<T>[] = [];
    let [at, closed]: [StreamPosition, boolean] = [start, false];
    const range = { from: start.seq, upTo: row.seq };
    for await (const event of streamEvents(this.#parts.store, runId, name, range)) {
      const all = await this.#pieces<T>(runId, name, event);
      pieces.push(...all.slice(event.seq === start.seq ? start.skip : 0));
      at = { seq: event.seq, skip: all.length };
      closed ||= event.meta.closed === true;
    }
    return { part: { pieces, cursor: streamCursor(at), closed: closed || isOver(row) }, row };
  }

  async #pieces<T>(runId: string, name: string, event: StreamEvent): Promise<StreamPiece<T>[]> {
    const { seq, meta, data } = event;
    const pieces: StreamPiece<T>[] = [];
    const next = (): string => streamCursor({ seq, skip: pieces.length + 1 });
    if (event.dropped && meta.count > 0)
      throw new HoldfastError("HF-6205", { stream: name, cursor: streamCursor({ seq, skip: 0 }) });
    if (meta.restarted !== undefined)
      pieces.push({ kind: "restarted", to: meta.at, attempt: meta.restarted, cursor: next() });
    const values = data === undefined ? [] : ((await this.#parts.values.decode(runId, data)) as T[]);
    for (const [offset, value] of values.entries())
      pieces.push({ kind: "item", index: meta.at + offset, value, cursor: next() });
    if (meta.closed) pieces.push({ kind: "closed", cursor: next() });
    return pieces;
  }

  /** Resolves when the run has been written to since `seq`, has ended, or the signal is raised. */
  async moved(runId: string, seq: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    signal?.addEventListener("abort", stop, { once: true });
    const isDone = (row: RunRow): boolean => signal?.aborted === true || row.seq > seq || ended(row.status);
    try {
      await Promise.race([this.#until(runId, isDone, LOOK_MS), stopped]);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** The run's streams, in the order of their first items. */
  async list(runId: string): Promise<readonly RunStream[]> {
    checkId(runId);
    const { store } = this.#parts;
    const row = await readRun(store, runId);
    if (!row) throw new HoldfastError("HF-1001", { run: runId });
    const found = new Map<string, RunStream>();
    for await (const { events } of headsOf(store, runId, 1, row.seq))
      for (const { kind, meta, at } of events) {
        if (kind !== "stream_written") continue;
        const closed = meta.closed === true || found.get(meta.stream)?.closed === true || isOver(row);
        found.set(meta.stream, { name: meta.stream, items: meta.at + meta.count, closed, updatedAt: at });
      }
    return [...found.values()];
  }
}

/** A run that can't be resumed writes nothing more. */
const isOver = ({ status }: RunRow): boolean => status === "completed" || status === "cancelled";
