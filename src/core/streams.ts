import { checkKeys, checkWhole, keysOf } from "./check-options.ts";
import { HoldfastError } from "./errors.ts";

/** How a stream is saved. */
export interface StreamOptions {
  /** How long items are collected before they are written together. Default 100 ms. */
  readonly everyMs?: number;
  /** Items of this size are written without waiting any longer. Default 16 KiB. */
  readonly bytes?: number;
}

/**
 * Writes a stream of a run: tokens of an answer, lines of a log, progress. Items are numbered and part of the run's
 * journal, so readers in any process follow them and continue where they stopped.
 */
export interface StreamWriter<T = unknown> {
  readonly name: string;
  /** Adds an item. Resolves when there is room for more, which is mostly at once. */
  append(item: T): Promise<void>;
  /** Waits until everything so far is durable. */
  flush(): Promise<void>;
  /** Ends the stream for good, and waits until that is durable. */
  close(): Promise<void>;
}

/** What a reader of a stream gets. `cursor`: read from here to get what follows. */
export type StreamPiece<T = unknown> =
  | { readonly kind: "item"; readonly index: number; readonly value: T; readonly cursor: string }
  /** What had the number `to` and later ones is void: drop it. `attempt` writes it anew. */
  | { readonly kind: "restarted"; readonly to: number; readonly attempt: number; readonly cursor: string }
  /** Nothing follows, ever. */
  | { readonly kind: "closed"; readonly cursor: string };

/** Where a stream of a run is read from, and whether the reader waits for more. */
export interface ReadStreamOptions {
  /** The cursor of the last piece that was seen. Default: the beginning. */
  readonly from?: string;
  /** `false` ends with what there is now. Default: waits until the stream is closed or its run has ended. */
  readonly follow?: boolean;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

const EVERY_MS = 100;
const BYTES = 16_384;

/** The options of a stream, checked. */
export function streamOptions(options: StreamOptions = {}): Required<StreamOptions> {
  checkKeys(options, keysOf<StreamOptions>({ everyMs: true, bytes: true }));
  return {
    everyMs: checkWhole("everyMs", options.everyMs ?? EVERY_MS, 1, 60_000),
    bytes: checkWhole("bytes", options.bytes ?? BYTES, 1, 1_000_000),
  };
}

/** A position in a stream of a run: behind `skip` pieces of the event at `seq`. */
export interface StreamPosition {
  readonly seq: number;
  readonly skip: number;
}

export const STREAM_START: StreamPosition = { seq: 0, skip: 0 };

/** As text that sorts like the positions. */
export const streamCursor = ({ seq, skip }: StreamPosition): string =>
  `${String(seq).padStart(SEQ, "0")}_${String(skip).padStart(SKIP, "0")}`;

const SEQ = 12;
const SKIP = 8;
const CURSOR = /^(\d{12})_(\d{8})$/;

/** Refuses what isn't a cursor (HF-6201). */
export function parseCursor(stream: string, cursor: unknown): StreamPosition {
  const [, seq, skip] = (typeof cursor === "string" && CURSOR.exec(cursor)) || [];
  if (seq === undefined || skip === undefined)
    throw unknownCursor(stream, String(cursor).slice(0, 80), "It isn't one that a reader was given.");
  return { seq: Number(seq), skip: Number(skip) };
}

export const unknownCursor = (stream: string, cursor: string, problem: string): HoldfastError =>
  new HoldfastError("HF-6201", { stream, cursor, problem });
