import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { type Context, type Effect, type Run, workflow } from "../../index.ts";

interface Said {
  readonly run: Run;
  /** The codes of the warnings, and their texts. */
  readonly warnings: readonly (readonly [unknown, string])[];
}

/** Runs up to the signal `go`, loses its process, and continues in another one. `time`: which of them it is. */
async function resumed(body: (ctx: Context, time: number) => Promise<unknown>): Promise<Said> {
  const lab = createLab();
  let time = 0;
  const warnings: [unknown, string][] = [];
  const logger = {
    warn: (text: string, fields?: Readonly<Record<string, unknown>>) =>
      void warnings.push([fields?.["code"], text]),
    error() {},
    info() {},
    debug() {},
  };
  const flow = workflow("flow", (ctx) => body(ctx, ++time));
  const first = lab.engine([flow]);
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.drive(first.settled("r"));
  await lab.crash(first);
  await lab.clock.advance(20_000);
  const second = lab.engine([flow], { logger });
  await lab.drive(second.signal("r", "go"));
  return { run: await lab.drive(second.settled("r")), warnings };
}

describe("a step that nobody waits for", () => {
  it("is named in a warning when the body ends (HF-2127)", async () => {
    const { run, warnings } = await resumed(async (ctx) => {
      await ctx.signal("go");
      void ctx.step("mail", () => 1);
    });
    expect(run.status).toBe("completed");
    expect(warnings).toEqual([["HF-2127", "The code ended without waiting for mail."]]);
  });
});

describe("a ctx that outlives its run", () => {
  it("warns of a call after the end, which never begins (HF-1009)", async () => {
    let kept: Context | undefined;
    const calls: string[] = [];
    const { run, warnings } = await resumed(async (ctx) => {
      kept = ctx;
      await ctx.signal("go");
    });
    void kept?.step("late", () => calls.push("late"));
    // A call that could begin would have begun within this turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect([run.status, calls]).toEqual(["completed", []]);
    expect(warnings).toEqual([["HF-1009", "ctx was used outside of its run."]]);
  });
});

describe("a name that differs on replay", () => {
  it("is named together with the one it replaces, also for repeatable steps (HF-2125)", async () => {
    const { run, warnings } = await resumed(async (ctx, time) => {
      await ctx.step(`load ${1_700_000_000_000 + time}`, () => 1);
      await ctx.step("same", () => 1);
      await ctx.signal("go");
    });
    expect(run.status).toBe("completed");
    expect(warnings).toEqual([
      ["HF-2125", "The names of steps vary: load 1700000000001 is now load 1700000000002."],
    ]);
  });

  it("is said when the run fails, too", async () => {
    const { run, warnings } = await resumed(async (ctx, time) => {
      await ctx.step(`load-${time}`, () => 1);
      await ctx.signal("go");
      throw new Error("no");
    });
    expect(run.status).toBe("failed");
    expect(warnings.map(([code]) => code)).toEqual(["HF-2125"]);
  });

  it("is not suspected of a step that simply comes next", async () => {
    const { warnings } = await resumed(async (ctx) => {
      for (const n of [1, 2, 3]) {
        await ctx.step(`part ${n}`, () => n);
        if (n === 2) await ctx.signal("go");
      }
    });
    expect(warnings).toEqual([]);
  });
});

describe("a declared input that differs on replay", () => {
  it("is a warning, and the recorded result stands (HF-2126)", async () => {
    let calls = 0;
    const { run, warnings } = await resumed(async (ctx, time) => {
      await ctx.step("pay", () => ++calls, { input: { cents: time }, effect: "keyed" });
      await ctx.step("same", () => 1, { input: { b: 1, a: 2 } });
      await ctx.signal("go");
    });
    expect([run.status, calls]).toEqual(["completed", 1]);
    expect(warnings).toEqual([
      ["HF-2126", "Step pay is asked for with a different input from the one it was called with."],
    ]);
  });
});

describe("a declared input that differs since the run was edited", () => {
  /** A run that has quoted 10 and done `pay` for it, and whose quote is set to 9,999 then. */
  async function edited(effect: Effect) {
    const lab = createLab();
    const paid: number[] = [];
    const flow = workflow("flow", async (ctx) => {
      const amount = await ctx.step("quote", () => 10);
      const receipt = await ctx.step("pay", () => `paid ${paid.push(amount)}`, { input: { amount }, effect });
      await ctx.signal("go");
      return receipt;
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const result = async (): Promise<unknown> => {
      await lab.drive(engine.signal("r", "go"));
      return lab.drive(engine.result("r"));
    };
    const set = async (steps: Readonly<Record<string, unknown>>) => {
      await lab.drive(engine.pause("r"));
      await lab.drive(engine.settled("r"));
      await lab.drive(engine.resume("r", { set: { steps } }));
      return lab.drive(engine.settled("r"));
    };
    return { paid, set, result };
  }

  it.each(["keyed", "once"] as const)(
    "is asked about where a %s step was done for another (HF-3101)",
    async (effect) => {
      const { paid, set, result } = await edited(effect);
      const run = await set({ quote: 9_999 });
      expect(run).toMatchObject({
        status: "waiting",
        waiting: [{ kind: "review", step: "pay", code: "HF-3101" }],
      });
      await set({ pay: "paid 9999 by hand" });
      expect([await result(), paid]).toEqual(["paid 9999 by hand", [10]]);
    },
  );

  it("is asked about until the edit is taken back (HF-3101)", async () => {
    const { paid, set, result } = await edited("once");
    await set({ quote: 9_999 });
    await set({ quote: 10 });
    expect([await result(), paid]).toEqual(["paid 1", [10]]);
  });

  it("is a warning where the step only computes", async () => {
    const { paid, set, result } = await edited("repeatable");
    await set({ quote: 9_999 });
    expect([await result(), paid]).toEqual(["paid 1", [10]]);
  });
});

describe("a name of the engine's own records", () => {
  it.each(["signal:x", "memory:x", "inbox:x", "checkpoint:x", "plan:x", "random:x", "uuid:x"])(
    "is refused for a step: %s (HF-1047)",
    async (name) => {
      const lab = createLab();
      const flow = workflow("flow", (ctx) => ctx.step(name, () => 1));
      const engine = lab.engine([flow]);
      const run = await lab.drive(engine.start(flow, undefined));
      expect(await lab.drive(run.settled())).toMatchObject({
        status: "failed",
        error: `${name} is a name that the engine gives to its own records.`,
      });
    },
  );

  it("is fine without the colon: steps and agents may be called plan, memory, usage, now or decision", async () => {
    const names = ["plan", "memory", "usage", "now", "decision", "checkpoint", "inbox"];
    const { run, warnings } = await resumed(async (ctx) => {
      ctx.plan(names);
      for (const name of names) {
        ctx.memory.set(name, 1);
        ctx.usage({ tokens: 1 });
        ctx.decide({ description: name });
        ctx.agent(name, { status: "busy" });
        expect(await ctx.step(name, () => name)).toBe(name);
        expect(ctx.now()).toBeGreaterThan(0);
      }
      await ctx.signal("go");
    });
    expect([run.status, warnings]).toEqual(["completed", []]);
  });
});
