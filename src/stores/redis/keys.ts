import { crc32 } from "node:zlib";
import type { RunRow } from "../../core/types.ts";

/**
 * Runs are dealt out to buckets by their id. Everything of a bucket, its runs as well as the lists they stand in, has
 * one hash tag and so lies in one slot of a cluster: one script changes a run and its places in the lists, or nothing.
 */
export interface Layout {
  readonly prefix: string;
  readonly buckets: number;
}

/** Which list of its bucket a run stands in: one for each status, apart by whether its values are still there. */
export const placeOf = ({ status, prunedAt }: Pick<RunRow, "status" | "prunedAt">): string =>
  place(status, prunedAt !== null);

export const place = (status: string, isPruned: boolean): string => `${status}.${isPruned ? 1 : 0}`;

export const metaKey = (prefix: string): string => `{${prefix}}meta`;

export interface Bucket {
  /** Holds the store's incarnation; where it is gone, so is what the bucket held. */
  readonly mark: string;
  /** All runs by age; all of one place, of one workflow, of both, of one parent. */
  readonly all: string;
  readonly at: (place: string) => string;
  readonly of: (workflow: string) => string;
  readonly ofAt: (workflow: string, place: string) => string;
  readonly under: (parent: string) => string;
  /** By workflow: free runs by wake time, claimed runs by expiry, and both by wake time. */
  readonly wakes: (workflow: string) => readonly [due: string, held: string, wake: string];
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
    wakes: (workflow) => [`${tag}due:${workflow}`, `${tag}held:${workflow}`, `${tag}wake:${workflow}`],
    run: (id) => [`${tag}run:${id}`, `${tag}log:${id}`, `${tag}data:${id}`, `${tag}blobs:${id}`],
  };
}

export const bucketOf = ({ prefix, buckets }: Layout, runId: string): Bucket =>
  bucket(prefix, crc32(runId) % buckets);

export const allBuckets = ({ prefix, buckets }: Layout): readonly Bucket[] =>
  Array.from({ length: buckets }, (_, number) => bucket(prefix, number));
