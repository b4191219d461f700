import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Engine, type Policy, type Workflow, workflow } from "../../index.ts";

const asking: Policy = {
  version: "1",
  decide: ({ effect }) => (effect === "repeatable" ? "allow" : { ask: "It is money." }),
};

async function start(lab: Lab, flow: Workflow<unknown, unknown>, policy?: Policy): Promise<Engine> {
  const engine = lab.engine([flow], policy ? { policy } : {});
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return engine;
}

describe("the question before a call", () => {
  it("shows the item of a group, and the policy is asked with it (X3)", async () => {
    const lab = createLab();
    const inputs: unknown[] = [];
    const policy: Policy = {
      version: "1",
      decide: ({ input }) => {
        inputs.push(input);
        return { ask: "It is money." };
      },
    };
    const flow = workflow("flow", (ctx) => ctx.each("pay", [{ to: "ada" }], () => 1, { effect: "once" }));
    const engine = await start(lab, flow, policy);
    const [gate] = await lab.drive(engine.gates("r"));
    expect(gate?.show).toMatchObject({ item: { to: "ada" }, step: "pay[0]" });
    expect(inputs).toEqual([{ to: "ada" }]);
  });

  it("says so where the arguments are not declared, and denies by default (X3)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => 1, { effect: "once" }));
    const engine = await start(lab, flow, asking);
    const [gate] = await lab.drive(engine.gates("r"));
    expect(gate?.show).toMatchObject({ undeclared: expect.stringContaining("does not declare") });
    expect(gate?.choices[0]).toBe("deny");
  });

  it("treats an item that cannot be stored as undeclared (X3)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.each("pay", [() => 1], (one) => one(), { effect: "once" }));
    const engine = await start(lab, flow, asking);
    const [gate] = await lab.drive(engine.gates("r"));
    expect(gate?.show).toMatchObject({ undeclared: expect.any(String) });
  });

  it("is named by the intent that its answer allowed (X3)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("pay", () => 1, { effect: "once", input: 10 }));
    const engine = await start(lab, flow, asking);
    await lab.drive(engine.answer("r", "approve:pay", { choice: "approve", actor: "ada" }));
    await lab.drive(engine.result("r"));
    const events = await eventsOf(lab.store, "r");
    const answer = events.find(({ kind }) => kind === "gate_answered");
    const intent = events.find(({ kind, step }) => kind === "step_started" && step === "pay");
    expect(intent?.meta).toMatchObject({ policy: "1", approved: answer?.seq });
  });

  it("is put again when the policy changes while the intent waits to be written (X3)", async () => {
    const lab = createLab();
    let version = "1";
    const asked: string[] = [];
    const policy: Policy = {
      get version() {
        return version;
      },
      decide: ({ effect }) => {
        if (effect === "once") asked.push(version);
        return "allow";
      },
    };
    let isHeld = true;
    const store = {
      ...lab.store,
      append: async (batch: Parameters<typeof lab.store.append>[0]) => {
        // An act comes in between: the intent is compared again before it is written a second time.
        const isIntent = batch.some(({ entries }) => entries.some(({ head }) => head.includes('"pay"')));
        if (isHeld && isIntent) {
          isHeld = false;
          version = "2";
          await desk.signal("r", "news");
        }
        return lab.store.append(batch);
      },
    };
    const desk = lab.engine([], { execute: false });
    const flow = workflow("flow", async (ctx) => {
      // Nobody can act on a run before its first intent is written.
      await ctx.step("look", () => 1);
      await ctx.step("pay", () => 1, { effect: "once", input: 10 });
    });
    const engine = lab.engine([flow], { policy, store });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const intents = (await eventsOf(lab.store, "r")).filter(
      ({ kind, step }) => kind === "step_started" && step === "pay",
    );
    expect(asked).toEqual(["1", "2"]);
    expect(intents.map(({ meta }) => meta)).toMatchObject([{ policy: "2" }]);
  });
});

describe("a gate that is asked again", () => {
  it("says why, and since when it waits (X3, R13)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const amount = await ctx.step("quote", () => 10);
      await ctx.gate("ok", { show: { amount }, choices: ["yes", "no"] });
      await ctx.gate("after", { choices: ["on"] });
    });
    const engine = await start(lab, flow);
    const before = (await lab.drive(engine.gates("r")))[0]?.since ?? 0;
    await lab.drive(engine.answer("r", "ok", { choice: "yes", actor: "ada" }));
    await lab.drive(engine.settled("r"));
    await lab.clock.advance(1_000_000);
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.resume("r", { set: { steps: { quote: 9_999 } } }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]?.detail).toMatch(/^HF-2190 Gate ok asks again/);
    const [gate] = await lab.drive(engine.gates("r"));
    expect(gate?.show).toEqual({ amount: 9_999 });
    expect(gate?.since).toBeGreaterThanOrEqual(before + 1_000_000);
  });

  it("waits since it was put anew, also as an approval with other arguments (R13)", async () => {
    const lab = createLab();
    const world = { amount: 10 };
    const flow = workflow("flow", (ctx) =>
      ctx.step("pay", () => 1, { effect: "once", input: { amount: world.amount } }),
    );
    const engine = await start(lab, flow, asking);
    const [first] = await lab.drive(engine.gates("r"));
    await lab.drive(engine.pause("r"));
    await lab.clock.advance(1_000_000);
    world.amount = 50;
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    const [second] = await lab.drive(engine.gates("r"));
    expect((second?.since ?? 0) - (first?.since ?? 0)).toBeGreaterThanOrEqual(1_000_000);
  });
});

describe("an answer that somebody gave at a gate", () => {
  const flow = workflow("flow", async (ctx) => {
    const { choice, actor } = await ctx.gate("ok", { choices: ["yes", "no"], timeoutMs: 60_000 });
    await ctx.gate("after", { choices: ["on"] });
    return [choice, actor];
  });
  const forged = { choice: "yes", actor: "ada", at: 0, timedOut: false };

  it("cannot be turned round by an edit, neither in the run nor in a fork (X10)", async () => {
    const lab = createLab();
    const engine = await start(lab, flow);
    await lab.drive(engine.answer("r", "ok", { choice: "no", actor: "ada" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r"));
    const set = { steps: { ok: forged } };
    expect(await lab.drive(code(engine.resume("r", { set })))).toBe("HF-1037");
    expect(await lab.drive(code(engine.fork("r", { id: "f", set })))).toBe("HF-1037");
  });

  it("is the editor's where nobody had answered in time (X10)", async () => {
    const lab = createLab();
    const engine = await start(lab, flow);
    await lab.clock.advance(61_000);
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.resume("r", { set: { steps: { ok: forged } }, actor: "mallory" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "after", { choice: "on" }));
    expect(await lab.drive(engine.result("r"))).toEqual(["yes", "mallory"]);
  });
});
