import type { HoldfastError } from "../errors.ts";
import { NO_TAGS } from "../tags.ts";
import { CONTROLS, RUN_STATUSES, type RunRow } from "../types.ts";
import { damaged } from "./journal.ts";
import { newProjection } from "./project.ts";
import { copiedRow } from "./row-copy.ts";
import { forReview } from "./wait-reason.ts";

/**
 * Builds a row from stored data. Data that doesn't parse, or says what no run can say, becomes a damaged row: one bad
 * row hides no other, and nothing acts on it. `known`: what is known about it otherwise.
 */
export function readableRow(known: Readonly<Record<string, unknown>>, build: () => RunRow): RunRow {
  let row: RunRow | undefined;
  try {
    const found = build();
    // Rows of earlier versions have no tags.
    row = TAGS.every((tag) => Object.hasOwn(found, tag)) ? found : { ...NO_TAGS, ...found };
  } catch {
    // Reported below.
  }
  const problem = row ? shapeProblem(row) : "The run's row cannot be read.";
  if (row && problem === undefined) return row;
  return damagedRow({ ...BLANK, ...sane(row ?? {}), ...sane(known) }, problem ?? "");
}

const TAGS = Object.keys(NO_TAGS);

/** A run whose record doesn't verify, as shown to everyone: it waits for a person. */
export function damagedRow(row: RunRow, problem: string): RunRow {
  const waiting = [forReview(damaged(row.id, row.seq, problem), row.updatedAt)];
  return {
    ...NO_TAGS,
    ...row,
    status: "waiting",
    control: "none",
    waiting,
    wakeAt: null,
    finishedAt: null,
    error: null,
    damage: problem,
  };
}

/**
 * A run as people and programs are shown it: only one that waits waits for something. The row of a run that is about to continue may
 * still hold what it has waited for, or had begun to wait for when its worker closed.
 */
export const shownRow = (row: RunRow): RunRow =>
  row.status === "waiting" || row.waiting.length === 0 ? row : { ...copiedRow(row), waiting: [] };

/** Throws for a damaged run, for callers that must not continue with one. */
export function insistOn(row: RunRow): RunRow {
  if (row.damage !== undefined) throw damaged(row.id, row.seq, row.damage);
  return row;
}

/** A damaged run of which nothing more is known. */
export const unknownRow = (id: string, error: HoldfastError): RunRow =>
  damagedRow({ ...BLANK, id, lineage: id }, String(error.detail["problem"] ?? error.why));

const BLANK: RunRow = {
  id: "",
  workflow: "(unknown)",
  lineage: "",
  parent: null,
  origin: null,
  createdAt: 0,
  ...NO_TAGS,
  ...newProjection(0, "", 1),
  status: "waiting",
  wakeAt: null,
  claim: { epoch: 0, owner: null, token: null, until: 0 },
  seq: 0,
  head: "",
};

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
/** A number that fits into a Date. */
const isTime: Check = (value) => isNumber(value) && Math.abs(Number(value)) <= 8.64e15;
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const among =
  (words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string);
const has =
  (shape: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(shape).every(([key, check]) => check((value as Record<string, unknown>)[key]));

const isWait = has({ kind: isText, step: isText, since: isTime });
const isBudget: Check = (value) =>
  typeof value === "object" && value !== null && Object.values(value).every(isNumber);

/** The type of each field. Fields of later versions may be missing from older rows. */
const SHAPE: Readonly<Record<string, Check>> = {
  id: isText,
  workflow: isText,
  lineage: isText,
  status: among(RUN_STATUSES),
  control: among(CONTROLS),
  waiting: (value) => Array.isArray(value) && value.every(isWait),
  wakeAt: orNull(isNumber),
  createdAt: isTime,
  updatedAt: isTime,
  seq: isCount,
  head: isText,
  claim: has({ epoch: isCount, owner: orNull(isText), token: orNull(isText), until: isNumber }),
  usage: has({ tokens: isNumber, costUsd: isNumber }),
  recoveries: isCount,
  stepsDone: isCount,
  snapshotSeq: isCount,
  version: isText,
  parent: orNull(has({ runId: isText, step: isText })),
  error: orNull(isText),
  finishedAt: orNull(isTime),
};

const isLabels: Check = (value) =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((label) => isText(label));

const LATER: Readonly<Record<string, Check>> = {
  name: orNull(isText),
  labels: isLabels,
  queue: orNull(isText),
  key: orNull(isText),
  priority: isNumber,
  origin: orNull(has({ runId: isText, seq: isCount })),
  schema: isNumber,
  turns: isNumber,
  activeMs: isNumber,
  activeAt: orNull(isNumber),
  budget: orNull(isBudget),
  openChildren: isNumber,
  pinned: (value) => typeof value === "boolean",
  prunedAt: orNull(isTime),
};

const NEEDED = Object.entries(SHAPE);
const ADDED = Object.entries(LATER);

function shapeProblem(row: RunRow): string | undefined {
  const fields = row as unknown as Readonly<Record<string, unknown>>;
  const bad: string[] = [];
  for (const [key, check] of NEEDED) if (!check(fields[key])) bad.push(key);
  for (const [key, check] of ADDED) if (fields[key] !== undefined && !check(fields[key])) bad.push(key);
  return bad.length === 0 ? undefined : `The run's row says what no run can say: ${bad.join(", ")}.`;
}

/** The fields with valid values. */
const sane = (row: object): Partial<RunRow> =>
  Object.fromEntries(
    Object.entries(row).filter(([key, value]) => (SHAPE[key] ?? LATER[key])?.(value) ?? false),
  );
