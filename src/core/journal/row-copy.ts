import type { Claim, RunIdentity, RunProjection, RunRow } from "../types.ts";

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Standing {
  readonly claim: Claim;
  readonly seq: number;
  readonly head: string;
  readonly damage?: string;
}

/**
 * A row put together field by field. Spreading it would be shorter, but the engine of JavaScript copies objects of more
 * than 24 fields at a fortieth of the speed and with five times the garbage, and each step makes a new row.
 */
export function rowOf(
  identity: RunIdentity,
  run: RunProjection,
  { claim, seq, head, damage }: Standing,
): Mutable<RunRow> {
  const row: Mutable<RunRow> = {
    id: identity.id,
    workflow: identity.workflow,
    lineage: identity.lineage,
    parent: identity.parent,
    origin: identity.origin,
    createdAt: identity.createdAt,
    name: identity.name,
    labels: identity.labels,
    queue: identity.queue,
    key: identity.key,
    priority: identity.priority,
    version: run.version,
    schema: run.schema,
    status: run.status,
    control: run.control,
    waiting: run.waiting,
    wakeAt: run.wakeAt,
    recoveries: run.recoveries,
    stepsDone: run.stepsDone,
    usage: run.usage,
    turns: run.turns,
    activeMs: run.activeMs,
    activeAt: run.activeAt,
    budget: run.budget,
    openChildren: run.openChildren,
    pinned: run.pinned,
    prunedAt: run.prunedAt,
    error: run.error,
    updatedAt: run.updatedAt,
    finishedAt: run.finishedAt,
    snapshotSeq: run.snapshotSeq,
    claim,
    seq,
    head,
  };
  if (damage !== undefined) row.damage = damage;
  return row;
}

/** A copy of a row, to be changed. */
export const copiedRow = (row: RunRow): Mutable<RunRow> => rowOf(row, row, row);

/** The projected part of a row, without the run's identity and claim, and without what else the object has. */
export const projectionOf = (run: RunProjection): RunProjection => ({
  version: run.version,
  schema: run.schema,
  status: run.status,
  control: run.control,
  waiting: run.waiting,
  wakeAt: run.wakeAt,
  recoveries: run.recoveries,
  stepsDone: run.stepsDone,
  usage: run.usage,
  turns: run.turns,
  activeMs: run.activeMs,
  activeAt: run.activeAt,
  budget: run.budget,
  openChildren: run.openChildren,
  pinned: run.pinned,
  prunedAt: run.prunedAt,
  error: run.error,
  updatedAt: run.updatedAt,
  finishedAt: run.finishedAt,
  snapshotSeq: run.snapshotSeq,
});
