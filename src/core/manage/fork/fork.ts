import { checkOneOf } from "../../check-options.ts";
import { fitEdits } from "../../declared-checks.ts";
import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { leftAbove, leftOf, tighter } from "../../guards/left.ts";
import { checkId } from "../../ids.ts";
import { type Act, because, checkActOptions } from "../../journal/act.ts";
import { editEvents } from "../../journal/edits.ts";
import type { EventDraft, JournalEvent } from "../../journal/events.ts";
import { buildEntry, dropped, innerBlobs } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import { projectRow } from "../../journal/project.ts";
import type { RunState } from "../../journal/state.ts";
import { checkBudget } from "../../options.ts";
import type { Append } from "../../store/contract.ts";
import { tagsOfFork } from "../../tags.ts";
import type { Budget, Edits, EffectPolicy, Parent, RunIdentity, RunRow } from "../../types.ts";
import { findCheckpoint } from "../checkpoints/kept.ts";
import { type Copy, checkKept, copyJournal } from "../transfer/copy.ts";

/**
 * Options of a fork.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import type { ForkOptions } from "holdfast/manage";
 *
 * const options: ForkOptions = {
 *   set: { memory: { model: "larger" } },
 *   effects: "reuse",
 *   reason: "try the larger model",
 * };
 *
 * export const tryAgain = (engine: Engine) => engine.fork("order-7@14", options);
 * ```
 */
export interface ForkOptions extends Act {
  /** The id of the new run. The same id from the same checkpoint gives the same fork. */
  readonly id?: string;
  /** New values that replace recorded ones. */
  readonly set?: Edits;
  /** How to handle calls that the source has already made; see {@link EffectPolicy}. Default `reuse`. */
  readonly effects?: EffectPolicy;
  /**
   * The fork's limits, counted from zero. A limit that isn't given is what the source's own limits and those above it
   * leave: the source's limit less its usage up to the checkpoint. A fork with nothing left waits until its limit is
   * raised.
   */
  readonly budget?: Budget;
}

/** A fork to be created. */
export interface Planned extends ForkOptions {
  readonly id: string;
  readonly effects: EffectPolicy;
  readonly parent: Parent | null;
  readonly source: RunRow;
  readonly seq: number;
  /** The time it goes back to, when that isn't the time of the event at `seq`. */
  readonly at?: number;
  /** What the limits above the source leave, if those don't apply to the fork themselves. */
  readonly above?: Budget | undefined;
}

export const checkEffects = (effects: EffectPolicy = "reuse"): EffectPolicy =>
  checkOneOf("effects", effects, ["reuse", "block", "simulate", "allow"]);

/** Creates a new run that continues from a checkpoint of another one, which isn't written to. */
export async function forkRun(parts: EngineParts, address: string, options: ForkOptions): Promise<RunRow> {
  const { id: _, set: __, effects: ___, budget: ____, ...act } = options;
  checkActOptions(act);
  const effects = checkEffects(options.effects);
  const budget = checkBudget(options.budget);
  const id = options.id ?? parts.ports.ids.runId();
  checkId(id);
  const { row: source, seq } = await findCheckpoint(parts, address);
  // No run above it limits it, so what those leave to the child becomes its own limit.
  const above = await leftAbove(parts.store, source);
  return createFork(parts, {
    ...options,
    id,
    effects,
    parent: null,
    source,
    seq,
    above,
    ...defined({ budget }),
  });
}

/** Creates the fork in one write: it is complete or absent. Returns an existing one. */
export async function createFork(parts: EngineParts, planned: Planned): Promise<RunRow> {
  const { store, acts } = parts;
  const known = await store.read(planned.id);
  if (known) return sameFork(planned, known);
  const { append, row, events } = await build(parts, planned);
  if (!(await acts.submit(append))) return sameFork(planned, await readRow(store, planned.id));
  parts.written(row, events);
  return row;
}

function sameFork({ source, seq }: Planned, row: RunRow): RunRow {
  if (row.origin?.runId === source.id && row.origin.seq === seq) return row;
  throw new HoldfastError("HF-1002", { run: row.id, workflow: row.workflow });
}

interface Built {
  readonly append: Append;
  readonly row: RunRow;
  readonly events: readonly JournalEvent[];
}

async function build(parts: EngineParts, planned: Planned): Promise<Built> {
  const { values, time, ports } = parts;
  const { id, source, seq, actor } = planned;
  const workflow = parts.workflows.get(source.workflow);
  const { state, copy } = await begin(parts, planned);
  const edits = planned.set
    ? await editEvents(values, source.id, state, await fitEdits(workflow, planned.set), planned)
    : { events: [], blobs: [] };
  const own: EventDraft[] = [...opening(planned, copy), ...edits.events];
  const drafts = own.map((draft) => ports.redactor?.event(draft) ?? draft);
  const stamp = { at: time.now(), epoch: 0, ...defined({ actor }) };
  const events = drafts.map((draft, index): JournalEvent => ({ ...draft, ...stamp, seq: seq + 1 + index }));
  const { entry, head } = buildEntry(drafts, {
    ...stamp,
    prev: copy.row.head,
    seq: seq + 1,
    blobs: innerBlobs(drafts, edits.blobs),
    blinding: parts.store.blinding,
    run: id,
  });
  const run = projectRow(copy.row, events);
  const blobs = new Map([...copy.blobs, ...edits.blobs.map(({ hash, data }) => [hash, data] as const)]);
  const append: Append = {
    run,
    expect: null,
    claim: { kind: "keep" },
    entries: [...copy.entries, entry],
    head,
    blobs: [...blobs].map(([hash, data]) => ({ hash, data })),
  };
  parts.ports.probe("C01:before-create", { runId: id });
  return { append, row: { ...run, seq: seq + events.length, head }, events };
}

/** Reads the fork's starting state. Throws HF-1023 when part of it is gone. */
async function begin(parts: EngineParts, planned: Planned): Promise<{ state: RunState; copy: Copy }> {
  const { store, values, time } = parts;
  const { id, source, seq, parent } = planned;
  if (source.prunedAt !== null) throw dropped(source.id, seq);
  const state = await loadRun(store, values, source, seq);
  const identity: RunIdentity = {
    id,
    workflow: source.workflow,
    lineage: id,
    parent,
    origin: { runId: source.id, seq },
    createdAt: time.now(),
    ...tagsOfFork(source),
  };
  const copy = await copyJournal(store, source, seq, identity);
  checkKept(source.id, state, copy);
  return { state, copy };
}

function opening(planned: Planned, { row, events }: Copy): EventDraft[] {
  const { source, seq, effects, at, budget, above, ...act } = planned;
  const limits = { ...tighter(leftOf(row), above), ...budget };
  const from = { runId: source.id, seq };
  const moment = at ?? events.get(seq)?.at ?? row.updatedAt;
  return [
    { kind: "run_forked", step: "", meta: { from, at: moment, effects, ...because(act) } },
    ...(Object.keys(limits).length === 0
      ? []
      : [{ kind: "budget_set", step: "", meta: limits } satisfies EventDraft]),
  ];
}
