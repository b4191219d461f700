import { createEngine } from "../../src/core/engine/engine.ts";
import type { EventKind, JournalEvent } from "../../src/core/journal/events.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import { approvalOf } from "../../src/core/keys.ts";
import { INJECT } from "../../src/core/names.ts";
import type { Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { ownEvents } from "../../src/testing/invariants/step-names.ts";
import type { Problem, Site } from "./site.ts";

/** Acts of people and new versions on runs, counted from the journals: no kill can hide an acknowledged act. */
export interface ActCounts {
  readonly pauses: number;
  readonly resumes: number;
  readonly injections: number;
  readonly forks: number;
  readonly prunes: number;
  readonly migrations: number;
  /** Calls that forks took over from their sources, and calls that a person was asked about. */
  readonly reused: number;
  readonly asked: number;
}

export const NO_ACTS: ActCounts = {
  pauses: 0,
  resumes: 0,
  injections: 0,
  forks: 0,
  prunes: 0,
  migrations: 0,
  reused: 0,
  asked: 0,
};

export function addActs(a: ActCounts, b: ActCounts): ActCounts {
  const keys = Object.keys(NO_ACTS) as (keyof ActCounts)[];
  return Object.fromEntries(keys.map((key) => [key, a[key] + b[key]])) as unknown as ActCounts;
}

async function allRuns(store: Store): Promise<readonly RunRow[]> {
  return (await store.list({ limit: 1_000 })).runs;
}

async function journal(store: Store, { id, seq }: RunRow): Promise<readonly JournalEvent[]> {
  const entries = await store.entries(id, { from: 1, limit: seq });
  return entries.flatMap((entry) => parseEntry(id, entry).events);
}

export function countActs(site: Site): Promise<ActCounts> {
  return site.read(async (store) => {
    const runs = await allRuns(store);
    const events = (await Promise.all(runs.map((row) => journal(store, row)))).flatMap(ownEvents);
    const count = (kind: EventKind, isMeant: (event: JournalEvent) => boolean = () => true): number =>
      events.filter((event) => event.kind === kind && isMeant(event)).length;
    return {
      pauses: count("pause_requested"),
      resumes: count("run_resumed"),
      injections: count("signal_received", ({ meta }) => "name" in meta && meta.name === INJECT),
      forks: runs.filter(({ origin }) => origin !== null).length,
      prunes: count("values_dropped"),
      migrations: count("run_migrated"),
      reused: count("step_completed", ({ meta }) => "instead" in meta && meta.instead === "reused"),
      asked: count("gate_answered", ({ step }) => approvalOf(step)?.isFork === true),
    };
  });
}

/** Drops everything at the end: only heads remain, all of them still verify, and a file hasn't grown. */
export async function pruneAll(site: Site, at: string): Promise<Problem[]> {
  const problem = (message: string, runId = ""): Problem => ({ at, rule: "retention", runId, message });
  const { bytes } = site.place;
  const runs = await site.read(async (store) => (await allRuns(store)).length);
  const before = bytes?.().file ?? 0;
  const problems = await site.read(async (store) => {
    const engine = createEngine({ store, execute: false });
    const { complete, skipped } = await engine.retention.prune({ maxAge: 0 });
    const found = skipped.map(({ runId, why, detail }) =>
      problem(`It was skipped: ${why} ${detail ?? ""}`.trim(), runId),
    );
    if (!complete) found.push(problem("The last prune was not completed."));
    for (const row of await allRuns(store)) {
      const { ok, problems: wrong } = await engine.checkpoints.validate(row.id);
      if (!ok) found.push(problem(`It does not verify: ${JSON.stringify(wrong)}`, row.id));
      const kept = (await store.entries(row.id, { from: 1, limit: row.seq })).filter(
        ({ data }) => data !== null,
      );
      if (kept.length > 0) found.push(problem(`${kept.length} entries still have values.`, row.id));
    }
    await engine.close();
    return found;
  });
  const after = bytes?.().file ?? 0;
  // Each run has one entry that records what was dropped.
  const most = before + 2 * PAGE + runs * RECORD_BYTES;
  if (after > most) problems.push(problem(`The file grew from ${before} to ${after} bytes.`));
  const blobs = await site.place.blobs();
  if (blobs > 0) problems.push(problem(`${blobs} blobs are still there.`));
  return [...problems, ...(await site.check(`${at}, all dropped`))];
}

const PAGE = 16_384;
const RECORD_BYTES = 2_048;
