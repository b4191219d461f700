import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { StreamPart } from "../../core/manage/streams/streams.ts";
import { type StreamPiece, streamCursor, unknownCursor } from "../../core/streams.ts";
import { ended } from "../../core/types.ts";
import { isJson, plainType } from "./heads.ts";
import type { KeptStream } from "./kept-stream.ts";
import type { KeptStreams } from "./kept-streams.ts";
import { chunkAt, offsetOf } from "./state.ts";

/** The most bytes of one answer; a single append may have more. */
const MOST_BYTES = 1024 * 1024;

/** What a reader is told about a stream. */
export interface StreamInfo {
  /** Tells this stream from others, for caches. */
  readonly id: string;
  readonly contentType: string;
  readonly tail: string;
  readonly closed: boolean;
  readonly ttl?: number | null;
  readonly expiresAt?: string | null;
}

/** Data behind an offset. */
export interface StreamSlice {
  /** Appends one by one; those of a JSON stream are messages with commas between them. */
  readonly parts: readonly Uint8Array[];
  readonly next: string;
  readonly isUpToDate: boolean;
  /** Nothing follows, ever. */
  readonly closed: boolean;
}

/** A stream that can be read: of a run, or kept by clients. */
export interface StreamSource {
  /** `touch`: somebody reads it, which moves its end. */
  info(touch: boolean): Promise<StreamInfo>;
  /** What is behind an offset; without one, from the beginning. */
  read(offset: string | undefined): Promise<StreamSlice>;
  /** Resolves when there may be more behind `offset`, or the signal is raised. */
  moved(offset: string, signal: AbortSignal): Promise<void>;
}

export const isJsonType = (contentType: string): boolean => isJson({ contentType });

/** True for data that can be told as text. */
export const isText = (contentType: string): boolean =>
  isJsonType(contentType) || plainType(contentType).startsWith("text/");

/** Appends as one body. */
export function wholeBody(contentType: string, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  if (!isJsonType(contentType)) return new Uint8Array(Buffer.concat(parts));
  const messages = parts.map((part) => Buffer.from(part).toString("utf8"));
  return new Uint8Array(Buffer.from(`[${messages.join(",")}]`));
}

/** A stream that clients keep. */
export function keptSource(streams: KeptStreams, path: string): StreamSource {
  const at = (stream: KeptStream, offset: string | undefined): number => {
    const n = offset === undefined ? 0 : chunkAt(offset);
    if (n === undefined) throw unknownCursor(path, offset ?? "", "It isn't one that a reader was given.");
    if (offset !== undefined && offset > offsetOf(stream.state))
      throw unknownCursor(path, offset, "The stream hasn't come that far.");
    return n;
  };
  return {
    async info(touch) {
      const { head, state } = await streams.open(path, touch);
      const { id, contentType, ttl, expiresAt } = head;
      return { id, contentType, ttl, expiresAt, tail: offsetOf(state), closed: state.closed };
    },
    async read(offset) {
      const found = await streams.open(path, false);
      // What is appended meanwhile belongs to the next answer.
      const stream = { ...found, state: { ...found.state } };
      const from = at(stream, offset);
      const parts = await streams.read(stream, from, MOST_BYTES);
      const count = from + parts.length;
      const isUpToDate = count >= stream.state.count;
      const bytes = isUpToDate
        ? stream.state.bytes
        : sizeOf(offset) + parts.reduce((sum, { length }) => sum + length, 0);
      const next = isUpToDate ? offsetOf(stream.state) : offsetOf({ count, bytes });
      return { parts, next, isUpToDate, closed: isUpToDate && stream.state.closed };
    },
    async moved(offset, signal) {
      const stream = await streams.open(path, false);
      await streams.moved(stream, at(stream, offset), signal);
    },
  };
}

const sizeOf = (offset: string | undefined): number => Number(offset?.split("_")[1] ?? 0);

/** A stream of a run, as JSON. A part that is void is told of by a message of its own. */
export function runSource(engine: Engine, runId: string, name: string): StreamSource {
  const part = async (from: string | undefined): Promise<StreamPart> => {
    const found = await engine.streams.part(runId, name, from);
    const isMissing = from === undefined && found.closed && found.pieces.length === 0;
    if (isMissing) throw new HoldfastError("HF-6200", { stream: name });
    return found;
  };
  return {
    async info() {
      const { cursor, closed } = await part(undefined);
      return { id: `${runId}/${name}`, contentType: "application/json", tail: cursor, closed };
    },
    async read(offset) {
      const { pieces, cursor, closed } = await part(offset === START ? undefined : offset);
      const parts = pieces.flatMap((piece) => messageOf(piece) ?? []);
      return { parts, next: cursor, isUpToDate: true, closed };
    },
    async moved(offset, signal) {
      while (!signal.aborted) {
        const run = await engine.get(runId);
        if (!run) throw new HoldfastError("HF-1001", { run: runId });
        const { cursor, closed } = await part(offset === START ? undefined : offset);
        if (cursor !== offset || closed) return;
        if (ended(run.status)) return untilRaised(signal);
        await engine.streams.moved(runId, run.seq, signal);
      }
    },
  };
}

const START = streamCursor({ seq: 0, skip: 0 });

/** A failed run may be resumed, so its stream stays open. */
const untilRaised = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function messageOf(piece: StreamPiece): Uint8Array | undefined {
  if (piece.kind === "closed") return undefined;
  if (piece.kind === "item") return Buffer.from(JSON.stringify(piece.value ?? null));
  const { to, attempt } = piece;
  return Buffer.from(JSON.stringify({ type: "data-restarted", transient: true, data: { to, attempt } }));
}
