import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { createEngine, type Effect, type Engine, type EngineEvent, workflow } from "../../index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createFaultyStore, type FaultyStore, type StoreMethod } from "../../testing/faulty-store.ts";
import type { AppendResult, Store } from "../store/contract.ts";
import { StoreHealth } from "../store/health.ts";

const WRITES: readonly StoreMethod[] = ["append", "transaction", "renew"];

interface Away {
  readonly store: FaultyStore;
  down: "no" | "writes" | "all";
}

/** The lab's store, which can be taken away: for writes only, or for everything. */
function failing(lab: Lab, inner: Store = lab.store): Away {
  const isDown = (method: StoreMethod): boolean =>
    away.down === "all" || (away.down === "writes" && WRITES.includes(method));
  const away: Away = {
    down: "no",
    store: createFaultyStore(inner, {
      choose: (method) => (isDown(method) ? { kind: "fail" } : undefined),
    }),
  };
  return away;
}

/** The same store with transactions, though without SQL. */
const transactional = (store: Store): Store => ({
  ...store,
  transaction: async (work, append) => {
    const value = await work({} as never);
    const [result] = await store.append([append(value)]);
    return { value, result: result as AppendResult };
  },
});

function heard(engine: Engine, ...types: EngineEvent["type"][]): EngineEvent[] {
  const events: EngineEvent[] = [];
  for (const type of types) engine.on(type, (event) => events.push(event));
  return events;
}

describe("the breaker", () => {
  const track = () => {
    const clock = createFakeClock();
    const told: string[] = [];
    const health = new StoreHealth(clock, {
      failing: () => told.push("failing"),
      recovered: (sinceMs) => told.push(`recovered after ${sinceMs}`),
    });
    return { clock, told, health };
  };

  it("takes one failed attempt for a hiccup, and the next one for an outage", async () => {
    const { clock, told, health } = track();
    health.failed(new Error("away"));
    expect([health.failing, health.restMs]).toEqual([false, 20]);
    await clock.advance(20);
    health.saved();
    expect([told, health.restMs]).toEqual([[], 0]);
    health.failed(new Error("away"));
    await clock.advance(20);
    health.failed(new Error("still away"));
    expect([health.failing, health.restMs, told]).toEqual([true, 40, ["failing"]]);
    expect(health.store).toMatchObject({ state: "failing", error: "still away" });
  });

  it("asks less and less often, and not more often because several ask at once", async () => {
    const { clock, health } = track();
    const rests: number[] = [];
    for (let n = 0; n < 9; n++) {
      health.failed("away");
      health.failed("away");
      rests.push(health.restMs);
      await clock.advance(health.restMs);
    }
    expect(rests).toEqual([20, 40, 80, 160, 320, 640, 1280, 2000, 2000]);
  });

  it("believes in a failed write until one succeeds, and in a failed read until the store answers", async () => {
    const { clock, told, health } = track();
    for (const isWrite of [false, true]) {
      health.failed("away", isWrite);
      await clock.advance(20);
      health.failed("away", false);
      health.answered();
      expect(health.failing).toBe(isWrite);
    }
    health.saved();
    expect(told).toEqual(["failing", "recovered after 20", "failing", "recovered after 20"]);
    expect(health.store).toMatchObject({ state: "ok", since: null, lastSavedAt: clock.now() });
  });
});

