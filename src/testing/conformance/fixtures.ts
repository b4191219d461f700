import assert from "node:assert/strict";
import { defined } from "../../core/defined.ts";
import type { StoredRecord } from "../../core/records.ts";
import type {
  Append,
  Blob,
  ClaimChange,
  Drop,
  Entry,
  Expected,
  Refusal,
  RunQuery,
  Store,
} from "../../core/store/contract.ts";
import { NO_TAGS } from "../../core/tags.ts";
import type { RunIdentity, RunProjection, RunRow } from "../../core/types.ts";

/** The parts of an append that matter to a test; the rest is filled in. */
export interface AppendParts {
  readonly run?: Partial<RunIdentity & RunProjection>;
  readonly claim?: ClaimChange;
  /** Overrides for the one entry. */
  readonly entry?: Partial<Entry>;
  /** Replaces the one entry. */
  readonly entries?: readonly Entry[];
  readonly drop?: Drop;
  readonly records?: readonly StoredRecord[];
  readonly blobs?: readonly Blob[];
  readonly expect?: Partial<Expected>;
}

export const HOUR = 3_600_000;

/** A claim change that takes the run for `owner`, whose token is `<owner>-token`. */
export const take = (owner: string, ttlMs = HOUR): ClaimChange => ({
  kind: "acquire",
  owner,
  token: `${owner}-token`,
  ttlMs,
});

/** A claim that expires at once. */
export const takeBriefly = (owner: string): ClaimChange => take(owner, 0);

/** A running run called `run-1`, unless overridden. */
export function aRun(parts: Partial<RunIdentity & RunProjection> = {}): RunIdentity & RunProjection {
  const id = parts.id ?? "run-1";
  return {
    id,
    workflow: "orders",
    lineage: id,
    parent: null,
    origin: null,
    createdAt: 1_700_000_000_000,
    ...NO_TAGS,
    version: "1",
    schema: 1,
    status: "running",
    control: "none",
    waiting: [],
    wakeAt: 0,
    recoveries: 0,
    stepsDone: 0,
    usage: { tokens: 0, costUsd: 0 },
    turns: 0,
    activeMs: 0,
    activeAt: null,
    budget: null,
    openChildren: 0,
    pinned: false,
    prunedAt: null,
    error: null,
    updatedAt: 1_700_000_000_000,
    finishedAt: null,
    snapshotSeq: 0,
    ...parts,
  };
}

/** An entry of one event at `seq`. */
export function anEntry(seq: number, parts: Partial<Entry> = {}): Entry {
  return { seq, count: 1, head: `{"seq":${seq}}`, data: `{"value":${seq}}`, ...parts };
}

/** Creates a run claimed by `ada`, unless overridden. */
export function creation(parts: AppendParts = {}): Append {
  const run = aRun(parts.run);
  return { run, expect: null, claim: parts.claim ?? take("ada"), ...contents(run.id, 1, parts) };
}

/** The next append by the holder of the claim in `row`. */
export function step(row: RunRow, parts: AppendParts = {}): Append {
  const { claim: held, seq, head: _, ...run } = row;
  return {
    run: { ...run, ...parts.run },
    expect: { seq, epoch: held.epoch, token: held.token, ...parts.expect },
    claim: parts.claim ?? { kind: "hold", ttlMs: HOUR },
    ...contents(row.id, seq + 1, parts),
  };
}

function contents(
  id: string,
  seq: number,
  parts: AppendParts,
): Pick<Append, "entries" | "head" | "blobs" | "drop" | "records"> {
  const entries = parts.entries ?? [anEntry(seq, parts.entry)];
  const { blobs = [], drop, records } = parts;
  return { entries, head: `${id}#${entries.at(-1)?.seq}`, blobs, ...defined({ drop, records }) };
}

/** An outside act on `row`: it depends only on the position, and it leaves the claim alone. */
export function outsideAct(row: RunRow, parts: AppendParts = {}): Append {
  return step(row, { claim: { kind: "keep" }, ...parts, expect: { ...parts.expect, token: null } });
}

/** Appends, asserts that it was accepted, and returns the row after that. */
export async function accepted(store: Store, append: Append): Promise<RunRow> {
  assert.deepEqual(await store.append([append]), [{ ok: true }]);
  const row = await store.read(append.run.id);
  assert.ok(row, `run ${append.run.id} is there after an append that was taken`);
  return row;
}

/** Appends, and asserts that it was refused for this reason and changed nothing. */
export async function refused(store: Store, append: Append, reason: Refusal): Promise<void> {
  const { id } = append.run;
  const before = await everythingOf(store, id);
  assert.deepEqual(await store.append([append]), [{ ok: false, reason, row: before.row }]);
  assert.deepEqual(await everythingOf(store, id), before, "a refused append leaves nothing behind");
}

/** The row of a run and its whole journal. */
export async function everythingOf(
  store: Store,
  runId: string,
): Promise<{ row: RunRow | null; entries: readonly Entry[] }> {
  return { row: await store.read(runId), entries: await store.entries(runId, { from: 1, limit: 1000 }) };
}

/** The ids of a list that fits on one page. */
export async function idsOf(store: Store, query: RunQuery): Promise<string[]> {
  const { runs, cursor } = await store.list(query);
  assert.equal(cursor, null, "everything fits on one page");
  return runs.map(({ id }) => id);
}

/** The ids of a list, collected page by page. */
export async function idsByPages(store: Store, query: RunQuery): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list(cursor === undefined ? query : { ...query, cursor });
    assert.ok(page.runs.length <= query.limit);
    ids.push(...page.runs.map(({ id }) => id));
    cursor = page.cursor;
  }
  return ids;
}
