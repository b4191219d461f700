import { crc32 } from "node:zlib";
import type { RunRow, RunTags } from "../../core/types.ts";

/**
 * Runs are distributed over buckets by id. Everything in a bucket, its runs and the lists that name them, has one hash
 * tag and so lies in one cluster slot: one script changes a run and its lists together.
 */
export interface Layout {
  readonly prefix: string;
  readonly buckets: number;
}

/** The list of its bucket that a run is in: one per status, split by whether its values still exist. */
export const placeOf = ({ status, prunedAt }: Pick<RunRow, "status" | "prunedAt">): string =>
  place(status, prunedAt !== null);

export const place = (status: string, isPruned: boolean): string => `${status}.${isPruned ? 1 : 0}`;

export const metaKey = (prefix: string): string => `{${prefix}}meta`;

/** The documents of a kind: versions, texts, and their keys in order. All lie in the slot of the store's own key. */
export const documentKeys = (prefix: string, kind: string): readonly string[] =>
  ["versions", "texts", "keys"].map((part) => `{${prefix}}documents:${part}:${kind}`);

export interface Bucket {
  /** Holds the store's incarnation. If the mark is gone, so is the bucket's content. */
  readonly mark: string;
  /** All runs by age; then by list, by workflow, by both, and by parent. */
  readonly all: string;
  readonly at: (place: string) => string;
  readonly of: (workflow: string) => string;
  readonly ofAt: (workflow: string, place: string) => string;
  readonly under: (parent: string) => string;
  /** Those with a tag, such as a name or a label. */
  readonly tagged: (tag: string, value: string) => string;
  /** By lane: free runs by wake time, claimed runs by expiry, and both by wake time. */
  readonly wakes: (lane: string) => readonly [due: string, held: string, wake: string];
  /** The priorities besides 0 that runs of a workflow have had. */
  readonly levels: (workflow: string) => string;
  /** The row, the entries by position, their data, the blobs. */
  readonly run: (id: string) => readonly [row: string, log: string, data: string, blobs: string];
}

export function bucket(prefix: string, number: number): Bucket {
  const tag = `{${prefix}.${number}}`;
  return {
    mark: `${tag}mark`,
    all: `${tag}all`,
    at: (where) => `${tag}at:${where}`,
    of: (workflow) => `${tag}of:${workflow}`,
    ofAt: (workflow, where) => `${tag}at:${where}:${workflow}`,
    under: (parent) => `${tag}under:${parent}`,
    tagged: (kind, value) => `${tag}${kind}:${value}`,
    wakes: (lane) => [`${tag}due:${lane}`, `${tag}held:${lane}`, `${tag}wake:${lane}`],
    levels: (workflow) => `${tag}levels:${workflow}`,
    run: (id) => [`${tag}run:${id}`, `${tag}log:${id}`, `${tag}data:${id}`, `${tag}blobs:${id}`],
  };
}

/** Runs of one workflow and priority. No name holds the character between the two. */
export const laneOf = ({ workflow, priority }: Pick<RunRow, "workflow" | "priority">): string =>
  priority === 0 ? workflow : `${workflow}\n${priority}`;

/** The lists by tag that a run is in, for good. */
export const taggedLists = (bucket: Bucket, { name, queue, key, labels }: RunTags): readonly string[] => [
  ...(name === null ? [] : [bucket.tagged("name", name)]),
  ...(queue === null ? [] : [bucket.tagged("queue", queue)]),
  ...(key === null ? [] : [bucket.tagged("key", key)]),
  ...Object.entries(labels).map(([label, value]) => bucket.tagged("label", labelled(label, value))),
];

export const labelled = (label: string, value: string): string => `${label}\n${value}`;

export const bucketOf = ({ prefix, buckets }: Layout, runId: string): Bucket =>
  bucket(prefix, crc32(runId) % buckets);

export const allBuckets = ({ prefix, buckets }: Layout): readonly Bucket[] =>
  Array.from({ length: buckets }, (_, number) => bucket(prefix, number));
