import { createHash } from "node:crypto";
import type { PagePosition } from "../../core/store/query.ts";
import type { RunStatus } from "../../core/types.ts";
import type { Item } from "./service.ts";

/**
 * Everything that belongs to a run has one partition key, so that it is read consistently and written in one
 * transaction:
 *
 *   run#<id>  row                                  identity, projection, claim, position, head
 *             entry#<seq>                          one entry of the journal
 *             blob#<hash>                          one long value
 *             part#<sort key>#<field>#<n>          a piece of a text that is too long for its item
 *             child#<age>                          one child; under the parent, so that its list is never behind
 *             staged#<seq>#<operation>#<n>         what an append that is too large for one transaction will write
 *   meta      meta                                 who the store is, and its schema version
 *   documents#<kind>  <key>                        one document that belongs to the store
 */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

export const META: Key = { pk: "meta", sk: "meta" };
export const ROW = "row";
export const CHILD = "child#";

/**
 * The number of partitions that each list is spread over. Part of the schema: it never changes for an existing table.
 */
const SHARDS = 4;

export const documentKey = (kind: string, key: string): Key => ({ pk: `documents#${kind}`, sk: key });
export const runKey = (id: string): string => `run#${id}`;
export const rowKey = (id: string): Key => ({ pk: runKey(id), sk: ROW });
export const entryKey = (seq: number): string => `entry#${padded(seq)}`;
export const blobKey = (hash: string): string => `blob#${hash}`;
export const partKey = (sk: string, field: string, n: number): string => `part#${sk}#${field}#${padded(n)}`;
export const stagedKey = (operation: string, n: number): string => `staged#${operation}#${padded(n)}`;
/** The operation that writes from position `seq` on. `name` is new each time. */
export const operationAt = (seq: number, name: string): string => `${padded(seq)}#${name}`;
/** The range of sort keys staged for positions up to `seq`. */
export const stagedUpTo = (seq: number): readonly [string, string] => ["staged#", `staged#${padded(seq)}$`];

export const toItem = ({ pk, sk }: Key): Item => ({ pk: { S: pk }, sk: { S: sk } });
export const idOf = (pk: string): string => pk.slice("run#".length);

/** Positions are whole numbers of at most 16 digits. */
const padded = (n: number): string => String(n).padStart(16, "0");

/** A text that sorts like the number, for every number. */
export function sortable(n: number): string {
  const bytes = new DataView(new ArrayBuffer(8));
  // Maps -0 to 0.
  bytes.setFloat64(0, n === 0 ? 0 : n);
  const bits = bytes.getBigUint64(0);
  const flipped = bits >> 63n === 0n ? bits | (1n << 63n) : ~bits & 0xffff_ffff_ffff_ffffn;
  return flipped.toString(16).padStart(16, "0");
}

/** The order of lists: by age, then by id. */
export const ageKey = ({ createdAt, id }: PagePosition): string => `${sortable(createdAt)}#${id}`;
/** The order of due runs of one priority: by wake time, then by id. */
export const wakeKey = (wakeAt: number, id: string, priority: number): string =>
  `${levelKey(priority)}${sortable(wakeAt)}#${id}`;
/** The range of runs of this priority that are due. */
export const wokenBy = (now: number, priority: number): readonly [string, string] => [
  `${levelKey(priority)}${LOWEST}`,
  `${levelKey(priority)}${sortable(now)}#~`,
];
/** What the keys of a priority begin with: nothing for 0, and otherwise what sorts after all of those. */
const levelKey = (priority: number): string => (priority === 0 ? "" : `p${sortable(priority)}#`);
/** The priority that a key other than of priority 0 names. */
export function levelOf(wake: string): number {
  const bits = BigInt(`0x${wake.slice(1, 17)}`);
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, bits >> 63n === 1n ? bits & 0x7fff_ffff_ffff_ffffn : ~bits & 0xffff_ffff_ffff_ffffn);
  return bytes.getFloat64(0);
}
/** The range of keys of all priorities but 0 that are below this one. */
export const levelsBelow = (priority: number): readonly [string, string] => [
  "p",
  priority === Infinity ? "q" : levelKey(priority),
];
/** Sorts before and after everything that `sortable` returns. */
export const [LOWEST, HIGHEST] = ["0", "g"];

function shardOf(id: string): number {
  let hash = 7;
  for (let i = 0; i < id.length; i++) hash = (hash * 31 + id.charCodeAt(i)) >>> 0;
  return hash % SHARDS;
}

const inShard = (what: string, shard: number): string => `${what}#${shard}`;
const inShards = (what: string): string[] =>
  Array.from({ length: SHARDS }, (_, shard) => inShard(what, shard));

/** A key holds up to 2,048 bytes. Two workflows with the same shortened name are told apart by their rows. */
const named = (workflow: string): string =>
  Buffer.byteLength(workflow) <= 1000 ? workflow : createHash("sha256").update(workflow).digest("hex");

const stated = (status: RunStatus, pruned: boolean): string => `${status}#${pruned ? "pruned" : "whole"}`;

/** The partitions that list the run. */
export const shardsOf = (id: string) => ({
  all: inShard("runs", shardOf(id)),
  ofWorkflow: (workflow: string) => inShard(named(workflow), shardOf(id)),
  ofStatus: (status: RunStatus, pruned: boolean) => inShard(stated(status, pruned), shardOf(id)),
});

/** The partitions to query for a list. */
export const listShards = {
  all: () => inShards("runs"),
  ofWorkflow: (workflow: string) => inShards(named(workflow)),
  ofStatus: (status: RunStatus, pruned: boolean) => inShards(stated(status, pruned)),
};
