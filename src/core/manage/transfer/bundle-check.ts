import { HoldfastError } from "../../errors.ts";
import { digest } from "../../hash.ts";
import { checkId } from "../../ids.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { damaged, parseEntry } from "../../journal/journal.ts";
import { headEvents } from "../../journal/read.ts";
import { Values } from "../../journal/values.ts";
import { checkNamed } from "../../names.ts";
import type { Ports } from "../../ports.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { checkTags, identityOf, NO_TAGS, tagMeta, tagsIn } from "../../tags.ts";
import type { RunIdentity, RunProjection, RunRow } from "../../types.ts";
import { SEALED_ROOT } from "../../values/blind.ts";
import { encode } from "../../values/codec.ts";
import { ParseBudget } from "../../values/parse-budget.ts";
import { validateRun } from "../checkpoints/validate.ts";
import { type BundledRow, type BundledRun, refusedBundle } from "./bundle.ts";
import { Blobs } from "./copy.ts";
import { measureJson } from "./measure-json.ts";

/** A run that matches its journal, ready to be created. */
export interface CheckedRun {
  readonly run: BundledRun;
  readonly row: RunRow;
  readonly relatives: Relatives;
}

/** A run's relations to others. */
export interface Relatives {
  readonly origin: string | null;
  /** All runs that it started itself, and those of them that haven't reported back. */
  readonly children: ReadonlySet<string>;
  readonly open: ReadonlySet<string>;
}

/**
 * Checks everything that can be checked of a foreign run: the chain, every value and blob, and that its row matches its
 * events.
 */
export async function checkRun(bundled: BundledRun, { logger }: Ports): Promise<CheckedRun> {
  // Bundles of earlier versions have no tags.
  const run: BundledRun = { ...bundled, row: { ...NO_TAGS, ...bundled.row } };
  const { row } = run;
  try {
    checkId(row.id);
    if (row.id === SEALED_ROOT)
      throw damaged(row.id, 0, "This id is kept for the key of an encrypted store.");
    measure(run);
    const events = run.entries.flatMap((entry) => headEvents(row.id, entry));
    checkIdentity(row, events);
    checkHeaders(events);
    checkTags(tagMeta(row));
    for (const [hash, data] of run.blobs)
      if (digest(data) !== hash) throw damaged(row.id, 0, `Blob ${hash} is changed.`);
    const epoch = lastEpoch(row.id, events);
    const whole: RunRow = { ...inOrder(row), claim: { epoch, owner: null, token: null, until: 0 } };
    const store = readOnly(run, whole);
    const values = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, logger);
    const { problems } = await validateRun({ store, values }, whole, Infinity);
    const [first] = problems;
    if (first) throw damaged(row.id, first.seq, first.problem);
    await checkBlobs(run, store);
    return { run, row: whole, relatives: relativesOf(row.origin, events) };
  } catch (error) {
    const why = HoldfastError.is(error) ? `${error.message} ${error.why}` : "Its journal cannot be read.";
    throw refusedBundle(`contains a run that isn't as it was written: ${why}`, error);
  }
}

/** Fields of heads that hold names. Step addresses consist of several. */
const NAMES = [
  "workflow",
  "version",
  "owner",
  "name",
  "label",
  "queue",
  "key",
  "trigger",
  "model",
  "agent",
  "id",
] as const;

/** Names get the same check as where they are given, so that a bundle can't bring in an impossible one. */
function checkHeaders(events: readonly JournalEvent[]): void {
  for (const { step, actor, meta } of events) {
    if (step !== "") checkNamed("step", step, MOST_IN_ADDRESS);
    if (actor) checkNamed("actor", actor, 200);
    for (const key of NAMES) {
      const value: unknown = (meta as Readonly<Record<string, unknown>>)[key];
      if (value) checkNamed(key, value, 256);
    }
  }
}

const MOST_IN_ADDRESS = 4_096;

