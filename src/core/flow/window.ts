import type { RateLimit } from "../rate-limit.ts";

/** Calls and tokens. */
export interface Amount {
  readonly calls: number;
  readonly tokens: number;
}

/** What was used within a short stretch of time, which ends at `until`. */
export interface Bucket extends Amount {
  readonly until: number;
}

/** A place in the line: whose it is, and from when on it counts. */
export interface Place extends Amount {
  readonly who: string;
  readonly at: number;
}

/** A rate limit and what was used of it. */
export interface LimitRecord {
  readonly definition: Required<Pick<RateLimit, "periodMs">> & RateLimit;
  /** The digest of the definition that code declared last. */
  readonly declared?: string;
  /** What was used in the last period, oldest first. */
  readonly used: readonly Bucket[];
  /** Who waits, in order of their places. */
  readonly line: readonly Place[];
  /** Nothing is granted before this: a receiver asked to wait. */
  readonly heldUntil: number;
  readonly heldWhy: string | null;
}

/** The number of stretches that a period is divided into. */
const BUCKETS = 100;

/** How long after its time a place is kept for a run that doesn't come. */
export const PLACE_MS = 30_000;

/** The longest line. Those behind it come back later and ask again. */
export const MOST_IN_LINE = 1_000;

export interface Ask extends Amount {
  readonly who: string;
}

/** The record after asking, and when to come back: `null` when it was granted. */
export interface Answered {
  readonly record: LimitRecord;
  readonly until: number | null;
}

/** True when the limit can never grant this much. */
export const isTooMuch = ({ definition: { calls, tokens } }: LimitRecord, asked: Amount): boolean =>
  asked.calls > (calls ?? Infinity) || asked.tokens > (tokens ?? Infinity);

/**
 * Asks for an amount. It is granted only if all that was used in the last period, this included, stays within the
 * limit: the window slides, so there is no moment at which two periods' worth can be used at once. Whoever must wait
 * gets a place in the line, in order of asking, and finds it again when it comes back.
 */
export function ask(before: LimitRecord, asked: Ask, now: number): Answered {
  const record = swept(before, now);
  const own = record.line.find(({ who }) => who === asked.who);
  if (own && own.at > now) return { record, until: own.at };
  const line = record.line.filter((place) => place !== own);
  const isHeld = record.heldUntil > now;
  // Whoever has waited goes first. While nothing is granted, all line up again in the order in which they come.
  const others = own && !isHeld ? [] : line;
  const from = Math.max(now, isHeld ? record.heldUntil : now, others.at(-1)?.at ?? 0);
  const at = earliest(record, others, asked, from);
  if (at <= now) return { record: { ...record, line, used: withUse(record, asked, now) }, until: null };
  if (line.length >= MOST_IN_LINE) return { record, until: at };
  const place = { who: asked.who, at, calls: asked.calls, tokens: asked.tokens };
  return { record: { ...record, line: [...line, place].sort((a, b) => a.at - b.at) }, until: at };
}

/** The same for those who don't stand in line: they get it behind all who do, or are told when to ask again. */
export function askNow(before: LimitRecord, asked: Amount, now: number): Answered {
  const record = swept(before, now);
  const at = earliest(record, record.line, asked, Math.max(now, record.heldUntil));
  if (at > now) return { record: before, until: at };
  return { record: { ...record, used: withUse(record, asked, now) }, until: null };
}

/** The record without one call of the stretch that it was counted in: it was granted, but not made. */
export const givenBack = (record: LimitRecord, until: number): LimitRecord => ({
  ...record,
  used: record.used.map((bucket) =>
    bucket.until === until && bucket.calls > 0 ? { ...bucket, calls: bucket.calls - 1 } : bucket,
  ),
});

/** The first moment from `from` on at which there is room. */
function earliest(
  { definition, used }: LimitRecord,
  line: readonly Place[],
  asked: Amount,
  from: number,
): number {
  const { periodMs, calls = Infinity, tokens = Infinity } = definition;
  const uses = [
    ...used.map((bucket) => ({ ...bucket, at: bucket.until })),
    ...line.map((place) => ({ ...place, at: endOfBucket(periodMs, place.at) })),
  ].sort((a, b) => a.at - b.at);
  let sum = { calls: asked.calls, tokens: asked.tokens };
  for (const use of uses)
    if (use.at + periodMs > from) sum = { calls: sum.calls + use.calls, tokens: sum.tokens + use.tokens };
  let at = from;
  for (const use of uses) {
    if (sum.calls <= calls && sum.tokens <= tokens) break;
    if (use.at + periodMs <= from) continue;
    sum = { calls: sum.calls - use.calls, tokens: sum.tokens - use.tokens };
    at = use.at + periodMs;
  }
  return at;
}

function endOfBucket(periodMs: number, at: number): number {
  const width = Math.ceil(periodMs / BUCKETS);
  return (Math.floor(at / width) + 1) * width;
}

/** A use counts from the end of its stretch, so it is never forgotten too early. */
function withUse(
  { definition, used }: LimitRecord,
  { calls, tokens }: Amount,
  now: number,
): readonly Bucket[] {
  const until = endOfBucket(definition.periodMs, now);
  const last = used.at(-1);
  if (last && last.until >= until)
    return [
      ...used.slice(0, -1),
      { until: last.until, calls: last.calls + calls, tokens: last.tokens + tokens },
    ];
  return [...used, { until, calls, tokens }];
}

/** Without what no longer counts. */
export function swept(record: LimitRecord, now: number): LimitRecord {
  const { periodMs } = record.definition;
  return {
    ...record,
    // A clock that was ahead for a while must not keep a limit closed.
    used: record.used.filter(({ until }) => until + periodMs > now && until - now <= 2 * periodMs),
    line: record.line.filter(({ at }) => at + PLACE_MS > now && at - now <= MOST_AHEAD_MS),
    heldUntil: record.heldUntil - now > MOST_HELD_MS ? 0 : record.heldUntil,
  };
}

const DAY = 86_400_000;
/** The longest time that a receiver may hold a limit. */
export const MOST_HELD_MS = 7 * DAY;
const MOST_AHEAD_MS = 30 * DAY;

/** How much was used within the last period. */
export const usedNow = (record: LimitRecord, now: number): Amount =>
  swept(record, now).used.reduce(
    (sum, { calls, tokens }) => ({ calls: sum.calls + calls, tokens: sum.tokens + tokens }),
    { calls: 0, tokens: 0 },
  );
