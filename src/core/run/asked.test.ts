import { describe, expect, it } from "vitest";
import { createLab, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Run, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createFaultyStore } from "../../testing/faulty-store.ts";
import { parseEntry } from "../journal/journal.ts";

async function ran(
  body: (ctx: Context) => unknown,
  lab = createLab(),
): Promise<{ lab: Lab; engine: Engine; run: Run; steps: string[] }> {
  const flow = workflow("flow", body);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  const run = await lab.drive(engine.settled("r"));
  return { lab, engine, run, steps: await stepsOf(lab) };
}

async function stepsOf({ store }: Lab): Promise<string[]> {
  const entries = await store.entries("r", { from: 1, limit: 1_000 });
  const events = entries.flatMap((entry) => parseEntry("r", entry).events);
  return events.filter(({ step }) => step !== "").map(({ kind, step }) => `${kind} ${step}`);
}

const fails = (): never => {
  throw new Error("no");
};
const ONCE = { effect: "once", retry: { attempts: 1 } } as const;
const GIVE_UP = { retry: { attempts: 1 } } as const;

describe("a call that is not awaited (C13)", () => {
  it("is done before the run completes", async () => {
    const { run, steps } = await ran((ctx) => {
      void ctx.step("mail", () => 1, ONCE);
      return "done";
    });
    expect(run.status).toBe("completed");
    expect(steps).toEqual(["step_started mail", "step_completed mail"]);
  });

  it("is done before the iteration or the step it was made in ends", async () => {
    const { run, steps } = await ran(async (ctx) => {
      await ctx.loop("turn", { n: 0 }, (state, { index, done }) => {
        void ctx.step("note", () => 1);
        state.n = index;
        return index === 1 ? done() : undefined;
      });
      await ctx.step("outer", () => void ctx.step("inner", () => 1));
    });
    expect(run.status).toBe("completed");
    const order = [
      "step_completed turn[0]/note",
      "loop_advanced turn",
      "step_completed turn[1]/note",
      "loop_advanced turn",
      "step_completed outer/inner",
      "step_completed outer",
    ];
    expect(steps.filter((one) => order.includes(one))).toEqual(order);
  });

  it("fails the run when it fails, and is tried again on a resume", async () => {
    let isDown = true;
    const { lab, engine, run } = await ran(async (ctx) => {
      void ctx.step("mail", () => (isDown ? fails() : 1), GIVE_UP);
      await ctx.step("other", () => 2);
      return "done";
    });
    expect(run).toMatchObject({
      status: "failed",
      error: "mail failed, and the code didn't wait for it: no",
    });
    isDown = false;
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("done");
    expect((await stepsOf(lab)).at(-1)).toBe("step_completed mail");
  });

  it("has the run wait where it is a gate", async () => {
    const { lab, engine, run } = await ran((ctx) => {
      void ctx.gate("approve", { choices: ["yes"] });
      return "done";
    });
    expect(run).toMatchObject({ status: "waiting", waiting: [{ kind: "gate", step: "approve" }] });
    await lab.drive(engine.answer("r", "approve", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });

  it("does not hold the run up where it is a child, or where the code has let it go", async () => {
    const slow = workflow("slow", (ctx) => ctx.gate("never", { choices: ["yes"] }));
    const { lab, run } = await ran(async (ctx) => {
      void ctx.child("slow", slow, undefined);
      await Promise.race([ctx.sleep("limit", 3_600_000), ctx.step("quick", () => 1)]);
    });
    expect(run.status).toBe("completed");
    const [child] = (await lab.store.list({ workflow: "slow", limit: 10 })).runs;
    expect(child).toMatchObject({ parent: { runId: "r", step: "slow" } });
  });

  it("has its outcome where its intent is on its way as the function returns", async () => {
    const departed = signalled();
    const clock = createFakeClock();
    const faults = [{ method: "append", call: 2, fault: { kind: "delay-after", ms: 100 } }] as const;
    const onFault = () => departed.resolve();
    const lab = createLab(createFaultyStore(createMemoryStore({ clock }), { faults, onFault, clock }), clock);
    const { run, steps } = await ran(async (ctx) => {
      const slow = () => new Promise<void>((resolve) => clock.setTimer(resolve, 1_000));
      ctx.step("mail", slow, ONCE).catch(fails);
      await departed.promise;
    }, lab);
    expect(run.status).toBe("completed");
    expect(steps).toEqual(["step_started mail", "step_completed mail"]);
  });
});

describe("a step that is begun by hand and not ended (C13)", () => {
  it("fails the run, which would go on for ever, and is asked about on a resume", async () => {
    const { lab, engine, run } = await ran((ctx) => ctx.beginStep("pay", ONCE).then(() => "done"));
    expect(run).toMatchObject({
      status: "failed",
      error: "The code ended without finishing the steps it began: pay.",
    });
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ waiting: [{ kind: "decision" }] });
  });

  it("does not keep a run from failing for another reason", async () => {
    const { run } = await ran(async (ctx) => {
      await ctx.beginStep("pay");
      await ctx.step("stop", fails, GIVE_UP);
    });
    expect(run).toMatchObject({ status: "failed", error: "no" });
  });
});

describe("a failure that doesn't tell where it comes from", () => {
  /** As errors of sockets and of native code are: without a frame of the user's code. */
  const placeless = (): Promise<never> =>
    Promise.reject(
      Object.assign(new Error("connect ECONNREFUSED"), { stack: "Error: connect ECONNREFUSED" }),
    );

  const stacksOf = async (body: (ctx: Context) => Promise<unknown>): Promise<string> => {
    let seen = "";
    await ran(async (ctx) => {
      await body(ctx).catch((error: Error) => (seen = String(error.stack)));
    });
    return seen;
  };

  it("gets the place of the code that awaits its step", async () => {
    const asks = async (ctx: Context) => {
      await ctx.step("call", placeless, GIVE_UP);
    };
    expect(await stacksOf(asks)).toMatch(/at (?:async )?asks \(.*asked\.test\.ts:\d+:\d+\)/);
  });

  it("gets it where several are awaited together", async () => {
    const asksTwo = async (ctx: Context) => {
      await Promise.all([ctx.step("a", () => 1), ctx.step("b", placeless, GIVE_UP)]);
    };
    expect(await stacksOf(asksTwo)).toMatch(/at (?:async )?asksTwo \(.*asked\.test\.ts:\d+:\d+\)/);
  });

  it("keeps its own place if it has one", async () => {
    const asks = (ctx: Context) => ctx.step("call", fails, GIVE_UP);
    expect(await stacksOf(asks)).toMatch(/at .*fails .*asked\.test\.ts/);
  });
});
