import { describe, expect, it } from "vitest";
import { checkpointsOf, eventsOf, family, settle } from "../../../../test/support/family.ts";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { type Context, type HoldfastError, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import type { Store } from "../../store/contract.ts";

/** The same store, which fails the test when somebody writes. */
function readOnly(store: Store): Store {
  const refuse = () => {
    throw new Error("somebody wrote to the store");
  };
  return { ...store, append: refuse, renew: refuse };
}

describe("a replay", () => {
  it("of a completed run gives its result and every step in order, and calls and writes nothing", async () => {
    const lab = createLab();
    const { root, calls, flows } = family(lab);
    const engine = lab.engine(flows);
    await lab.drive(engine.start(root, { start: 5 }, { id: "r" }));
    await settle(lab, engine, "r");
    const result = await lab.drive(engine.result("r"));
    const called = calls.length;
    await lab.crash(engine);
    const timers = lab.clock.pending();
    const reader = lab.engine(flows, { store: readOnly(lab.store), execute: false });
    const replay = await lab.drive(reader.replay("r"));
    expect(replay).toMatchObject({ end: "completed", result, stoppedAt: [], notAsked: [] });
    expect(replay.steps.map(({ step }) => step)).toEqual([
      "items[0]",
      "items[1]",
      "agree",
      "both[0]",
      "both[1]",
      "finish",
    ]);
    expect(replay.steps.at(-1)).toEqual({
      step: "finish",
      from: "journal",
      status: "completed",
      value: "root finish done",
    });
    expect(calls).toHaveLength(called);
    expect(lab.clock.pending()).toBe(timers);
  });

  it("at every checkpoint asks for everything that was recorded by then, and stops at what came next (S4-01)", async () => {
    const lab = createLab();
    const { root, flows } = family(lab);
    const engine = lab.engine(flows);
    await lab.drive(engine.start(root, { start: 5 }, { id: "r" }));
    await settle(lab, engine, "r");
    const events = await eventsOf(lab.store, "r");
    for (const seq of await checkpointsOf(lab.store, "r")) {
      const replay = await lab.drive(engine.replay(`r@${seq}`));
      expect(replay.notAsked, `at ${seq}`).toEqual([]);
      if (replay.end === "completed") continue;
      const underWay = events.filter(
        ({ kind, step, seq: at }) =>
          kind === "step_started" &&
          at <= seq &&
          events.find((one) => one.seq > at && one.step === step && one.seq > seq),
      );
      const later = events.filter((event) => event.seq > seq && event.kind === "step_started");
      const next = later.filter(({ at }) => at === later[0]?.at);
      const expected = [...underWay, ...next].map(({ step }) => step);
      expect(replay.stoppedAt.length, `at ${seq}`).toBeGreaterThan(0);
      for (const { step } of replay.stoppedAt) expect(expected, `at ${seq}`).toContain(step);
    }
  }, 60_000);

  it("gives memory, chance, ids and time as they were", async () => {
    const lab = createLab();
    let seen: unknown[] = [];
    const flow = workflow("flow", async (ctx, input: number) => {
      const before = ctx.now();
      ctx.memory.set("a", input);
      await ctx.sleep("nap", 60_000);
      ctx.memory.set("b", await ctx.step("work", () => "made"));
      const config = ctx.config["mode"];
      seen = [before, ctx.now(), ctx.random(), ctx.uuid(), ctx.memory.get("a"), ctx.memory.get("b"), config];
      return seen;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, 5, { id: "r", config: { mode: "x" } }));
    const result = await lab.drive(engine.result("r"));
    await lab.clock.advance(1_000_000);
    const replay = await lab.drive(engine.replay("r"));
    expect(replay.result).toEqual(result);
    expect(replay.steps.map(({ step }) => step)).toEqual(["nap", "work"]);
  });

  it("of a failed run fails as it did, with the recorded error", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", { compensateOnFailure: true }, async (ctx) => {
      await ctx.step("pay", () => ++calls, { compensate: () => void (calls += 100), effect: "keyed" });
      await ctx.step("break", () => Promise.reject(new Error(`broken ${++calls}`)), { retry: false });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(calls).toBe(102);
    const replay = await lab.drive(engine.replay("r"));
    expect(replay).toMatchObject({ end: "failed", error: { message: "broken 2" }, notAsked: [] });
    expect(replay.steps.map(({ step, status }) => [step, status])).toEqual([
      ["pay", "completed"],
      ["break", "failed"],
    ]);
    expect(calls).toBe(102);
  });

  it("of a waiting run says what it waits for; nothing fires, however late it is", async () => {
    const lab = createLab();
    const child = workflow("child", (ctx) => ctx.gate("never", { choices: ["yes"] }));
    const flow = workflow("flow", (ctx) =>
      ctx.all("both", {
        gate: () => ctx.gate("ok", { choices: ["yes"], timeoutMs: 50_000, onTimeout: { choice: "yes" } }),
        nap: () => ctx.sleep("nap", 60_000),
        mail: () => ctx.signal("mail"),
        below: () => ctx.child("below", child, undefined),
      }),
    );
    const engine = lab.engine([flow, child]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const before = await lab.store.read("r");
    await lab.crash(engine);
    await lab.clock.advance(10_000_000);
    const other = lab.engine([flow, child], { execute: false });
    const replay = await lab.drive(other.replay("r"));
    // The branches were under way: their functions would be called again, and are not.
    expect(replay.end).toBe("stopped");
    expect(replay.stoppedAt.map(({ step, action }) => [step, action])).toEqual([
      ["both[gate]", "start"],
      ["both[nap]", "start"],
      ["both[mail]", "start"],
      ["both[below]", "start"],
    ]);
    expect(await lab.store.read("r")).toEqual(before);
  });

  it("of a run that waits outside a branch names the wait", async () => {
    const lab = createLab();
    const waits: Record<string, (ctx: Context) => Promise<unknown>> = {
      gate: (ctx) => ctx.gate("x", { choices: ["yes"], timeoutMs: 1_000, onTimeout: { choice: "yes" } }),
      timer: (ctx) => ctx.sleep("x", 60_000),
      signal: (ctx) => ctx.signal("x", { timeoutMs: 60_000 }),
    };
    for (const [kind, wait] of Object.entries(waits)) {
      const flow = workflow(kind, async (ctx) => {
        await ctx.step("first", () => 1);
        await wait(ctx);
      });
      const engine = lab.engine([flow], { holdMs: 1 });
      await lab.drive(engine.start(flow, undefined, { id: kind }));
      await lab.clock.advance(500);
      const replay = await lab.drive(engine.replay(kind));
      expect(replay).toMatchObject({ end: "stopped", stoppedAt: [{ action: "wait", for: kind }] });
      await lab.crash(engine);
    }
  });

  it("asks no hook and starts nothing about a call whose outcome is unknown", async () => {
    const lab = createLab();
    let calls = 0;
    let asked = 0;
    const flow = workflow("flow", async (ctx) => {
      const verify = () => ({ status: "unknown" as const, seen: ++asked });
      await ctx.step("pay", () => (calls++, hangs()), { effect: "once", verify });
    });
    const engine = lab.engine([flow], { policy: { version: "1", decide: () => (asked++, "allow") } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    expect([calls, asked]).toEqual([1, 1]);
    const replay = await lab.drive(engine.replay("r"));
    expect(replay.stoppedAt).toEqual([{ step: "pay", action: "wait", for: "decision" }]);
    expect([calls, asked]).toEqual([1, 1]);
  });

  it("shows what code that has changed no longer asks for, and what it would start", async () => {
    const lab = createLab();
    const old = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("b", () => 2);
      return ctx.step("c", () => 3);
    });
    const lost = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      return ctx.step("c", () => 3);
    });
    const gained = workflow("flow", async (ctx) => {
      await ctx.step("a", () => 1);
      await ctx.step("new", () => 5);
      await ctx.step("b", () => 2);
      return ctx.step("c", () => 3);
    });
    const engine = lab.engine([old]);
    await lab.drive(engine.start(old, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(await lab.drive(engine.replay("r", { workflow: lost }))).toMatchObject({
      end: "completed",
      result: 3,
      notAsked: ["b"],
    });
    const replay = await lab.drive(engine.replay("r", { workflow: gained }));
    expect(replay).toMatchObject({ end: "stopped", notAsked: ["b", "c"] });
    expect(replay.stoppedAt).toEqual([
      { step: "new", action: "start", type: "call", effect: "repeatable", attempt: 1 },
    ]);
  });

  it("needs the code and an address that is there", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("a", () => 1));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const other = lab.engine([]);
    const code = (promise: Promise<unknown>) =>
      lab.drive(
        promise.then(
          () => "none",
          (error: HoldfastError) => error.code,
        ),
      );
    expect(await code(other.replay("r"))).toBe("HF-1026");
    expect(await code(engine.replay("r@1"))).toBe("HF-1022");
    expect(await code(engine.replay("none"))).toBe("HF-1001");
  });

  it("says so when what is recorded is damaged", async () => {
    const lab = createLab(createMemoryStore());
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => "x".repeat(10_000));
      return 1;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const store: Store = { ...lab.store, blobs: async () => new Map() };
    const other = lab.engine([flow], { store, execute: false });
    await expect(lab.drive(other.replay("r"))).rejects.toMatchObject({ code: "HF-3010" });
  });
});
