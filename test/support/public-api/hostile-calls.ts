import { HoldfastError } from "../../../src/index.ts";
import type { Target } from "./targets.ts";

export interface HostileCall {
  readonly label: string;
  readonly run: () => unknown;
  /** True when no function can take this: it must be refused. */
  readonly isWrong: boolean;
}

/** `fine`, or what is wrong with the answer. */
export type Outcome = string;

/** What a program may pass by mistake. */
const JUNK: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  Number.NaN,
  "",
  "x",
  "a/b",
  "\u0000",
  "x".repeat(5_000),
  true,
  [],
  ["a"],
  {},
  { bogus: 1 },
  { id: 5 },
  () => 1,
  1n,
  new Date(Number.NaN),
  new Map(),
  Object.create(null),
  new Proxy({}, {}),
];

/** A small generator of random numbers, the same on every run. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const shown = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 20));
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).join()}}`;
  return typeof value === "symbol" ? "a symbol" : String(value);
};

const isOptions = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Every definitely wrong call of each target, then random ones up to `least`. */
export function* hostileCalls(
  targets: readonly Target[],
  seed: number,
  least: number,
): Generator<HostileCall> {
  let made = 0;
  for (const target of targets)
    for (const call of wrongCalls(target)) {
      made++;
      yield call;
    }
  const random = mulberry(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  for (; made < least; made++) {
    const target = pick(targets.filter(({ isActing }) => !isActing));
    const at = Math.floor(random() * (target.right.length + 1));
    const junk = pick(JUNK);
    const given = target.right[at];
    const isSpread = isOptions(given) && !target.whole?.includes(at) && Object.keys(given).length > 0;
    const key = isSpread && random() < 0.5 ? pick(Object.keys(given)) : undefined;
    const spoilt = key === undefined ? junk : { ...(given as object), [key]: junk };
    yield calling(target, at, spoilt, false, key === undefined ? shown(junk) : `${key}: ${shown(junk)}`);
  }
}

/** Calls that no function can take: symbols, and options that don't exist. */
function* wrongCalls(target: Target): Generator<HostileCall> {
  for (const [at, given] of target.right.entries()) {
    if (target.any?.includes(at)) continue;
    yield calling(target, at, Symbol("s"), true, "a symbol");
    if (!isOptions(given) || target.whole?.includes(at)) continue;
    yield calling(target, at, { ...given, bogusOption: 1 }, true, "bogusOption");
    for (const key of Object.keys(given))
      yield calling(target, at, { ...given, [key]: Symbol("s") }, true, `${key}: a symbol`);
  }
}

function calling(target: Target, at: number, spoilt: unknown, isWrong: boolean, what: string): HostileCall {
  const given = [...target.right];
  given[at] = spoilt;
  return {
    label: `${target.name}, argument ${at + 1}: ${what}`,
    run: () => target.call(...(given as never[])),
    isWrong,
  };
}

/** Long enough for a refusal; what is still at work then has accepted the call. One that must be refused gets more. */
const PATIENCE_MS = 400;
const LONG_PATIENCE_MS = 10_000;

export async function outcomeOf({ run, isWrong }: HostileCall): Promise<Outcome> {
  try {
    const late = Symbol("late");
    const result = await Promise.race([
      (async () => run())(),
      new Promise((resolve) => setTimeout(resolve, isWrong ? LONG_PATIENCE_MS : PATIENCE_MS, late).unref()),
    ]);
    await close(result);
    return isWrong ? "was taken" : "fine";
  } catch (error) {
    return failureOf(error);
  }
}

export function failureOf(error: unknown): Outcome {
  if (HoldfastError.is(error) || (error instanceof Error && error.name === "McpError")) return "fine";
  return error instanceof Error ? `${error.name}: ${error.message.slice(0, 90)}` : `threw ${typeof error}`;
}

/** Stores and servers that were opened by a call that is right by chance. */
async function close(result: unknown): Promise<void> {
  if (typeof result !== "object" || result === null || !("close" in result)) return;
  if (typeof result.close === "function") await (result.close as () => unknown)();
}
