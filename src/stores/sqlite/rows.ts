import { readableRow } from "../../core/journal/row-shape.ts";
import type { SqlValue } from "../../core/sql.ts";
import { claimAfter, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, Entry } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import type { Extent } from "./statements.ts";

/** The values that an append binds and a row is read from, in the column order of `statements.ts`. */
export function insertValues(append: Append, now: number): SqlValue[] {
  const { run, claim } = append;
  const { id, workflow, lineage, parent, origin, createdAt } = run;
  const family = [parent?.runId ?? null, parent?.step ?? null, origin?.runId ?? null, origin?.seq ?? null];
  const { epoch, owner, token, until } = claimAfter(UNCLAIMED, claim, now);
  const indexed = [run.status, run.wakeAt, run.prunedAt];
  const claimed = [epoch, owner, token, until];
  const tags = [run.name, JSON.stringify(run.labels), run.queue, run.key, run.priority];
  const identity = [id, workflow, lineage, ...family, createdAt, ...tags];
  return [...identity, ...steadyValues(append), ...indexed, ...claimed];
}

export function updateValues(append: Append, now: number, extent: Extent): SqlValue[] {
  const { run, claim, expect } = append;
  const values: SqlValue[] = extent === "counts" ? countedValues(append) : steadyValues(append);
  if (extent === "moving" || extent === "whole") values.push(run.status, run.wakeAt);
  if (extent === "whole") values.push(run.prunedAt);
  if (claim.kind === "acquire") values.push(claim.owner, claim.token, now + claim.ttlMs);
  if (claim.kind === "hold") values.push(now + claim.ttlMs);
  if (claim.kind === "release") values.push(claim.epoch ?? 0);
  values.push(run.id, expect?.seq ?? null);
  if (expect && expect.token !== null) values.push(expect.token, expect.epoch);
  if (claim.kind === "acquire") values.push(now);
  if (extent === "steady") values.push(run.status, run.wakeAt);
  return values;
}

function countedValues({ run, entries, head }: Append): SqlValue[] {
  const { stepsDone, usage, turns, activeMs, activeAt, updatedAt } = run;
  const { seq, count } = entries.at(-1) as Entry;
  const { tokens, costUsd } = usage;
  return [stepsDone, tokens, costUsd, turns, activeMs, activeAt, updatedAt, seq + count - 1, head];
}

function steadyValues(append: Append): SqlValue[] {
  const { version, schema, control, waiting, recoveries, budget } = append.run;
  const { openChildren, pinned, error, finishedAt, snapshotSeq } = append.run;
  return [
    ...countedValues(append),
    version,
    schema,
    control,
    waiting.length === 0 ? "[]" : JSON.stringify(waiting),
    recoveries,
    budget === null ? null : JSON.stringify(budget),
    openChildren,
    pinned ? 1 : 0,
    error,
    finishedAt,
    snapshotSeq,
  ];
}

/** A row's values in the order of the columns. */
type RowValues = [
  id: string,
  workflow: string,
  lineage: string,
  parentRun: string | null,
  parentStep: string | null,
  originRun: string | null,
  originSeq: number | null,
  createdAt: number,
  name: string | null,
  labels: string,
  queue: string | null,
  key: string | null,
  priority: number,
  stepsDone: number,
  tokens: number,
  costUsd: number,
  turns: number,
  activeMs: number,
  activeAt: number | null,
  updatedAt: number,
  seq: number,
  head: string,
  version: string,
  schema: number,
  control: RunRow["control"],
  waiting: string,
  recoveries: number,
  budget: string | null,
  openChildren: number,
  pinned: number,
  error: string | null,
  finishedAt: number | null,
  snapshotSeq: number,
  status: RunRow["status"],
  wakeAt: number | null,
  prunedAt: number | null,
  epoch: number,
  owner: string | null,
  token: string | null,
  until: number,
];

/** Converts a stored row. An unreadable one becomes a damaged row. */
export function toRow(values: readonly SqlValue[]): RunRow {
  const [id, workflow, , , , , , createdAt] = values;
  return readableRow({ id, workflow, createdAt }, () => built(values));
}

/** One literal in the order of the columns: lists read thousands of rows, and copies of copies are most of their time. */
function built(values: readonly SqlValue[]): RunRow {
  const [id, workflow, lineage, parentRun, parentStep, originRun, originSeq, createdAt] = values as RowValues;
  const at = values as RowValues;
  const [labels, waiting, budget] = [at[9], at[25], at[27]];
  return {
    id,
    workflow,
    lineage,
    parent: parentRun === null ? null : { runId: parentRun, step: parentStep ?? "" },
    origin: originRun === null ? null : { runId: originRun, seq: originSeq ?? 0 },
    createdAt,
    name: at[8],
    labels: labels === "{}" ? {} : JSON.parse(labels),
    queue: at[10],
    key: at[11],
    priority: at[12],
    version: at[22],
    schema: at[23],
    control: at[24],
    waiting: waiting === "[]" ? [] : JSON.parse(waiting),
    recoveries: at[26],
    stepsDone: at[13],
    usage: { tokens: at[14], costUsd: at[15] },
    turns: at[16],
    activeMs: at[17],
    activeAt: at[18],
    budget: budget === null ? null : JSON.parse(budget),
    openChildren: at[28],
    pinned: at[29] !== 0,
    error: at[30],
    updatedAt: at[19],
    finishedAt: at[31],
    snapshotSeq: at[32],
    seq: at[20],
    head: at[21],
    status: at[33],
    wakeAt: at[34],
    prunedAt: at[35],
    claim: { epoch: at[36], owner: at[37], token: at[38], until: at[39] },
  };
}

export function toEntry(values: readonly SqlValue[]): Entry {
  const [seq, count, head, data] = values as [number, number, string, string | null];
  return { seq, count, head, data };
}
