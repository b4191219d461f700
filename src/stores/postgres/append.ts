import { limitsOf, refusal } from "../../core/store/claim.ts";
import type { Alone, Append, AppendResult, Refusal } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import { otherStore } from "../other-store.ts";
import { batchStatement, OTHER } from "./append-batch.ts";
import { limitedCall } from "./append-limited.ts";
import { type Calls, isPlain, manyCall, oneCall, stepCall } from "./append-plain.ts";
import type { Opened, Place } from "./migrations.ts";
import type { Database, Queryable, Value } from "./queryable.ts";
import { rowOf, toRow } from "./rows.ts";
import { CLOCK, type NamedStatement, statement } from "./statement.ts";

/** The approximate maximum number of characters in one statement. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

/** The schema to write to, the identity it had when it was opened, and the calls of its functions. */
export type Writing = Place & { readonly opened: Opened; readonly calls: Calls };

/** Appends that are sent in one statement, with their indexes in the batch. */
interface Wave {
  readonly places: number[];
  readonly appends: Append[];
  readonly runs: Set<string>;
  size: number;
}

/**
 * Applies a batch in one statement, which is its own transaction. When several are needed, because a run appears twice
 * or the batch is very large, they share one short transaction.
 */
export async function appendBatch(
  database: Database,
  to: Writing,
  batch: readonly Append[],
): Promise<readonly AppendResult[]> {
  const limited = batch.findIndex((append) => append.alone !== undefined || limitsOf(append).length > 0);
  if (limited >= 0)
    return [
      ...(await appendBatch(database, to, batch.slice(0, limited))),
      await appendInTurn(database, to, batch[limited] as Append),
      ...(await appendBatch(database, to, batch.slice(limited + 1))),
    ];
  const [first, ...others] = wavesOf(batch);
  if (!first) return [];
  if (others.length === 0) return send(database, to, first.appends);
  return database.transaction(async (one) => {
    const results = new Map<number, AppendResult>();
    for (const { places, appends } of [first, ...others]) {
      const answers = await send(one, to, appends);
      places.forEach((place, index) => results.set(place, answers[index] as AppendResult));
    }
    return batch.map((_, place) => results.get(place) as AppendResult);
  });
}

const appendInTurn = (database: Database, to: Writing, append: Append): Promise<AppendResult> =>
  append.alone ? appendAlone(database, to, append, append.alone) : appendLimited(database, to, append);

/** Creates a run unless another one is in its way. Those of one workflow and key take turns, as below. */
function appendAlone(database: Database, to: Writing, append: Append, alone: Alone): Promise<AppendResult> {
  const { id, workflow } = append.run;
  return database.transaction(async (one) => {
    await lock(one, to, JSON.stringify([workflow, alone.key]));
    const { text, values } = statement(
      (bind) => `SELECT id FROM ${to.at}runs WHERE run_key = ${bind(alone.key, "text")}
        AND workflow = ${bind(workflow, "text")} AND id <> ${bind(id, "text")}
        AND status IN ('queued', 'running', 'waiting', 'paused')${
          alone.among === "unended"
            ? ""
            : " AND status = 'waiting' AND projection::json -> 'waiting' -> 0 ->> 'kind' = 'start'"
        } LIMIT 1`,
    );
    const [[by] = []] = await one.query(text, values);
    if (by === undefined) return (await send(one, to, [append]))[0] as AppendResult;
    const row = await readLate(one, to.at, id);
    return row ? { ok: false, reason: "exists", row } : { ok: false, reason: "taken", row, by: by as string };
  });
}

const lockName = ({ name }: Writing, what: string): string => `${name} ${what}`;

async function lock(one: Queryable, to: Writing, what: string): Promise<void> {
  await one.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [lockName(to, what)]);
}

/** Applies an append whose claim has limits: in one statement if it can be, else in a transaction. */
async function appendLimited(database: Database, to: Writing, append: Append): Promise<AppendResult> {
  const limits = limitsOf(append);
  const queues = [...new Set(limits.map((limit) => `queue ${limit.queue}`))].sort();
  const locks = queues.map((queue) => lockName(to, queue));
  const call = limitedCall(to, append, limits, locks);
  const [[answer] = []] = call ? await database.query(call.text, call.values) : [];
  if (answer === "taken") return ACCEPTED;
  return answer === "full" ? refusedFull(database, to, append) : appendCounted(database, to, append, queues);
}

/**
 * Claims of a queue take turns: the lock is taken in a statement before the count, so that the count sees what the one
 * before has committed.
 */
function appendCounted(
  database: Database,
  to: Writing,
  append: Append,
  queues: readonly string[],
): Promise<AppendResult> {
  const limits = limitsOf(append);
  return database.transaction(async (one) => {
    for (const queue of queues) await lock(one, to, queue);
    for (const { queue, key, most } of limits) {
      const { text, values } = statement((bind) => {
        const ofKey = key === undefined ? "" : ` AND run_key = ${bind(key, "text")}`;
        return `SELECT count(*) FROM ${to.at}runs WHERE status = 'running' AND queue = ${bind(queue, "text")}${ofKey}
          AND id <> ${bind(append.run.id, "text")}`;
      });
      const [[count] = []] = await one.query(text, values);
      if (Number(count) >= most) return refusedFull(one, to, append);
    }
    const [result] = await send(one, to, [append]);
    return result as AppendResult;
  });
}

