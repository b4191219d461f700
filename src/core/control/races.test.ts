import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { journal } from "../../../lab/simulator/operator.ts";
import { sampled } from "../../../test/support/exhaustive.ts";
import type { Clock, Engine, HoldfastError } from "../../index.ts";
import { createEngine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { checkInvariants } from "../../testing/invariants/invariants.ts";
import { seededIds } from "../ids.ts";
import { silentLogger } from "../logger.ts";
import type { Store } from "../store/contract.ts";

/** How many different orders of store calls, timers and acts were tried, over all tests of this file. */
const orders = new Set<string>();
const TRIES = sampled(75, 2_500);

type Scheduler = fc.Scheduler;
type Verb = "pause" | "resume" | "cancel" | "undo" | "yes" | "no" | "inject";

/** Every store call waits for its turn, and so does every timer: which comes first is the scheduler's choice. */
function race(s: Scheduler, seed: number) {
  const turn = (label: string): Promise<unknown> => s.schedule(Promise.resolve(), label);
  const clock: Clock = {
    now: () => 1_700_000_000_000,
    monotonic: () => 0,
    defer: (callback) => void (async () => (await turn("defer"), callback()))(),
    setTimer(callback) {
      let on = true;
      void (async () => (await turn("timer"), on && callback()))();
      return () => void (on = false);
    },
  };
  const real = createMemoryStore({ clock });
  const slow = (name: string): Store =>
    new Proxy(real, {
      get(target, key: keyof Store) {
        const member = target[key];
        if (typeof member !== "function" || key === "transaction") return member;
        return async (...args: never[]) => {
          await turn(`${name} ${key}`);
          return (member as (...given: never[]) => unknown).apply(target, args);
        };
      },
    });
  const make = (
    name: string,
    execute: boolean,
    workflows: Parameters<typeof createEngine>[0]["workflows"] = [],
  ) =>
    createEngine({
      store: slow(name),
      workflows,
      execute,
      owner: name,
      clock,
      ids: seededIds(seed + name.length),
      logger: silentLogger,
    });
  return { real, make, turn };
}

const act = (engine: Engine, verb: Verb): Promise<unknown> => {
  switch (verb) {
    case "pause":
      return engine.pause("r", { actor: "ada", reason: "a look" });
    case "resume":
      return engine.resume("r", { actor: "ben" });
    case "cancel":
      return engine.cancel("r", { actor: "cleo" });
    case "undo":
      return engine.cancel("r", { actor: "cleo", compensate: true });
    case "inject":
      return engine.inject("r", "a hint");
    default:
      return engine.answer("r", "gate", { choice: verb, actor: verb });
  }
};

/** Starts a run with effects and a gate, lets people act on it from two desks at any moment (`isRipe`: when it waits at the gate). */
async function play(s: Scheduler, verbs: readonly Verb[], isRipe: boolean) {
  const { real, make } = race(s, verbs.length);
  const calls: string[] = [];
  const flow = workflow("flow", async (ctx) => {
    await ctx.step("one", () => void calls.push("one"), {
      effect: "once",
      compensate: () => void calls.push("-one"),
    });
    const answer = await ctx.gate("gate", { choices: ["yes", "no"] });
    await ctx.step("two", () => void calls.push("two"), { effect: "keyed" });
    return answer.choice;
  });
  const worker = make("worker", true, [flow]);
  const desks = [make("desk", false), make("other desk", false)];
  await s.waitFor(worker.start(flow, undefined, { id: "r" }));
  if (isRipe) await s.waitFor(worker.settled("r"));
  const told = verbs.map((verb, index) =>
    act(desks[index % 2] as Engine, verb).then(
      () => "taken",
      (error: HoldfastError) => error.code,
    ),
  );
  const answers = await s.waitFor(Promise.all(told));
  const atRest = await s.waitFor(worker.settled("r"));
  orders.add(
    s
      .report()
      .map(({ label, status }) => `${label} ${status}`)
      .join(),
  );
  const events = await journal(real, "r");
  return { real, calls, answers, atRest, events };
}

const verbs = (...list: Verb[]) => fc.shuffledSubarray(list, { minLength: list.length });
const check = (
  given: fc.Arbitrary<readonly Verb[]>,
  test: (s: Scheduler, verbs: readonly Verb[], isRipe: boolean) => Promise<void>,
) => fc.assert(fc.asyncProperty(fc.scheduler(), given, fc.boolean(), test), { numRuns: TRIES });

const codes = ["taken", "HF-1007", "HF-1013", "HF-1014"];

describe("people who act on a run at the same moment", () => {
  it("each get a clear answer, and every promise is kept, whoever comes first", async () => {
    await check(verbs("pause", "resume", "cancel", "yes", "no", "inject"), async (s, list, isRipe) => {
      const { real, calls, answers, atRest, events } = await play(s, list, isRipe);
      for (const answer of answers) expect(codes).toContain(answer);
      expect(new Set(calls).size).toBe(calls.length);
      expect(await checkInvariants(real, { calls: [], acked: [], effectRows: [], healed: false })).toEqual(
        [],
      );
      expect(answers[list.indexOf("cancel")] === "taken" ? atRest.status : "not cancelled").toBe(
        answers[list.indexOf("cancel")] === "taken" ? "cancelled" : "not cancelled",
      );
      const ends = events.filter(({ kind }) => kind === "run_cancelled" || kind === "run_completed");
      expect(ends.length).toBeLessThan(2);
    });
  });

  it("have exactly one answer at a gate taken, and the other is told which", async () => {
    await check(verbs("yes", "no", "pause", "resume"), async (s, list, isRipe) => {
      const { answers, events } = await play(s, list, isRipe);
      const taken = [answers[list.indexOf("yes")], answers[list.indexOf("no")]].filter(
        (one) => one === "taken",
      );
      const answered = events.filter(({ kind }) => kind === "gate_answered");
      expect(answered).toHaveLength(taken.length);
      expect(taken.length).toBeLessThan(2);
    });
  });

  it("see no step begin between a pause and the resume after it", async () => {
    await check(verbs("pause", "yes", "resume"), async (s, list, isRipe) => {
      const { events } = await play(s, list, isRipe);
      let pausing = false;
      for (const { kind } of events) {
        if (kind === "pause_requested") pausing = true;
        if (kind === "run_resumed") pausing = false;
        if (kind === "step_started") expect(pausing).toBe(false);
      }
    });
  });

  it("cancel with and without undoing, and what was done is undone at most once", async () => {
    await check(verbs("undo", "cancel", "pause", "yes"), async (s, list, isRipe) => {
      const { calls, atRest, answers } = await play(s, list, isRipe);
      expect(calls.filter((call) => call === "-one").length).toBeLessThan(2);
      const cancelled = ["undo", "cancel"].some((verb) => answers[list.indexOf(verb as Verb)] === "taken");
      if (cancelled) expect(atRest.status).toBe("cancelled");
    });
  });

  it("were tried in more than a few orders", () => {
    expect(orders.size).toBeGreaterThan(3 * TRIES);
  });
});
