import { checkKeys, checkMethod } from "../core/check-options.ts";
import type { Engine } from "../core/engine/engine.ts";
import type { Replay, ReplayOptions } from "../core/manage/replay/replay-run.ts";

/** What {@link checkReplay} has found. */
export interface ReplayCheck {
  /** True when there are no problems. */
  readonly ok: boolean;
  /** One sentence each. */
  readonly problems: readonly string[];
}

/**
 * Replays a run twice against its records, as a resume would, and reports what depends on something else: recorded steps
 * that the code doesn't ask for, differences between the two replays, and calls of the clock, of random numbers, timers
 * and `fetch` that the workflow's function makes outside of steps. Calls no step and changes nothing.
 *
 * While it works it watches the global functions of this process, so don't run other code beside it. It sees only
 * these; a library that reaches outside in another way isn't noticed.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { checkReplay } from "holdfast/testing";
 *
 * export async function expectDeterministic(engine: Engine, runId: string): Promise<void> {
 *   const { ok, problems } = await checkReplay(engine, runId);
 *   if (!ok) throw new Error(problems.join("\n"));
 * }
 * ```
 */
export async function checkReplay(
  engine: Engine,
  address: string,
  options: ReplayOptions = {},
): Promise<ReplayCheck> {
  checkMethod("engine", engine, "replay");
  checkKeys(options, ["workflow"]);
  const outside = new Set<string>();
  const unwatch = watchGlobals((what) => outside.add(`The function uses ${what} outside of steps.`));
  try {
    const first = await engine.replay(address, options);
    const second = await engine.replay(address, options);
    const problems = [...outside, ...notAsked(first), ...differences(first, second)];
    return { ok: problems.length === 0, problems };
  } finally {
    unwatch();
  }
}

const notAsked = ({ notAsked: steps }: Replay): readonly string[] =>
  steps.length === 0 ? [] : [`Recorded steps aren't asked for: ${steps.join(", ")}.`];

function differences(first: Replay, second: Replay): readonly string[] {
  const parts = [
    ["the steps it asks for", ({ steps }: Replay) => steps.map(({ step }) => step)],
    [
      "the place where it stops",
      ({ stoppedAt }: Replay) => stoppedAt.map(({ step, action }) => [step, action]),
    ],
    ["its end", ({ end }: Replay) => end],
    ["its result", ({ result }: Replay) => result],
  ] as const;
  return parts.flatMap(([what, of]) => {
    const [one, other] = [textOf(of(first)), textOf(of(second))];
    return one === other ? [] : [`Two replays differ in ${what}: ${one} and ${other}.`];
  });
}

const textOf = (value: unknown): string => {
  const text =
    JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one)) ?? "nothing";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

/** The objects and functions that are watched. */
const WATCHED = [
  [Date, "now", "Date.now"],
  [Math, "random", "Math.random"],
  [globalThis, "fetch", "fetch"],
  [globalThis, "setTimeout", "setTimeout"],
  [globalThis, "setInterval", "setInterval"],
  [globalThis.crypto, "randomUUID", "crypto.randomUUID"],
] as const;

/** Reports calls from code that is neither Holdfast's nor Node's, with their places. Returns a function that ends it. */
function watchGlobals(report: (what: string) => void): () => void {
  const restore = WATCHED.map(([holder, name, what]) => {
    const own = Object.getOwnPropertyDescriptor(holder, name);
    const original = Reflect.get(holder, name) as (...given: readonly unknown[]) => unknown;
    const watched = function (this: unknown, ...given: readonly unknown[]): unknown {
      const place = callerOf(new Error().stack ?? "");
      if (place !== undefined) report(`${what} at ${place}`);
      return Reflect.apply(original, this, given);
    };
    Reflect.defineProperty(holder, name, { configurable: true, writable: true, value: watched });
    return () => {
      if (own) Reflect.defineProperty(holder, name, own);
      else Reflect.deleteProperty(holder, name);
    };
  });
  const ownDate = watchDates(report);
  return () => {
    for (const one of [ownDate, ...restore]) one();
  };
}

/** `new Date()` without a time is the clock, too. */
function watchDates(report: (what: string) => void): () => void {
  const Original = globalThis.Date;
  globalThis.Date = new Proxy(Original, {
    construct(target, given, self) {
      const place = given.length === 0 ? callerOf(new Error().stack ?? "") : undefined;
      if (place !== undefined) report(`new Date() at ${place}`);
      return Reflect.construct(target, given, self) as object;
    },
  });
  return () => {
    globalThis.Date = Original;
  };
}

/** This file and its package: calls from here are the engine's own. */
const HERE = /(?:file:\/\/)?([^\s()]+?)[/\\](?:src|dist)[/\\]/.exec(import.meta.url)?.[1] ?? "";

/** The place of the call, if the code isn't ours and not Node's. */
function callerOf(stack: string): string | undefined {
  const line = stack.split("\n").find((one, index) => index > 1 && one.includes("at "));
  const place = /\(?((?:file:\/\/)?[^\s()]+:\d+):\d+\)?$/.exec(line ?? "")?.[1];
  if (place === undefined || place.startsWith("node:")) return undefined;
  const isOurs = HERE !== "" && new RegExp(`${escaped(HERE)}[/\\\\](?:src|dist)[/\\\\]`).test(place);
  return isOurs ? undefined : place.replace("file://", "");
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