/** Any other reason for a refusal comes first. */
async function refusedFull(one: Queryable, { at }: Writing, append: Append): Promise<AppendResult> {
  const row = await readLate(one, at, append.run.id);
  const [[now] = []] = await one.query(`SELECT ${CLOCK}`);
  return { ok: false, reason: refusal(append, row, Number(now)) ?? "full", row };
}

/** Keeps appends of one run in order, because a later one must see the effect of the one before. */
function wavesOf(batch: readonly Append[]): Wave[] {
  const waves: Wave[] = [];
  batch.forEach((append, place) => {
    const size = sizeOf(append);
    let index = 1 + waves.findLastIndex(({ runs }) => runs.has(append.run.id));
    while ((waves[index]?.size ?? 0) + size > MOST_CHARACTERS && waves[index]) index++;
    waves[index] ??= { places: [], appends: [], runs: new Set(), size: 0 };
    const wave = waves[index] as Wave;
    wave.places.push(place);
    wave.appends.push(append);
    wave.runs.add(append.run.id);
    wave.size += size;
  });
  return waves;
}

function sizeOf({ entries, blobs, records }: Append): number {
  const rows = records ? JSON.stringify(records).length : 0;
  const values = blobs.reduce((sum, { data }) => sum + data.length, rows);
  return entries.reduce((sum, { head, data }) => sum + head.length + (data?.length ?? 0), values);
}

/**
 * Sends one statement. A second one follows when a single append was refused, to find out why, or when some of them
 * aren't plain.
 */
export async function send(
  one: Queryable,
  to: Writing,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const plain = appends.filter(isPlain);
  if (plain.length === 0) return sendAny(one, to, appends);
  if (plain.length === appends.length) return sendPlain(one, to, appends);
  const results = new Map<Append, AppendResult>();
  const others = appends.filter((append) => !isPlain(append));
  const answers = [...(await sendPlain(one, to, plain)), ...(await sendAny(one, to, others))];
  for (const [i, append] of [...plain, ...others].entries()) results.set(append, answers[i] as AppendResult);
  return appends.map((append) => results.get(append) as AppendResult);
}

async function sendPlain(
  one: Queryable,
  to: Writing,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  if (appends.length === 1 && (await isTaken(one, to, appends[0] as Append))) return [ACCEPTED];
  const ordered = inOrder(appends);
  const refused = await called(one, manyCall(to.calls, to.opened, ordered));
  if (refused.length === 0) return appends.map(() => ACCEPTED);
  const results = new Map<Append, AppendResult>();
  for (const [place, reason, row] of refused as readonly [Value, Refusal | typeof OTHER, string | null][]) {
    if (reason === OTHER) throw otherStore(to.name);
    const append = ordered[Number(place) - 1] as Append;
    const found = row === null ? await readLate(one, to.at, append.run.id) : toRow(JSON.parse(row));
    results.set(append, { ok: false, reason, row: found });
  }
  return appends.map((append) => results.get(append) ?? ACCEPTED);
}

/** Tries what one append needs least for; false says nothing about why it wasn't taken. */
async function isTaken(one: Queryable, { calls, opened }: Writing, append: Append): Promise<boolean> {
  const step = one.kept && stepCall(calls, opened, append);
  const stepped = step ? await one.kept?.(step) : null;
  if (stepped) return stepped.length === 1;
  const call = oneCall(calls, opened, append);
  return call !== null && (await called(one, call)).length === 1;
}

const called = async (one: Queryable, call: NamedStatement): Promise<readonly (readonly Value[])[]> =>
  (await one.kept?.(call)) ?? one.query(call.text, call.values);

const ACCEPTED: AppendResult = { ok: true };

/** Changes before creations, both by the bytes of their ids: all statements lock runs in this order. */
function inOrder(appends: readonly Append[]): readonly Append[] {
  const keyed = appends.map((append) => ({
    append,
    isNew: append.expect === null,
    id: Buffer.from(append.run.id),
  }));
  keyed.sort((a, b) => Number(a.isNew) - Number(b.isNew) || Buffer.compare(a.id, b.id));
  return keyed.map(({ append }) => append);
}

async function sendAny(
  one: Queryable,
  { at, name, opened }: Writing,
  appends: readonly Append[],
): Promise<readonly AppendResult[]> {
  const { text, values } = batchStatement(at, opened, appends);
  const answers = new Map((await one.query(text, values)).map(([i, ...answer]) => [Number(i), answer]));
  const results: AppendResult[] = [];
  for (const [i, { run }] of appends.entries()) {
    const [reason, row] = answers.get(i) as [Refusal | typeof OTHER | null, string | null];
    if (reason === OTHER) throw otherStore(name);
    if (reason === null) results.push(ACCEPTED);
    else
      results.push({
        ok: false,
        reason,
        row: row === null ? await readLate(one, at, run.id) : toRow(JSON.parse(row)),
      });
  }
  return results;
}

/** The row that a refusal came without: it doesn't exist, or another process has just created it. */
async function readLate(one: Queryable, at: string, id: string): Promise<RunRow | null> {
  const [values] = await one.query(`SELECT ${rowOf("run")} FROM ${at}runs AS run WHERE id = $1`, [id]);
  return values ? toRow(values) : null;
}
