import { type Chunk, place } from "./chunks.ts";

/** What the appends of a stream add up to. */
export interface StreamState {
  /** The number of appends with data. */
  count: number;
  bytes: number;
  closed: boolean;
  closedBy: Chunk["producer"] | undefined;
  readonly producers: Map<string, { readonly epoch: number; readonly seq: number }>;
  lastSeq: string | undefined;
}

/** A state as it is written down. */
export interface StreamMark {
  readonly count: number;
  readonly bytes: number;
  readonly producers: readonly (readonly [string, { readonly epoch: number; readonly seq: number }])[];
  readonly lastSeq?: string;
}

export const stateFrom = ({ count, bytes, producers, lastSeq }: StreamMark): StreamState => ({
  count,
  bytes,
  closed: false,
  closedBy: undefined,
  producers: new Map(producers),
  lastSeq,
});

export const markOf = ({ count, bytes, producers, lastSeq }: StreamState): StreamMark => ({
  count,
  bytes,
  producers: [...producers],
  ...(lastSeq === undefined ? {} : { lastSeq }),
});

export function applyChunk(state: StreamState, { n, from, size, closed, producer, seq }: Chunk): void {
  if (size > 0) {
    state.count = n + 1;
    state.bytes = from + size;
  }
  if (producer) state.producers.set(producer.id, { epoch: producer.epoch, seq: producer.seq });
  if (seq !== undefined) state.lastSeq = seq;
  if (!closed) return;
  state.closed = true;
  state.closedBy = producer;
}

/** The place of a stream's end, as text that sorts like the places. */
export const offsetOf = ({ count, bytes }: Pick<StreamState, "count" | "bytes">): string =>
  `${place(count)}_${place(bytes)}`;

const OFFSET = /^(\d{16})_\d{16}$/;

/** The number of the chunk at an offset; `undefined` for what isn't one. */
export function chunkAt(offset: string): number | undefined {
  const [, n] = OFFSET.exec(offset) ?? [];
  return n === undefined ? undefined : Number(n);
}

/** How a producer's append relates to what it has appended before. */
export type ProducerVerdict =
  | { readonly is: "next" }
  | { readonly is: "duplicate"; readonly lastSeq: number }
  | { readonly is: "stale"; readonly epoch: number }
  | { readonly is: "gap"; readonly expected: number }
  | { readonly is: "unbegun" };

export function judge(
  { producers }: StreamState,
  { id, epoch, seq }: Chunk["producer"] & object,
): ProducerVerdict {
  const known = producers.get(id);
  if (!known) return seq === 0 ? { is: "next" } : { is: "gap", expected: 0 };
  if (epoch < known.epoch) return { is: "stale", epoch: known.epoch };
  if (epoch > known.epoch) return seq === 0 ? { is: "next" } : { is: "unbegun" };
  if (seq <= known.seq) return { is: "duplicate", lastSeq: known.seq };
  return seq === known.seq + 1 ? { is: "next" } : { is: "gap", expected: known.seq + 1 };
}
