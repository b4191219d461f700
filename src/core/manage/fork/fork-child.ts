import { defined } from "../../defined.ts";
import { Ancestry } from "../../journal/ancestry.ts";
import type { ChildFork } from "../../journal/facts.ts";
import { dropped } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import { entryPages, headEvents } from "../../journal/read.ts";
import type { ChildRequest } from "../../run/execution-deps.ts";
import type { Store } from "../../store/contract.ts";
import type { Edits, EffectPolicy, RunRow } from "../../types.ts";
import { dataDigest } from "../../values/codec.ts";
import { createFork } from "./fork.ts";

/**
 * Makes sure that the child of a fork is itself a fork, of the source's child at that place, so that the calls of that
 * one aren't repeated. Does nothing when the child exists already. When the source has none, the child begins by itself, under the
 * returned policy: the source may create one at any time.
 */
export async function forkChild(
  parts: EngineParts,
  request: ChildRequest,
): Promise<EffectPolicy | undefined> {
  const { store } = parts;
  const { id, workflow, parent, given } = request;
  const { fork, childForks, hops } = request.facts;
  if (!fork || (await store.read(id))) return undefined;
  const above = await readRow(store, parent.runId);
  const source = () => new Ancestry(store, above).child(parent.step, hops);
  const found = await findSource(store, childForks.get(parent.step), source);
  if (found?.source.workflow !== workflow.name) return fork.effects === "allow" ? undefined : fork.effects;
  if (found.source.prunedAt !== null) throw dropped(found.source.id, found.seq);
  const set = found.at === undefined ? await otherBeginning(parts, found, request) : undefined;
  const budget = defined({ budget: given.budget });
  await createFork(parts, {
    id,
    parent,
    effects: fork.effects,
    ...found,
    ...budget,
    ...defined({ set }),
  });
  return undefined;
}

/** A child that starts from the beginning gets its parent's current input. */
async function otherBeginning(
  { store, values }: EngineParts,
  { source, seq }: Found,
  { input, given: { config } }: ChildRequest,
): Promise<Edits> {
  const state = await loadRun(store, values, source, seq);
  const before = await values.decode(source.id, state.input);
  const isSame = dataDigest(before) === dataDigest(input);
  return { ...(isSame ? {} : { input }), ...defined({ config }) };
}

interface Found {
  readonly source: RunRow;
  readonly seq: number;
  /** Set for a child that was in progress at that moment; otherwise it starts from the beginning. */
  readonly at?: number;
}

/** The child of the fork's nearest ancestor at this place, and the position to fork it at. */
async function findSource(
  store: Store,
  under: ChildFork | undefined,
  search: () => Promise<RunRow | undefined>,
): Promise<Found | undefined> {
  const running = under && (await store.read(under.runId));
  if (running) return { source: running, seq: await positionAt(store, running, under), at: under.at };
  const source = await search();
  return source && { source, seq: 1 };
}

/**
 * The position of a child at a given time. One that had ended by then is taken from just before, so that it ends again
 * by replay: its parent hadn't been told yet.
 */
export async function positionAt(store: Store, row: RunRow, { at, failed }: ChildFork): Promise<number> {
  let last = 1;
  let end = 0;
  for await (const page of entryPages(store, row.id, 1, row.seq)) {
    for (const entry of page) {
      const events = headEvents(row.id, entry);
      if ((events[0]?.at ?? 0) > at) return end > 0 ? end - 1 : last;
      for (const { kind, seq } of events) {
        last = seq;
        if (failed) continue;
        if (ENDS.includes(kind)) end = seq;
        else if (kind === "run_resumed" || kind === "run_forked") end = 0;
      }
    }
  }
  return end > 0 ? end - 1 : last;
}

const ENDS: readonly string[] = ["run_completed", "run_failed", "run_cancelled"];