/** The first event repeats a run's identity; only its place in lists is vouched for by the digest alone. */
function checkIdentity(row: BundledRow, [created]: readonly JournalEvent[]): void {
  if (created?.kind !== "run_created") throw damaged(row.id, 1, "It does not begin with its creation.");
  const { workflow, lineage, parent = null, origin = null } = created.meta;
  const said = { id: lineage, workflow, lineage, parent, origin, ...tagsIn(created.meta) };
  const { createdAt: _, ...given } = identityOf(row);
  const isSame = encode(said, { sorted: true }) === encode(given, { sorted: true });
  if (
    !isSame ||
    !Number.isFinite(row.createdAt) ||
    encode(row, { sorted: true }) !== encode(inOrder(row), { sorted: true })
  )
    throw damaged(row.id, 1, "The run's row differs from its journal.");
}

/** No run is claimed this often, and the next claim must have room. */
const MOST_EPOCH = 2 ** 40;

/** Epochs never decrease, and the next claim must have a higher one. */
function lastEpoch(runId: string, events: readonly JournalEvent[]): number {
  let last = 0;
  for (const { epoch, seq } of events) {
    if (!Number.isSafeInteger(epoch) || epoch < last || epoch > MOST_EPOCH)
      throw damaged(runId, seq, "Its epoch isn't valid.");
    last = epoch;
  }
  return last;
}

/** Field by field: a row has these and no others. */
const inOrder = (row: BundledRow): RunIdentity & RunProjection & Pick<RunRow, "seq" | "head"> => ({
  ...identityOf(row),
  version: row.version,
  schema: row.schema,
  status: row.status,
  control: row.control,
  waiting: row.waiting,
  wakeAt: row.wakeAt,
  recoveries: row.recoveries,
  stepsDone: row.stepsDone,
  usage: row.usage,
  turns: row.turns,
  activeMs: row.activeMs,
  activeAt: row.activeAt,
  budget: row.budget,
  openChildren: row.openChildren,
  pinned: row.pinned,
  prunedAt: row.prunedAt,
  error: row.error,
  updatedAt: row.updatedAt,
  finishedAt: row.finishedAt,
  snapshotSeq: row.snapshotSeq,
  seq: row.seq,
  head: row.head,
});

/** Every head and the row are small: deeper nesting, or more parts, would be an attack. */
function measure({ row, entries }: BundledRun): void {
  const budget = new ParseBudget(`run ${row.id} of the bundle`, { keys: 20_000_000, depth: 32 });
  for (const { head } of entries) measureJson(head, budget);
}

/** Refuses blobs that no entry refers to. */
async function checkBlobs({ row, entries, blobs }: BundledRun, store: Store): Promise<void> {
  const needed = new Blobs(store, row.id);
  for (const entry of entries) needed.of(entry, parseEntry(row.id, entry).events);
  const named = await needed.read();
  for (const hash of blobs.keys())
    if (!named.has(hash)) throw damaged(row.id, 0, `Nothing in it names blob ${hash}.`);
}

export function relativesOf(origin: RunRow["origin"], events: Iterable<JournalEvent>): Relatives {
  const [children, open] = [new Set<string>(), new Set<string>()];
  for (const event of events) {
    if (event.kind === "step_started" && event.meta.child !== undefined) {
      children.add(event.meta.child);
      open.add(event.meta.child);
    } else if (event.kind === "child_finished") open.delete(event.meta.child);
    // The source's children belong to the source.
    else if (event.kind === "run_forked") {
      children.clear();
      open.clear();
    }
  }
  return { origin: origin?.runId ?? null, children, open };
}

/** Wraps a run of a bundle as a read-only store. */
function readOnly({ entries, blobs }: BundledRun, row: RunRow): Store {
  const refuse = (): Promise<never> =>
    Promise.reject(new HoldfastError("HF-1017", { store: "bundle", feature: "anything but reading a run" }));
  return {
    name: "bundle",
    capabilities: { durability: "none", transactions: false },
    identity: refuse,
    now: refuse,
    append: refuse,
    renew: refuse,
    list: refuse,
    due: refuse,
    close: refuse,
    read: async () => row,
    entries: async (_, { from, limit }) => slice(entries, from, limit),
    blobs: async (_, hashes) =>
      new Map(
        hashes.flatMap((hash) => (blobs.has(hash) ? [[hash, blobs.get(hash) as string] as const] : [])),
      ),
  };
}

function slice(entries: readonly Entry[], from: number, limit: number): readonly Entry[] {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { seq, count } = entries[middle] as Entry;
    if (seq + count > from) high = middle;
    else low = middle + 1;
  }
  return entries.slice(low, low + limit);
}
