import type { Identity, ThreadState } from "./state.ts";
import type { Stored } from "./stored.ts";

/**
 * A state as the journal holds it. What moves at each checkpoint is in one place, and numbers that move along with it
 * are written in relation to it, so that a checkpoint of a graph that goes round costs one short change.
 */
export interface KeptState extends Omit<ThreadState, "checkpoint"> {
  readonly at: readonly [
    id: string,
    parent: string | null,
    /** Milliseconds after the time in the id; a text where that doesn't give it. */
    ts: number | string,
    /** The newest version of a channel: 0 in `versions`; the one before it is 0 in `seen`. `null`: all are as they are. */
    newest: number | null,
    /** The step in the metadata, which is 0 there; `null`: it is as it is. */
    step: number | null,
  ];
  readonly v: number;
}

type Versions = Readonly<Record<string, number | string>>;

/** A state as the journal holds it. */
export function keptOf({ checkpoint, versions, seen, meta, ...rest }: ThreadState): KeptState {
  const { id, parent, ts, v } = checkpoint;
  const newest = newestOf(versions, seen);
  const step = stepIn(meta);
  return {
    ...rest,
    at: [id, parent, relativeTime(id, ts), newest, step],
    v,
    versions: newest === null ? versions : replaced(versions, newest, 0),
    seen: newest === null ? seen : mapped(seen, (one) => replaced(one, newest - 1, 0)),
    meta: step === null ? meta : withStep(meta, 0),
  };
}

/** The state that the journal holds, also one that an earlier version of this package has written whole. */
export function stateIn(kept: KeptState | ThreadState): ThreadState {
  if (!("at" in kept)) return kept;
  const { at, v, versions, seen, meta, ...rest } = kept;
  const [id, parent, ts, newest, step] = at;
  const checkpoint: Identity = { id, parent, ts: absoluteTime(id, ts), v };
  return {
    ...rest,
    checkpoint,
    versions: newest === null ? versions : replaced(versions, 0, newest),
    seen: newest === null ? seen : mapped(seen, (one) => replaced(one, 0, newest - 1)),
    meta: step === null ? meta : withStep(meta, step),
  };
}

/** `null` where a version isn't a number from 1. */
function newestOf(versions: Versions, seen: ThreadState["seen"]): number | null {
  const all = [versions, ...Object.values(seen)].flatMap((one) => Object.values(one));
  if (!all.every((version): version is number => Number.isSafeInteger(version) && Number(version) > 0))
    return null;
  const numbers = Object.values(versions).map(Number);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

const replaced = (versions: Versions, from: number, to: number): Versions =>
  mapped(versions, (version) => (version === from ? to : version));

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

function stepIn([type, data]: Stored): number | null {
  if (type !== "json" || typeof data !== "object" || data === null) return null;
  const step: unknown = Reflect.get(data, "step");
  return typeof step === "number" && Number.isSafeInteger(step) && !Object.is(step, -0) ? step : null;
}

const withStep = ([type, data]: Stored, step: number): Stored => [type, { ...Object(data), step }];

/** The ids of LangGraph begin with their time, in tenths of microseconds since the beginning of the Gregorian calendar. */
const TIMED = /^([\da-f]{8})-([\da-f]{4})-6([\da-f]{3})-/;
const GREGORIAN = 0x01b21dd213814000n;
const PER_MS = 10_000n;
/** A larger difference is written as the time itself. */
const MOST_MS = 100_000;

function timeIn(id: string): number | undefined {
  const [, high, middle, low] = TIMED.exec(id) ?? [];
  if (high === undefined) return undefined;
  return Number((BigInt(`0x${high}${middle}${low}`) - GREGORIAN) / PER_MS);
}

function relativeTime(id: string, ts: string): number | string {
  const [from, at] = [timeIn(id), Date.parse(ts)];
  const after = from === undefined ? Number.NaN : at - from;
  return Math.abs(after) < MOST_MS && absoluteTime(id, after) === ts ? after : ts;
}

function absoluteTime(id: string, ts: number | string): string {
  if (typeof ts === "string") return ts;
  const at = new Date((timeIn(id) ?? Number.NaN) + ts);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
