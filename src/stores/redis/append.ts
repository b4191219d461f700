import { keepRecent } from "../../core/recent.ts";
import type { Append, AppendResult, Refusal, Renewal } from "../../core/store/contract.ts";
import { type RunRow, terminal } from "../../core/types.ts";
import type { Commands } from "./commands.ts";
import { texts } from "./commands.ts";
import { conditionsOf } from "./conditions.ts";
import { type Bucket, bucketOf, type Layout, laneOf, placeOf, taggedLists } from "./keys.ts";
import { recordField } from "./records.ts";
import { toMember, toRow, toTexts } from "./rows.ts";
import { APPEND, RENEW } from "./scripts.ts";

/** The lists of its bucket that a run is in, which must be named when it moves. */
interface Standing {
  readonly workflow: string;
  /** Its workflow and priority. */
  readonly lane: string;
  readonly place: string;
}

const MOST_STANDINGS = 10_000;

export interface Writing {
  readonly commands: Commands;
  readonly layout: Layout;
  readonly incarnation: string;
  /** How long a finished run is kept; `null` for ever. */
  readonly ttlMs: number | null;
  /** The last known lists of each run. A wrong guess only costs one more round trip. */
  readonly standings: Map<string, Standing>;
}

/** Appends to different runs are sent together, appends to the same run one after another. */
export function appendBatch(to: Writing, batch: readonly Append[]): Promise<readonly AppendResult[]> {
  return byRun(
    batch,
    ({ run }) => run.id,
    (append) => appendOne(to, append),
  );
}

export function renewBatch(to: Writing, batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
  return byRun(
    batch,
    ({ runId }) => runId,
    (renewal) => renewOne(to, renewal),
  );
}

/**
 * Reports nothing before every command has been answered, so that a caller who looks up an outcome finds it settled.
 */
async function byRun<T, R>(
  batch: readonly T[],
  idOf: (one: T) => string,
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const last = new Map<string, Promise<R>>();
  const all = batch.map((one) => {
    const before = last.get(idOf(one));
    const mine = before ? before.then(() => work(one)) : work(one);
    last.set(idOf(one), mine);
    return mine;
  });
  await Promise.allSettled(all);
  return Promise.all(all);
}

async function appendOne(to: Writing, append: Append): Promise<AppendResult> {
  const { id, workflow } = append.run;
  const place = placeOf(append.run);
  const known = append.expect === null ? undefined : to.standings.get(id);
  for (let from = known ?? { workflow, place, lane: laneOf(append.run) }; ; ) {
    const bucket = bucketOf(to.layout, id);
    const own = keysOf(bucket, append, from);
    const { keys, text } = conditionsOf(to.layout, append);
    const reply = await to.commands.run(
      APPEND,
      [...own, ...keys],
      argsOf(to, append, from, [own.length, text]),
    );
    const [answer, ...rest] = reply as readonly unknown[];
    if (String(answer) === "elsewhere") {
      from = standing(rest);
      continue;
    }
    if (String(answer) === "taken") return { ok: false, reason: "taken", row: null, by: String(rest[0]) };
    if (String(answer) !== "ok") return { ok: false, reason: String(answer) as Refusal, row: toRow(rest[0]) };
    if (append.claim.kind === "erase") to.standings.delete(id);
    else keepRecent(to.standings, id, { ...from, place }, MOST_STANDINGS);
    return { ok: true };
  }
}

async function renewOne(to: Writing, { runId, epoch, token, ttlMs }: Renewal): Promise<RunRow | null> {
  const bucket = bucketOf(to.layout, runId);
  for (let from = to.standings.get(runId) ?? { workflow: "", place: "", lane: "" }; ; ) {
    const keys = [bucket.mark, bucket.run(runId)[0], ...bucket.wakes(from.lane)];
    const args = [to.incarnation, runId, epoch, JSON.stringify(token), ttlMs, from.lane];
    const [answer, ...rest] = (await to.commands.run(RENEW, keys, args)) as readonly unknown[];
    if (String(answer) !== "elsewhere") return String(answer) === "ok" ? toRow(rest[0]) : null;
    from = standing(rest);
    keepRecent(to.standings, runId, from, MOST_STANDINGS);
  }
}

function standing(reply: readonly unknown[]): Standing {
  const [workflow, place, lane] = texts(reply);
  return { workflow: workflow ?? "", place: place ?? "", lane: lane ?? "" };
}

function keysOf(bucket: Bucket, { run }: Append, { workflow, place, lane }: Standing): readonly string[] {
  const now = placeOf(run);
  return [
    bucket.mark,
    ...bucket.run(run.id),
    ...bucket.wakes(lane),
    bucket.at(place),
    bucket.ofAt(workflow, place),
    bucket.at(now),
    bucket.ofAt(workflow, now),
    bucket.all,
    bucket.of(workflow),
    bucket.under(run.parent?.runId ?? ""),
    bucket.levels(workflow),
    ...taggedLists(bucket, run),
  ];
}

function argsOf(
  to: Writing,
  append: Append,
  from: Standing,
  conditions: readonly [ownKeys: number, text: string],
): readonly (string | number)[] {
  const { run, expect, claim, entries } = append;
  const { identity, projection } = toTexts(append);
  const {
    owner = null,
    token = null,
    ttlMs = 0,
  } = claim as Partial<Extract<typeof claim, { owner: string }>>;
  const last = entries.at(-1);
  return [
    to.incarnation,
    run.id,
    expect?.seq ?? "",
    expect?.epoch ?? "",
    JSON.stringify(expect?.token ?? null),
    claim.kind,
    JSON.stringify(owner),
    JSON.stringify(token),
    ttlMs,
    from.workflow,
    from.place,
    run.workflow,
    placeOf(run),
    identity,
    projection,
    run.createdAt,
    run.wakeAt ?? "",
    last ? last.seq + last.count - 1 : "",
    append.head,
    to.ttlMs !== null && mayExpire(run) ? to.ttlMs : "",
    run.parent ? 1 : 0,
    run.priority,
    from.lane,
    (claim.kind === "release" && claim.epoch) || 0,
    ...conditions,
    ...contentArgs(append),
  ];
}

/** What is dropped, and what is added. */
function contentArgs({ entries, blobs, drop, records = [] }: Append): readonly (string | number)[] {
  return [
    drop?.entries.length ?? 0,
    ...(drop?.entries ?? []),
    ...counted([...(drop?.blobs ?? []), ...(drop?.records ?? []).map(recordField)]),
    entries.length,
    ...entries.flatMap((entry) => [
      entry.seq,
      toMember(entry),
      entry.data === null ? 0 : 1,
      entry.data ?? "",
    ]),
    blobs.length + records.length,
    ...blobs.flatMap(({ hash, data }) => [hash, data]),
    ...records.flatMap((record) => [recordField(record.seq), JSON.stringify(record)]),
  ];
}

const counted = (fields: readonly string[]): readonly (string | number)[] => [fields.length, ...fields];

/** True when the run has ended for good and isn't pinned. A failed run may still be resumed. */
const mayExpire = ({ status, finishedAt, pinned, openChildren }: Append["run"]): boolean =>
  terminal(status) && finishedAt !== null && !pinned && openChildren === 0;
