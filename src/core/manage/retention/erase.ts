import { defined } from "../../defined.ts";
import { type Act, because } from "../../journal/act.ts";
import { readRun } from "../../journal/door.ts";
import type { DeletedRun, EventDraft } from "../../journal/events.ts";
import { ChainCheck } from "../../journal/journal.ts";
import { actOn, type EngineParts } from "../../journal/parts.ts";
import { entryPages } from "../../journal/read.ts";
import { insistOn } from "../../journal/row-shape.ts";
import { DELETED_RUNS, deletionMark } from "../../store/deleted.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow, RunStatus } from "../../types.ts";

/** An act on several runs that leaves one line in the record of deletions. */
export interface Erasure extends Act {
  /** True when the line says which runs they were, and what they were. */
  readonly tombstone: boolean;
}

/**
 * Records that these runs are about to be erased. A line without tombstones only holds their marks, which say nothing
 * to a reader.
 */
export async function recordDeletion(
  parts: EngineParts,
  rows: readonly RunRow[],
  { tombstone, ...act }: Erasure,
): Promise<void> {
  const runs = rows.map((row): DeletedRun => {
    const { id, workflow, status, createdAt, finishedAt, seq, head } = row;
    const said = tombstone ? { id, workflow, status, createdAt, finishedAt, seq, head } : {};
    return { mark: deletionMark(row), ...said };
  });
  const line: EventDraft = { kind: "runs_deleted", step: "", meta: { runs, ...because(act) } };
  const written = { events: [line], actor: act.actor };
  if (!(await parts.store.read(DELETED_RUNS)) && (await begin(parts, line, act))) return;
  await actOn(parts, DELETED_RUNS, () => written);
}

/** Creates the record with its first line; returns `false` when it is there already. */
async function begin(parts: EngineParts, line: EventDraft, { actor }: Act): Promise<boolean> {
  const [id, version, schema] = [DELETED_RUNS, "1", 1];
  const identity = { id, workflow: id, version, schema, lineage: id, parent: null, origin: null };
  // Older than any run, so that it comes last in every list.
  const createdAt = 0;
  const meta = { workflow: id, version, schema, lineage: id, seed: parts.ports.ids.id() };
  const created = { kind: "run_created", step: "", meta } as const;
  const ended = { kind: "run_completed", step: "", meta: {} } as const;
  const events = [created, ended, line];
  return (await parts.acts.create({ ...identity, createdAt }, { events, actor })) !== null;
}

/** Erases one run as it was read. Returns `false` when it has moved since; a run that is gone counts as erased. */
export async function eraseRun(parts: EngineParts, row: RunRow, archiveRecords = false): Promise<boolean> {
  const { claim, seq, head: _, ...run } = row;
  const erased = await parts.acts.submit({
    run,
    expect: { seq, epoch: claim.epoch, token: null },
    claim: { kind: "erase" },
    entries: [],
    head: "",
    blobs: [],
    ...(archiveRecords ? { drop: { entries: [], blobs: [], archive: true } } : {}),
  });
  const isGone = erased || (await parts.store.read(row.id)) === null;
  if (isGone) await parts.logs.drop(row.id);
  return isGone;
}

const UNENDED: readonly RunStatus[] = ["queued", "running", "waiting", "paused", "failed"];

/**
 * Unfinished runs by the run that they were forked from: without it, a fork couldn't tell which calls were made there.
 */
export async function forksInUse(parts: EngineParts): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { id, origin } of everyRun(parts.store, { status: UNENDED }))
    for (let source = origin; source && !found.has(source.runId); ) {
      found.set(source.runId, id);
      source = (await parts.store.read(source.runId))?.origin ?? null;
    }
  return found;
}

/** A deletion that was recorded with a tombstone. */
export interface Tombstone extends Omit<DeletedRun, "mark" | "id"> {
  readonly id: string;
  /** When it was deleted, by whom and why. */
  readonly deletedAt: number;
  readonly actor?: string;
  readonly reason?: string;
}

/** The tombstones, oldest first. The record is verified like the journal of any run. */
export async function* tombstones(parts: EngineParts): AsyncGenerator<Tombstone, void, undefined> {
  const row = await readRun(parts.store, DELETED_RUNS);
  if (!row) return;
  const chain = new ChainCheck(row.id, 1, "");
  for await (const page of entryPages(parts.store, row.id, 1, insistOn(row).seq))
    for (const event of page.flatMap((entry) => chain.take(entry).events))
      if (event.kind === "runs_deleted")
        for (const { mark: _, id, ...run } of event.meta.runs)
          if (id !== undefined)
            yield {
              id,
              ...run,
              deletedAt: event.at,
              ...defined({ actor: event.actor }),
              ...because(event.meta),
            };
  chain.end(row.seq, row.head);
}
