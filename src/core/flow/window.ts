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
const BUCKETS = 400;

/** The longest time by which a use may be dated ahead. */
export const MOST_LEAD_MS = 10_000;

/** How long after its time a place is kept for a run that doesn't come. */
export const PLACE_MS = 30_000;

/** The longest line. Those behind it come back later and ask again. */
export const MOST_IN_LINE = 1_000;

export interface Ask extends Amount {
  readonly who: string;
}

/** The record after asking, and when to come back; or, when it was granted, the date that it counts from. */
export type Answered =
  | { readonly record: LimitRecord; readonly until: number }
  | { readonly record: LimitRecord; readonly until: null; readonly dated: number };

/** True when the limit can never grant this much. */
export const isTooMuch = ({ definition: { calls, tokens } }: LimitRecord, asked: Amount): boolean =>
  asked.calls > (calls ?? Infinity) || asked.tokens > (tokens ?? Infinity);

/**
 * Asks for an amount. It is granted only if all that was used in the last period, this included, stays within the
 * limit: the window slides, so there is no moment at which two periods' worth can be used at once. Whoever must wait
 * gets a place in the line, in order of asking, and finds it again when it comes back.
 *
 * A call begins later than it is granted, so it is dated ahead by `leadMs`, and begins by that date or is dated anew
 * (`redated`). This way the limit holds for the beginnings, too.
 */
export function ask(before: LimitRecord, asked: Ask, now: number, leadMs = 0): Answered {
  const record = swept(before, now);
  const own = record.line.find(({ who }) => who === asked.who);
  if (own && own.at > now) return { record, until: own.at };
  const line = record.line.filter((place) => place !== own);
  const isHeld = record.heldUntil > now;
  // Whoever has waited goes first. While nothing is granted, all line up again in the order in which they come.
  const others = own && !isHeld ? [] : line;
  const from = Math.max(now, isHeld ? record.heldUntil : now, others.at(-1)?.at ?? 0);
  const at = earliest(record, others, asked, from);
  if (at <= now) return granted({ ...record, line }, asked, now + leadMs);
  if (line.length >= MOST_IN_LINE) return { record, until: at };
  const place = { who: asked.who, at, calls: asked.calls, tokens: asked.tokens };
  return { record: { ...record, line: [...line, place].sort((a, b) => a.at - b.at) }, until: at };
}

/** The same for those who don't stand in line: they get it behind all who do, or are told when to ask again. */
export function askNow(before: LimitRecord, asked: Amount, now: number, leadMs = 0): Answered {
  const record = swept(before, now);
  const at = earliest(record, record.line, asked, Math.max(now, record.heldUntil));
  if (at > now) return { record: before, until: at };
  return granted(record, asked, now + leadMs);
}

/** The record without what was counted at this date: it was granted, but not used. `null`: it isn't counted any more. */
export function givenBack(record: LimitRecord, { calls, tokens }: Amount, dated: number): LimitRecord | null {
  const isIt = (one: Bucket) => one.until === dated && one.calls >= calls && one.tokens >= tokens;
  if (!record.used.some(isIt)) return null;
  const less = (one: Bucket) =>
    isIt(one) ? { ...one, calls: one.calls - calls, tokens: one.tokens - tokens } : one;
  return { ...record, used: record.used.map(less) };
}

/**
 * The same use with a later date. There is always room for it: it was counted until now, and still is. `null`: it isn't
 * counted any more, so it has to be asked for again.
 */
export function redated(
  before: LimitRecord,
  asked: Amount,
  dated: number,
  at: { readonly now: number; readonly leadMs: number },
): (Answered & { readonly until: null }) | null {
  const without = givenBack(swept(before, at.now), asked, dated);
  return without && granted(without, asked, at.now + at.leadMs);
}

function granted(record: LimitRecord, { calls, tokens }: Amount, by: number) {
  const dated = endOfBucket(record.definition.periodMs, by);
  const same = record.used.find(({ until }) => until === dated);
  const bucket = { until: dated, calls: calls + (same?.calls ?? 0), tokens: tokens + (same?.tokens ?? 0) };
  const used = [...record.used.filter((one) => one !== same), bucket].sort((a, b) => a.until - b.until);
  return { record: { ...record, used }, until: null, dated };
}

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

/** A use counts from the end of its stretch, so it is never forgotten too early. */
function endOfBucket(periodMs: number, at: number): number {
  const width = Math.ceil(periodMs / BUCKETS);
  return (Math.floor(at / width) + 1) * width;
}

/** Without what no longer counts. */
export function swept(record: LimitRecord, now: number): LimitRecord {
  const { periodMs } = record.definition;
  return {
    ...record,
    // A clock that was ahead for a while must not keep a limit closed.
    used: record.used.filter(
      ({ until, calls, tokens }) =>
        calls + tokens > 0 && until + periodMs > now && until - now <= 2 * periodMs + MOST_LEAD_MS,
    ),
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
