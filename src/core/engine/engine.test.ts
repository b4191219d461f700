import { describe, expect, it } from "vitest";
import { damage } from "../../../test/support/damage.ts";
import { createLab, hangs } from "../../../test/support/lab.ts";
import { type EngineEvent, workflow } from "../../index.ts";

describe("one durable flush per step", () => {
  it("carries the outcome of one step and the intent of the next", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 100; n++) await ctx.step("s", () => n);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.result((await lab.drive(engine.start(flow, undefined))).id));
    expect(engine.flushes).toBe(101);
  });

  it("serves many runs at once", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 10; n++) await ctx.step("s", () => n);
    });
    const engine = lab.engine([flow]);
    const runs = await lab.drive(
      Promise.all(Array.from({ length: 50 }, () => engine.start(flow, undefined))),
    );
    await lab.drive(Promise.all(runs.map((run) => engine.result(run.id))));
    expect(engine.flushes / 500).toBeLessThan(0.1);
  });
});

describe("a store that fails", () => {
  const failing = (
    lab: ReturnType<typeof createLab>,
    mode: "before" | "after",
    when: (n: number) => boolean,
  ) => {
    let n = 0;
    return {
      ...lab.store,
      append: async (batch: Parameters<typeof lab.store.append>[0]) => {
        const fails = when(++n);
        if (fails && mode === "before") throw new Error("disk away");
        const results = await lab.store.append(batch);
        if (fails) throw new Error("answer lost");
        return results;
      },
    };
  };

  it.each(["before", "after"] as const)(
    "on any one write, %s it is applied, changes neither the result nor the number of effects",
    async (mode) => {
      for (let nth = 1; nth <= 8; nth++) {
        const lab = createLab();
        const calls: string[] = [];
        const flow = workflow("flow", async (ctx) => {
          const a = await ctx.step("a", () => calls.push("a"), { effect: "once" });
          const b = await ctx.step("b", () => calls.push("b"), { effect: "keyed" });
          await ctx.sleep("nap", 100);
          return [a, b];
        });
        const engine = lab.engine([flow], { store: failing(lab, mode, (n) => n === nth) });
        await lab.drive(engine.start(flow, undefined, { id: "r" }));
        expect(await lab.drive(engine.result("r"))).toEqual([1, 2]);
        expect(calls).toEqual(["a", "b"]);
      }
    },
  );

  it("for good stops the run before its next effect, says so, and the run goes on when the store is back", async () => {
    const lab = createLab();
    let down = false;
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => void (down = calls.push("a") === 1));
      return ctx.step("b", () => calls.push("b"), { effect: "once" });
    });
    const engine = lab.engine([flow], { store: failing(lab, "before", () => down), storePatienceMs: 5_000 });
    const failures: EngineEvent[] = [];
    engine.on("checkpoint_failed", (event) => failures.push(event));
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(30_000);
    expect(calls).toEqual(["a"]);
    expect(failures.length).toBeGreaterThan(1);
    down = false;
    expect(await lab.drive(engine.result("r"))).toBe(3);
    // The outcome of "a" was never saved, so it ran again; "b" had no intent and was called once.
    expect(calls).toEqual(["a", "a", "b"]);
  });
});

describe("recovery", () => {
  it("parks a run for review when it keeps killing its worker, and a person can let it go on", async () => {
    const lab = createLab();
    let deadly = true;
    const flow = workflow("flow", (ctx) => ctx.step("boom", () => (deadly ? hangs() : "alive")));
    let engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    let status = "running";
    let crashes = 0;
    for (; status === "running" && crashes < 10; crashes++) {
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      engine = lab.engine([flow]);
      await lab.drive(engine.recover());
      await lab.clock.advance(100);
      status = (await engine.get("r"))?.status as string;
    }
    expect(crashes).toBe(4);
    expect((await engine.get("r"))?.waiting[0]).toMatchObject({ kind: "review" });
    deadly = false;
    await lab.drive(engine.resume("r", { actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("alive");
  });

  it("is a continuous sweep: a worker that is already running picks up what another left behind (S1-39)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("s", ({ attempt }) => (attempt === 1 ? hangs() : "taken over")),
    );
    const other = lab.engine([flow]);
    await lab.drive(other.work());
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.crash(engine);
    expect(await lab.drive(other.result("r"))).toBe("taken over");
  });

  it("gives a run back at once when its worker is closed in good order", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 5; n++)
        await ctx.step("s", () => new Promise<void>((resolve) => lab.clock.setTimer(resolve, 100)));
      return "end";
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(150);
    await lab.drive(engine.close());
    expect((await lab.store.read("r"))?.status).toBe("queued");
    const other = lab.engine([flow]);
    expect(await lab.drive(other.recover())).toEqual(["r"]);
    expect(await lab.drive(other.result("r"))).toBe("end");
  });

  it("parks a run whose journal is damaged, and never starts it afresh (S4-13)", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => ++calls);
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.crash(engine);
    const broken = damage(lab.store);
    const other = lab.engine([flow], { store: broken });
    await lab.drive(other.pause("r"));
    await lab.drive(other.resume("r"));
    const run = await lab.drive(other.settled("r"));
    expect(run.waiting[0]?.kind).toBe("review");
    expect(run.waiting[0]?.detail).toContain("HF-3010");
    expect(calls).toBe(1);
  });
});

describe("replay-stable values", () => {
  it("are the same after a crash", async () => {
    const lab = createLab();
    const seen: unknown[][] = [];
    const flow = workflow("flow", async (ctx) => {
      seen.push([ctx.now(), ctx.now(), ctx.random(), ctx.random(), ctx.uuid()]);
      await ctx.step("s", ({ attempt }) => (attempt === 1 ? hangs() : 1));
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(500);
    await lab.afterCrash(engine, [flow], "r");
    expect(seen).toHaveLength(2);
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]?.[2]).not.toBe(seen[0]?.[3]);
  });
});

describe("events", () => {
  it("are emitted after what they tell is durable, by listener and as a stream (S3-24)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      ctx.usage({ tokens: 5, costUsd: 0.5 });
      await ctx.step("s", () => ctx.usage({ tokens: 7, costUsd: 0.1 }));
      ctx.decide({ description: "go on", rationale: "why not", confidence: 0.9 });
      ctx.agent("lead", { status: "busy", confidence: 0.5, blockers: ["none"] });
      return ctx.checkpoint("halfway", "before_risky_operation");
    });
    const engine = lab.engine([flow]);
    const streamed: string[] = [];
    const reading = (async () => {
      for await (const event of engine.events()) streamed.push(event.type);
    })();
    const durable: boolean[] = [];
    engine.on("step_completed", (event) => {
      void lab.store.read(event.runId).then((row) => durable.push((row?.seq ?? 0) >= event.seq));
    });
    engine.on("step_completed", () => {
      throw new Error("a listener must not harm the run");
    });
    const { id } = await lab.drive(engine.start(flow, undefined));
    const checkpoint = await lab.drive(engine.result(id));
    expect(checkpoint).toMatch(new RegExp(`^${id}@\\d+$`));
    await lab.drive(engine.close());
    await reading;
    expect(durable).toEqual([true]);
    expect(streamed).toEqual(
      expect.arrayContaining([
        "run_created",
        "run_claimed",
        "usage_recorded",
        "step_started",
        "step_completed",
        "checkpoint_saved",
        "decision_made",
        "agent_updated",
        "checkpoint_marked",
        "run_completed",
      ]),
    );
    expect((await lab.store.read(id))?.usage).toEqual({ tokens: 12, costUsd: 0.6 });
  });
});
