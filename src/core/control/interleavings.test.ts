import { describe, expect, it } from "vitest";
import { journal } from "../../../lab/simulator/operator.ts";
import { isExhaustive } from "../../../test/support/exhaustive.ts";
import { everyOrder, type Schedule, type Touch } from "../../../test/support/interleavings.ts";
import {
  type Clock,
  createEngine,
  type Engine,
  type HoldfastError,
  type Run,
  workflow,
} from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { checkInvariants } from "../../testing/invariants/invariants.ts";
import { seededIds } from "../ids.ts";
import type { JournalEvent } from "../journal/events.ts";
import { silentLogger } from "../logger.ts";
import type { Store } from "../store/contract.ts";

const START = 1_700_000_000_000;
const LIMIT = 60_000;
/** Timers up to this may fire at any moment; longer ones when nothing else is to be done. */
const SHORT = 100;

/** What a call touches. A worker looks at the clock all the time, a desk only when it asks the store for it. */
function touchOf(actor: string, key: keyof Store): Touch {
  const time = actor === "worker" || key === "now" ? ({ time: "reads" } as const) : {};
  if (key === "now" || key === "identity") return time;
  return { ...time, store: key === "append" || key === "renew" ? "writes" : "reads" };
}

/**
 * A look at the last entries right after the row: it only says whether the row is sound, and is repeated where the run has moved on. As
 * turns of their own they would make ten orders of each.
 */
const isGlance = (key: keyof Store, [, range]: readonly unknown[]): boolean =>
  key === "entries" && [2, 16].includes((range as { readonly limit: number }).limit);

/** With undoing there are tens of thousands. */
const isLong = isExhaustive;

/** One store, and actors each of whose calls and timers waits for its turn. */
function world(schedule: Schedule) {
  let now = START;
  const clockOf = (actor: string): Clock => ({
    now: () => now,
    monotonic: () => now - START,
    defer: queueMicrotask,
    setTimer: (callback, ms) => schedule.timer(actor, now + ms, ms > SHORT, callback),
  });
  const real = createMemoryStore({ clock: clockOf("store") });
  const slow = (actor: string): Store =>
    new Proxy(real, {
      get(target, key: keyof Store) {
        const member = target[key];
        if (typeof member !== "function" || key === "transaction") return member;
        return async (...args: never[]) => {
          if (isLong || !isGlance(key, args)) await schedule.turn(actor, touchOf(actor, key));
          return (member as (...given: never[]) => unknown).apply(target, args);
        };
      },
    });
  const make = (actor: string, workflows: Parameters<typeof createEngine>[0]["workflows"] = []) =>
    createEngine({
      store: slow(actor),
      workflows,
      execute: workflows.length > 0,
      owner: actor,
      clock: clockOf(actor),
      ids: seededIds(actor.length),
      logger: silentLogger,
      claimMs: 1e9,
    });
  const expire = async () => {
    await schedule.turn("time", { time: "writes" });
    now += LIMIT + 1;
  };
  return { real, make, expire };
}

const ACTS = {
  pause: (desk: Engine) => desk.pause("r", { actor: "ada" }),
  resume: (desk: Engine) => desk.resume("r", { actor: "ben" }),
  cancel: (desk: Engine) => desk.cancel("r", { actor: "cleo" }),
  undo: (desk: Engine) => desk.cancel("r", { actor: "dan", compensate: true }),
  yes: (desk: Engine) => desk.answer("r", "gate", { choice: "yes", actor: "eve" }),
  no: (desk: Engine) => desk.answer("r", "gate", { choice: "no", actor: "fay" }),
  inject: (desk: Engine) => desk.inject("r", "a hint", { actor: "gus" }),
} satisfies Record<string, (desk: Engine) => Promise<unknown>>;

type Verb = keyof typeof ACTS | "expire";

interface Played {
  readonly answers: Readonly<Partial<Record<Verb, string>>>;
  readonly calls: readonly string[];
  readonly atRest: Run;
  readonly events: readonly JournalEvent[];
}

