import type { Documents, DocumentWrite } from "../../core/store/documents.ts";

/**
 * The data of streams that clients keep in a store, as documents. An append is one document that may only be created, so
 * of two writers at the same place one is refused, and everything that belongs to an append is written or not. Longer
 * data is split into parts that are written before.
 */
const CHUNK = "stream-chunk";
const PART = "stream-part";
const DIGITS = 16;
/** Fits into a document, encoded and sealed. */
const PART_BYTES = 96 * 1024;
const PAGE = 50;

/** Somebody who appends exactly once: numbered appends within an epoch. */
export interface Producer {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

/** One append. */
export interface Chunk {
  readonly n: number;
  /** The bytes of the stream before it, and its own. */
  readonly from: number;
  readonly size: number;
  readonly closed?: true;
  readonly producer?: Producer;
  readonly seq?: string;
  /** In base64, unless it has parts. */
  readonly data?: string;
  readonly parts?: { readonly id: string; readonly count: number };
}

export const place = (n: number): string => String(n).padStart(DIGITS, "0");

const keyOf = (id: string, n: number): string => `${id}/${place(n)}`;
const partKey = (id: string, part: string, index: number): string => `${id}/${part}/${place(index)}`;

/** Writes a chunk at its place; false when there is one already. */
export async function writeChunk(
  documents: Documents,
  id: string,
  chunk: Omit<Chunk, "data" | "parts">,
  bytes: Uint8Array,
): Promise<boolean> {
  const whole = await withData(documents, id, chunk, bytes);
  const [isWritten] = await documents.write([put(CHUNK, keyOf(id, chunk.n), whole)]);
  if (!isWritten && whole.parts) await deleteParts(documents, id, whole.parts);
  return isWritten === true;
}

async function withData(
  documents: Documents,
  id: string,
  chunk: Omit<Chunk, "data" | "parts">,
  bytes: Uint8Array,
): Promise<Chunk> {
  if (bytes.length === 0) return chunk;
  if (bytes.length <= PART_BYTES) return { ...chunk, data: Buffer.from(bytes).toString("base64") };
  const parts = { id: crypto.randomUUID(), count: Math.ceil(bytes.length / PART_BYTES) };
  for (let index = 0; index < parts.count; index++) {
    const data = Buffer.from(bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES)).toString("base64");
    await documents.write([put(PART, partKey(id, parts.id, index), { data })]);
  }
  return { ...chunk, parts };
}

const put = (kind: string, key: string, value: object): DocumentWrite => ({
  kind,
  key,
  expect: null,
  put: { version: crypto.randomUUID(), value: JSON.stringify(value) },
});

/** Chunks in order, from one on, page by page. */
export async function* chunkPages(
  documents: Documents,
  id: string,
  from: number,
): AsyncGenerator<readonly Chunk[]> {
  for (let after = from === 0 ? `${id}/` : keyOf(id, from - 1); ; ) {
    const found = await documents.list(CHUNK, { after, limit: PAGE });
    const own = found.filter(({ key }) => key.startsWith(`${id}/`));
    if (own.length > 0) yield own.map(({ value }) => JSON.parse(value) as Chunk);
    if (own.length < PAGE) return;
    after = own.at(-1)?.key ?? after;
  }
}

/** The data of a chunk. */
export async function dataOf(documents: Documents, id: string, { data, parts }: Chunk): Promise<Uint8Array> {
  if (!parts) return Buffer.from(data ?? "", "base64");
  const found: Buffer[] = [];
  for (let index = 0; index < parts.count; index++) {
    const part = await documents.read(PART, partKey(id, parts.id, index));
    // A part that is missing belongs to a stream that is being deleted.
    if (part) found.push(Buffer.from((JSON.parse(part.value) as { data: string }).data, "base64"));
  }
  return Buffer.concat(found);
}

/** Deletes all chunks of a stream. */
export async function deleteChunks(documents: Documents, id: string): Promise<void> {
  for (;;) {
    const found = await documents.list(CHUNK, { after: `${id}/`, limit: PAGE });
    const own = found.filter(({ key }) => key.startsWith(`${id}/`));
    if (own.length === 0) return;
    for (const { value } of own) {
      const { parts } = JSON.parse(value) as Chunk;
      if (parts) await deleteParts(documents, id, parts);
    }
    await documents.write(own.map(({ key, version }) => ({ kind: CHUNK, key, expect: version, put: null })));
  }
}

async function deleteParts(documents: Documents, id: string, parts: Chunk["parts"] & object): Promise<void> {
  for (let index = 0; index < parts.count; index++) {
    const key = partKey(id, parts.id, index);
    const part = await documents.read(PART, key);
    if (part) await documents.write([{ kind: PART, key, expect: part.version, put: null }]);
  }
}
