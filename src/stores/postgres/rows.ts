import { projectionOf } from "../../core/journal/row-copy.ts";
import { readableRow } from "../../core/journal/row-shape.ts";
import type { Append, Entry } from "../../core/store/contract.ts";
import { identityOf, NO_TAGS } from "../../core/tags.ts";
import type { RunIdentity, RunProjection, RunRow, RunTags } from "../../core/types.ts";
import type { Value } from "./queryable.ts";

/**
 * A run is stored as two JSON texts, its fixed and its changing part, beside the few columns that statements use. So
 * every number and every unusual character survives the round trip, and an append sets ten columns instead of thirty.
 */
export const ROW = [
  "identity",
  "projection",
  "epoch",
  "owner",
  "token",
  "claim_until",
  "seq",
  "head",
  "id",
  "workflow",
  "parent_run",
  "created_at",
  "status",
  "wake_at",
  "pruned_at",
  "name",
  "queue",
  "run_key",
  "priority",
] as const;

export const rowOf = (table: string): string => ROW.map((name) => `${table}.${name}`).join(", ");

type RowValues = readonly [
  identity: string,
  projection: string,
  epoch: Value,
  owner: string | null,
  token: string | null,
  until: Value,
  seq: Value,
  head: string,
  id: string,
  workflow: Value,
  parent: Value,
  createdAt: Value,
  status: Value,
  wakeAt: Value,
  prunedAt: Value,
  name: Value,
  queue: Value,
  key: Value,
  priority: Value,
];

/** Builds a row from values in the order of `ROW`. The texts and the columns that repeat a part of them must agree. */
export function toRow(values: readonly Value[]): RunRow {
  const at = values as RowValues;
  const known = { id: at[8], workflow: at[9], createdAt: Number(at[11]), seq: Number(at[6]) };
  return readableRow(known, () => {
    const row = built(at);
    if (!agrees(row, at)) throw new Error("The columns of the row say something other than its texts.");
    return row;
  });
}

/** One literal in a fixed order: lists read thousands of rows, and copies of copies are most of their time. */
function built(at: RowValues): RunRow {
  const identity = JSON.parse(at[0]) as RunIdentity & Partial<RunTags>;
  const projection = JSON.parse(at[1]) as RunProjection;
  return {
    id: identity.id,
    workflow: identity.workflow,
    lineage: identity.lineage,
    parent: identity.parent,
    origin: identity.origin,
    createdAt: identity.createdAt,
    name: identity.name ?? NO_TAGS.name,
    labels: identity.labels ?? NO_TAGS.labels,
    queue: identity.queue ?? NO_TAGS.queue,
    key: identity.key ?? NO_TAGS.key,
    priority: identity.priority ?? NO_TAGS.priority,
    ...projectionOf(projection),
    claim: { epoch: Number(at[2]), owner: at[3], token: at[4], until: Number(at[5]) },
    seq: Number(at[6]),
    head: at[7],
  };
}

const agrees = (row: RunRow, at: RowValues): boolean =>
  row.id === at[8] &&
  row.workflow === at[9] &&
  (row.parent?.runId ?? null) === at[10] &&
  isEqual(row.createdAt, at[11]) &&
  row.status === at[12] &&
  isEqual(row.wakeAt, at[13]) &&
  isEqual(row.prunedAt ?? null, at[14]) &&
  row.name === at[15] &&
  row.queue === at[16] &&
  row.key === at[17] &&
  isEqual(row.priority, at[18]);

const isEqual = (said: number | null, column: Value): boolean =>
  said === null || column === null ? said === column : said === Number(column);

export function toEntry(values: readonly Value[]): Entry {
  const [seq, count, head, data] = values as readonly [Value, Value, string, string | null];
  return { seq: Number(seq), count: Number(count), head, data };
}

/** The columns that a run's first append sets for good, and those that every append sets. */
export const IDENTIFYING = [
  "id",
  "workflow",
  "parent_run",
  "created_at",
  "identity",
  "name",
  "labels",
  "queue",
  "run_key",
  "priority",
] as const;
export const PROJECTED = ["status", "wake_at", "pruned_at", "projection", "seq", "head"] as const;

type Column = (typeof IDENTIFYING)[number] | (typeof PROJECTED)[number];

/** Numbers from the caller get the type that holds every JavaScript number. */
export const TYPES: Readonly<Record<Column, string>> = {
  id: "text",
  workflow: "text",
  parent_run: "text",
  created_at: "double precision",
  identity: "text",
  name: "text",
  labels: "jsonb",
  queue: "text",
  run_key: "text",
  priority: "integer",
  status: "text",
  wake_at: "double precision",
  pruned_at: "double precision",
  projection: "text",
  seq: "bigint",
  head: "text",
};

export type Identifying = Readonly<Record<(typeof IDENTIFYING)[number], string | number | object | null>>;
export type Projected = Readonly<Record<(typeof PROJECTED)[number], string | number | null>>;

export const identifying = ({ run }: Append): Identifying => ({
  id: run.id,
  workflow: run.workflow,
  parent_run: run.parent?.runId ?? null,
  created_at: run.createdAt,
  identity: JSON.stringify(identityOf(run)),
  name: run.name,
  labels: run.labels,
  queue: run.queue,
  run_key: run.key,
  priority: run.priority,
});

export function projected({ run, entries, head }: Append): Projected {
  const last = entries.at(-1);
  return {
    status: run.status,
    wake_at: run.wakeAt,
    pruned_at: run.prunedAt,
    projection: JSON.stringify(projectionOf(run)),
    // An erased run has no further position.
    seq: last ? last.seq + last.count - 1 : 0,
    head,
  };
}