describe("while the store fails", () => {
  it("runs hold at their next step and go on by themselves when it is back", async () => {
    const lab = createLab();
    const away = failing(lab);
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => {
        calls.push("a");
        away.down = "all";
      });
      await ctx.step("b", () => calls.push("b"), { effect: "once" });
      return calls.length;
    });
    const engine = lab.engine([flow], { store: away.store });
    const events = heard(engine, "store_failing", "store_recovered");
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(30_000);
    expect(calls).toEqual(["a"]);
    expect(events.map(({ type }) => type)).toEqual(["store_failing"]);
    const { store, runs, worker } = engine.health();
    expect(store).toMatchObject({ state: "failing", error: expect.stringContaining("planned failure") });
    expect(runs).toEqual([{ runId: "r", notSavedSince: { seq: 3, at: store.lastSavedAt }, steps: 1 }]);
    expect(worker).toEqual({ running: 1, waiting: 0 });
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe(2);
    expect(calls).toEqual(["a", "b"]);
    expect(events.map(({ type }) => type)).toEqual(["store_failing", "store_recovered"]);
    expect(engine.health()).toMatchObject({ store: { state: "ok", since: null }, runs: [] });
  });

  it("a start and an act are refused soon, and sooner once it is known", async () => {
    const lab = createLab();
    const away = failing(lab);
    const flow = workflow("flow", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
    const engine = lab.engine([flow], { store: away.store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const timed = async (act: () => Promise<unknown>): Promise<number> => {
      const start = lab.clock.monotonic();
      let end = start;
      const refused = act().catch((error: unknown) => {
        end = lab.clock.monotonic();
        throw error;
      });
      await expect(lab.drive(refused)).rejects.toMatchObject({ code: "HF-3002" });
      return end - start;
    };
    away.down = "writes";
    expect(await timed(() => engine.start(flow, undefined, { id: "s" }))).toBeLessThan(3_000);
    expect(await timed(() => engine.pause("r"))).toBeLessThanOrEqual(2_000);
    expect(await timed(() => engine.signal("r", "x"))).toBeLessThanOrEqual(2_000);
    away.down = "all";
    expect(await timed(() => engine.pause("r"))).toBe(0);
    away.down = "no";
    // A refused act has not happened.
    expect(await lab.store.read("s")).toBeNull();
    expect((await lab.store.read("r"))?.status).toBe("waiting");
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toMatchObject({ choice: "yes" });
  });

  it("it is asked once per pause, however many runs and people wait for it", async () => {
    const lab = createLab();
    const away = failing(lab);
    const flow = workflow("flow", (ctx) => ctx.step("s", () => 1));
    const idle = lab.engine([flow], { execute: false });
    for (let n = 0; n < 20; n++) await lab.drive(idle.start(flow, undefined));
    const engine = lab.engine([flow], { store: away.store });
    away.down = "writes";
    await lab.drive(engine.work());
    await lab.clock.advance(10_000);
    const before = { ...away.store.calls };
    for (let n = 0; n < 50; n++) void engine.start(flow, undefined).catch(() => undefined);
    await lab.clock.advance(20_000);
    expect(away.store.calls.append - before.append).toBeLessThanOrEqual(11);
    expect(away.store.calls.due - before.due).toBeLessThanOrEqual(11);
    away.down = "no";
    await lab.clock.advance(10_000);
    const { runs } = await lab.store.list({ limit: 100, status: ["completed"] });
    expect(runs.length).toBeGreaterThanOrEqual(20);
  });

  it("longer than claims last, it takes no run from a worker that is alive and comes back a little later", async () => {
    const lab = createLab();
    const [own, others] = [failing(lab), failing(lab)];
    const done = signalled();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("slow", () => (calls++, done.promise), { effect: "once" }),
    );
    const engine = lab.engine([flow], { store: own.store });
    const other = lab.engine([flow], { store: others.store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(other.work());
    own.down = others.down = "all";
    await lab.clock.advance(40_000);
    others.down = "no";
    await lab.clock.advance(5_000);
    own.down = "no";
    await lab.clock.advance(60_000);
    expect(await lab.store.read("r")).toMatchObject({
      status: "running",
      recoveries: 0,
      claim: { epoch: 1 },
    });
    done.resolve();
    await lab.drive(engine.result("r"));
    expect(calls).toBe(1);
  });

  it("longer than claims last, it is left a moment later to others by a worker that died meanwhile", async () => {
    const lab = createLab();
    const away = failing(lab);
    const flow = workflow("flow", (ctx) => ctx.step("slow", hangs));
    const engine = lab.engine([flow], { store: away.store });
    const other = lab.engine([flow], { store: away.store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(other.work());
    away.down = "all";
    await lab.crash(engine);
    await lab.clock.advance(40_000);
    away.down = "no";
    await lab.clock.advance(15_000);
    expect(await lab.store.read("r")).toMatchObject({
      status: "running",
      recoveries: 1,
      claim: { epoch: 2 },
    });
  });

  it("a thousand who wait for results ask no more often than one, and all hear when it is back", async () => {
    for (const execute of [true, false]) {
      const lab = createLab();
      const away = failing(lab);
      const flow = workflow("flow", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
      const engine = lab.engine([flow], { store: away.store, execute });
      const other = lab.engine([flow]);
      await lab.drive(other.start(flow, undefined, { id: "r" }));
      await lab.drive(other.settled("r"));
      const results = Array.from({ length: 1_000 }, () => engine.result("r"));
      await lab.clock.advance(2_000);
      away.down = "all";
      await lab.clock.advance(5_000);
      const before = away.store.calls.read;
      await lab.clock.advance(30_000);
      expect(away.store.calls.read - before, `execute: ${execute}`).toBeLessThanOrEqual(40);
      expect(engine.health().store.state).toBe("failing");
      away.down = "no";
      await lab.drive(other.answer("r", "ok", { choice: "yes" }));
      const ended = await lab.drive(Promise.all(results));
      expect(new Set(ended.map((end) => (end as { choice: string }).choice))).toEqual(new Set(["yes"]));
    }
  });

  it("an engine with nothing to write knows it too", async () => {
    const lab = createLab();
    const away = failing(lab);
    const engine = lab.engine([workflow("flow", () => 1)], { store: away.store });
    await lab.drive(engine.work());
    away.down = "all";
    await lab.clock.advance(10_000);
    expect(engine.health().store.state).toBe("failing");
    const asked = away.store.calls.due;
    await lab.clock.advance(20_000);
    expect(away.store.calls.due - asked).toBeLessThanOrEqual(11);
    away.down = "no";
    await lab.clock.advance(5_000);
    expect(engine.health().store.state).toBe("ok");
  });

  it("for longer than their patience, runs stop cleanly, and taking them up again is no recovery (S1-41)", async () => {
    const lab = createLab();
    const away = failing(lab);
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => {
        if (++calls === 1) away.down = "all";
      });
      return ctx.step("b", () => "done", { effect: "once" });
    });
    const engine = lab.engine([flow], {
      store: away.store,
      storePatienceMs: 5_000,
      recovery: { auto: false },
    });
    const recovered = heard(engine, "recovered");
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(30_000);
    expect(engine.health().worker.running).toBe(0);
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe("done");
    expect([calls, recovered]).toEqual([2, []]);
  });
});

describe("an outcome that comes while the store fails", () => {
  it("is kept until it is back, so that nobody need be asked about it", async () => {
    const lab = createLab();
    const away = failing(lab);
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step(
        "pay",
        () => {
          calls++;
          away.down = "all";
          return "paid";
        },
        { effect: "once" },
      ),
    );
    const engine = lab.engine([flow], { store: away.store, storePatienceMs: 5_000 });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(60_000);
    expect(engine.health().worker.running).toBe(0);
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls).toBe(1);
  });

  it("is waited for across the outage, up to the patience of the engine", async () => {
    const lab = createLab();
    const away = failing(lab);
    const flow = workflow("flow", (ctx) => ctx.sleep("nap", 20_000));
    const engine = lab.engine([flow], { store: away.store, storePatienceMs: 30_000 });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const result = engine.result("r");
    await lab.clock.advance(1_000);
    away.down = "all";
    await lab.clock.advance(25_000);
    away.down = "no";
    expect(await lab.drive(result)).toBeUndefined();
    away.down = "all";
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("planned failure of read");
  });
});