/** People act on a run from desks of their own: while its step is under way, or while it waits at its gate and a worker looks for work. */
async function play(schedule: Schedule, verbs: readonly Verb[], at: "step" | "gate"): Promise<Played> {
  const { real, make, expire } = world(schedule);
  const calls: string[] = [];
  let answer = (): void => undefined;
  const reply = new Promise<void>((resolve) => void (answer = resolve));
  const flow = workflow("flow", async (ctx) => {
    const work = () => (calls.push("one"), at === "step" ? reply : undefined);
    await ctx.step("one", work, { effect: "once", compensate: () => void calls.push("-one") });
    if (at === "step") return "no gate";
    const onTimeout = { choice: "no" } as const;
    const { choice } = await ctx.gate("gate", { choices: ["yes", "no"], timeoutMs: LIMIT, onTimeout });
    await ctx.step("two", () => void calls.push("two"), { effect: "keyed" });
    return choice;
  });
  const worker = make("worker", [flow]);
  await worker.start(flow, undefined, { id: "r" });
  if (at === "gate") await worker.settled("r");
  await schedule.idle();
  schedule.explore();
  answer();
  const looking = at === "gate" ? worker.recover() : undefined;
  const told = verbs.map(async (verb, index) => {
    const said = verb === "expire" ? expire() : ACTS[verb](make(`desk ${index}`));
    return [
      verb,
      await said.then(
        () => "taken",
        (error: HoldfastError) => error.code,
      ),
    ] as const;
  });
  const answers = Object.fromEntries(await Promise.all(told));
  await looking;
  schedule.calm();
  const atRest = await worker.settled("r");
  expect(await checkInvariants(real, { calls: [], healed: true })).toEqual([]);
  return { answers, calls, atRest, events: await journal(real, "r") };
}

/** What must be true in whatever order it happened. */
function check({ answers, calls, atRest, events }: Played): void {
  const count = (...kinds: JournalEvent["kind"][]) =>
    events.filter(({ kind }) => kinds.includes(kind)).length;
  expect(new Set(calls).size).toBe(calls.length);
  for (const answer of Object.values(answers))
    expect(["taken", "HF-1007", "HF-1013", "HF-1014", "HF-2150"]).toContain(answer);
  // An act that was taken stands, one that was refused has left nothing.
  const taken = (verb: Verb) => (answers[verb] === "taken" ? 1 : 0);
  expect(count("gate_answered")).toBe(taken("yes") + taken("no"));
  expect(count("gate_answered")).toBeLessThan(2);
  expect(count("signal_received")).toBe(taken("inject"));
  expect(count("pause_requested")).toBe(taken("pause"));
  expect(count("run_cancelled", "run_completed", "run_failed")).toBeLessThan(2);
  if (taken("cancel") + taken("undo") > 0) expect(atRest.status).toBe("cancelled");
  else expect(["completed", "waiting", "paused"]).toContain(atRest.status);
  // A pause is in effect until somebody ends it.
  const last = events.findLast(({ kind }) => STEERING.includes(kind));
  if (last?.kind === "pause_requested") expect(["paused", "completed"]).toContain(atRest.status);
}

const STEERING: readonly JournalEvent["kind"][] = [
  "pause_requested",
  "run_resumed",
  "cancel_requested",
  "run_cancelled",
];

type Pair = readonly [Verb, Verb];

const pairs = (...verbs: readonly Verb[]): Pair[] =>
  verbs.flatMap((one, index) => verbs.slice(index + 1).map((other): Pair => [one, other]));

/** The pairs that are left out of a sample are among the random orders of races.test.ts. */
const AT_STEP: readonly Verb[] = [
  "pause",
  "cancel",
  ...(isLong ? (["resume", "inject", "undo"] as const) : (["resume"] as const)),
];
const AT_GATE: readonly Verb[] = [...(isLong ? AT_STEP : (["pause", "cancel"] as const)), "yes", "expire"];

describe("two people who act on one run", () => {
  const counted = { orders: 0, outcomes: 0 };

  const explore = async ([one, other]: Pair, at: "step" | "gate"): Promise<void> => {
    const outcomes = new Set<string>();
    const { orders } = await everyOrder(async (schedule) => {
      const played = await play(schedule, [one, other], at);
      check(played);
      outcomes.add(`${JSON.stringify(played.answers)} ${played.atRest.status}`);
    });
    expect(orders).toBeGreaterThan(3);
    counted.orders += orders;
    counted.outcomes += outcomes.size;
  };
  const time = isLong ? 3_600_000 : 120_000;

  it("have one winner and clear answers in every order there is, while a step is under way", {
    timeout: time,
  }, async () => {
    for (const pair of pairs(...AT_STEP)) await explore(pair, "step");
  });

  it("have one winner and clear answers in every order there is, while the run waits at a gate", {
    timeout: time,
  }, async () => {
    for (const pair of [...pairs(...AT_GATE), ["yes", "no"] as const]) await explore(pair, "gate");
  });

  it("were tried in many orders, with many outcomes", () => {
    expect(counted.orders).toBeGreaterThan(isLong ? 5_000 : 500);
    expect(counted.outcomes).toBeGreaterThan(isLong ? 50 : 15);
  });
});