describe("a run that goes on while the store fails", () => {
  const options = { onSaveFailure: "continue", storePatienceMs: 5_000 } as const;

  it("does only what may be repeated, and nothing of it is told before it is saved", async () => {
    const lab = createLab();
    const away = failing(lab);
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      let sum = 0;
      await ctx.step("first", () => void (away.down = "all"));
      // Longer than a claim lasts.
      const slowly = (n: number) =>
        new Promise<number>((resolve) => lab.clock.setTimer(() => resolve(n), 5_000));
      for (let n = 0; n < 5; n++) sum += await ctx.step("r", () => (calls.push(`r${n}`), slowly(n)));
      await ctx.step("pay", () => calls.push("pay"), { effect: "keyed" });
      await ctx.step("last", () => calls.push("last"));
      return sum;
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    const told = heard(engine, "step_completed");
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(120_000);
    expect(calls).toEqual(["r0", "r1", "r2", "r3", "r4"]);
    expect(told).toEqual([]);
    expect(engine.health().runs).toMatchObject([{ runId: "r", notSavedSince: { seq: 3 }, steps: 6 }]);
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe(10);
    expect(calls).toEqual(["r0", "r1", "r2", "r3", "r4", "pay", "last"]);
    expect(told).toHaveLength(8);
    expect((await engine.get("r"))?.stepsDone).toBe(8);
  });

  it("starts no effect, child, gate, timer, transaction or undoable step unsaved", async () => {
    const child = workflow("child", () => "child");
    const kinds = {
      once: (ctx, call) => ctx.step("x", call, { effect: "once" }),
      keyed: (ctx, call) => ctx.step("x", call, { effect: "keyed" }),
      undoable: (ctx, call) => ctx.step("x", call, { compensate: () => undefined }),
      child: (ctx, call) => ctx.child("x", child, undefined).then(call),
      gate: (ctx, call) =>
        ctx.gate("x", { choices: ["a"], timeoutMs: 10, onTimeout: { choice: "a" } }).then(call),
      sleep: (ctx, call) => ctx.sleep("x", 10).then(call),
      signal: (ctx, call) => ctx.signal("x", { timeoutMs: 10 }).catch(call),
      checkpoint: (ctx, call) => ctx.checkpoint("x").then(call),
      transaction: (ctx, call) => ctx.transaction("x", call),
    } satisfies Record<string, (ctx: Parameters<typeof child.body>[0], call: () => void) => Promise<unknown>>;
    for (const [kind, start] of Object.entries(kinds)) {
      const lab = createLab();
      const away = failing(lab, transactional(lab.store));
      let called = 0;
      const flow = workflow("flow", async (ctx) => {
        await ctx.step("first", () => void (away.down = "all"));
        await ctx.step("ahead", () => undefined);
        await start(ctx, () => void called++);
        return called;
      });
      const engine = lab.engine([flow, child], { store: away.store, ...options });
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(60_000);
      expect(called, kind).toBe(0);
      expect(engine.health().runs[0]?.steps, kind).toBe(2);
      away.down = "no";
      expect(await lab.drive(engine.result("r")), kind).toBe(1);
    }
  });

  it("repeats only what may be repeated after a crash in the unsaved stretch", async () => {
    const lab = createLab();
    const away = failing(lab);
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("pay", () => calls.push("pay"), { effect: "once" });
      await ctx.step("first", () => {
        calls.push("first");
        if (calls.length === 2) away.down = "all";
      });
      for (let n = 0; n < 3; n++) await ctx.step("r", () => calls.push(`r${n}`));
      await ctx.step("ship", () => calls.push("ship"), { effect: "once" });
      return "done";
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10_000);
    expect(calls).toEqual(["pay", "first", "r0", "r1", "r2"]);
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toBe("done");
    expect(calls.slice(5)).toEqual(["first", "r0", "r1", "r2", "ship"]);
  });

  it("waits when too much is unsaved", async () => {
    const lab = createLab();
    const away = failing(lab);
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => void (away.down = "all"));
      for (let n = 0; n < 2_000; n++) await ctx.step("r", () => ++calls);
      return calls;
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10_000);
    expect(calls).toBeGreaterThan(400);
    expect(calls).toBeLessThanOrEqual(500);
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe(2_000);
  });

  it("obeys a pause that was written while it could not see it, and loses nothing it did meanwhile", async () => {
    const lab = createLab();
    const away = failing(lab);
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => void (away.down = "all"));
      await ctx.step("ahead", () => calls.push("ahead"));
      await ctx.step("pay", () => calls.push("pay"), { effect: "once" });
      return calls.length;
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    const other = lab.engine([], { execute: false });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(5_000);
    await lab.drive(other.pause("r"));
    away.down = "no";
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    expect(calls).toEqual(["ahead"]);
    await lab.drive(other.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(2);
    expect(calls).toEqual(["ahead", "pay"]);
  });

  it("goes through loops, and through retries only as far as they are saved", async () => {
    const lab = createLab();
    const away = failing(lab);
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => void (away.down = "all"));
      const { n } = await ctx.loop("turn", { n: 0 }, async (state, turn) => {
        if (turn.index % 2 === 0) await ctx.step("r", () => calls.push(`r${turn.index}`));
        state.n++;
        return turn.index === 3 ? turn.done() : undefined;
      });
      await ctx.step("flaky", ({ attempt }) => {
        calls.push(`flaky${attempt}`);
        if (attempt < 3) throw new Error("again");
      });
      return n;
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(30_000);
    expect(calls).toEqual(["r0", "r2", "flaky1"]);
    away.down = "no";
    expect(await lab.drive(engine.result("r"))).toBe(4);
    expect(calls).toEqual(["r0", "r2", "flaky1", "flaky2", "flaky3"]);
  });

  it("leaves nothing running behind when the engine is closed meanwhile", async () => {
    const lab = createLab();
    const away = failing(lab);
    const gate = signalled();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("first", () => void (away.down = "all"));
      await ctx.step("ahead", () => gate.resolve());
      await ctx.step("more", () => hangs());
    });
    const engine = lab.engine([flow], { store: away.store, ...options });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(gate.promise);
    await lab.drive(engine.close({ drainMs: 100 }));
    await lab.clock.advance(10_000);
    const asked = away.store.calls.append;
    await lab.clock.advance(60_000);
    expect(away.store.calls.append).toBe(asked);
  });

  it("comes to the same result, with every effect once, whenever the store goes and comes back", async () => {
    const effects = fc.array(fc.constantFrom("repeatable", "repeatable", "keyed", "once"), {
      minLength: 3,
      maxLength: 12,
    });
    const outages = fc.array(fc.tuple(fc.nat(3_000), fc.nat(20_000)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(effects, outages, fc.boolean(), async (steps, times, crashes) => {
        const lab = createLab();
        const away = failing(lab);
        const calls: number[] = steps.map(() => 0);
        const unsaved: string[] = [];
        const flow = workflow("flow", async (ctx) => {
          let sum = 0;
          for (const [n, effect] of steps.entries()) {
            sum += await ctx.step(
              `s${n}`,
              async ({ step }) => {
                calls[n] = (calls[n] ?? 0) + 1;
                const entries = await lab.store.entries("r", { from: 1, limit: 100 });
                const isSaved = entries.some(({ head }) => head.includes(`["step_started","${step}"`));
                if (effect !== "repeatable" && !isSaved) unsaved.push(step);
                return new Promise<number>((resolve) => lab.clock.setTimer(() => resolve(n), 400));
              },
              { effect: effect as Effect },
            );
          }
          return sum;
        });
        const engine = lab.engine([flow], { store: away.store, ...options });
        await lab.drive(engine.start(flow, undefined, { id: "r" }));
        for (const [up, down] of times) {
          await lab.clock.advance(up);
          away.down = "all";
          await lab.clock.advance(down);
          if (!crashes) away.down = "no";
        }
        const end = crashes
          ? (await lab.afterCrash(engine, [flow], "r")).run
          : await lab.drive(engine.settled("r"));
        steps.forEach((effect, n) => {
          const most = crashes && effect !== "once" ? 2 : 1;
          expect(calls[n], `${n} ${effect}`).toBeLessThanOrEqual(most);
        });
        expect(unsaved).toEqual([]);
        if (crashes && end.waiting[0]?.kind === "decision") return;
        expect(end.status).toBe("completed");
        expect(calls.every((count) => count > 0)).toBe(true);
      }),
      { numRuns: 30, seed: 7 },
    );
  });

  it("is chosen by a word that is checked", () => {
    const store = createLab().store;
    expect(() => createEngine({ store, onSaveFailure: "perhaps" as "stop" })).toThrow("stop or continue");
    expect(() => createEngine({ store, storePatienceMs: 0 })).toThrow("storePatienceMs");
  });
});
