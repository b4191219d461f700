import { describe, expect, it } from "vitest";
import { type Context, type Engine, workflow } from "../../src/index.ts";
import { createLab, hangs, type Lab, signalled } from "../support/lab.ts";

const rateLimit = () =>
  Object.assign(new Error("Too many requests"), { status: 429, retryAfterMs: 3_600_000 });

const labels = async (engine: Engine, run = "r"): Promise<string[]> =>
  (await engine.checkpoints.list(run)).map(({ kind, step }) => `${kind} ${step}`).reverse();

/** The Strategy Analyst of the document: four subtasks, the second of which asks an API that charges per request. */
function analyst(fail: () => unknown) {
  const calls: string[] = [];
  const flow = workflow("strategy_analyst", async (ctx, _: { ticker: string }) => {
    ctx.plan(["historical_roi", "ma_review", "mgmt_compensation", "capital_allocation_scoring"]);
    await ctx.step("historical_roi", () => (calls.push("historical_roi"), [0.1, 0.2]));
    await ctx.step("ma_review", () => (calls.push("ma_review"), fail() ?? { deals: 3 }), { retry: false });
    await ctx.step("mgmt_compensation", () => (calls.push("mgmt_compensation"), { ceo: 1 }));
    return ctx.step("capital_allocation_scoring", () => (calls.push("capital_allocation_scoring"), 0.8));
  });
  return { flow, calls };
}

describe("an agent that fails in the middle of a subtask", () => {
  it.each([
    ["a rate limit", rateLimit],
    ["the network", () => Object.assign(new Error("fetch failed"), { code: "ECONNRESET" })],
    ["a resource limit", () => Object.assign(new Error("no memory"), { code: "ENOMEM" })],
  ])(
    "for %s goes on there, and pays for no finished subtask again (S0-01, S0-04, S0-18, S0-19)",
    async (_, error) => {
      const lab = createLab();
      let isOpen = false;
      const { flow, calls } = analyst(() => (isOpen ? undefined : Promise.reject(error())));
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, { ticker: "AAPL" }, { id: "r" }));
      expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "failed" });
      expect((await engine.checkpoints.show("r")).progress.text).toBe("1 of 4");
      isOpen = true;
      await lab.drive(engine.resume("r"));
      expect(await lab.drive(engine.result("r"))).toBe(0.8);
      expect(calls).toEqual([
        "historical_roi",
        "ma_review",
        "ma_review",
        "mgmt_compensation",
        "capital_allocation_scoring",
      ]);
    },
  );

  it("keeps the error's own fields with the checkpoint (S0-10)", async () => {
    const lab = createLab();
    const { flow } = analyst(() => Promise.reject(rateLimit()));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, { ticker: "AAPL" }, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect((await engine.checkpoints.show("r")).failure).toMatchObject({
      step: "ma_review",
      attempt: 1,
      name: "Error",
      message: "Too many requests",
      details: { status: 429, retryAfterMs: 3_600_000 },
    });
  });

  it("leaves a trail that shows every retry and where it failed (S0-20)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.step("fetch", ({ attempt }) => (attempt < 3 ? Promise.reject(new Error("busy")) : "got it"), {
        retry: { attempts: 3, baseMs: 10 },
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const { lines, verified } = await lab.drive(engine.reports.trail("r"));
    const failures = lines.filter(({ kind }) => kind === "step_failed");
    expect(failures.map(({ step }) => step)).toEqual(["fetch", "fetch"]);
    expect(verified).toBe(true);
    expect(await engine.checkpoints.show("r")).toMatchObject({
      retries: 2,
      failure: { step: "fetch", attempt: 2 },
    });
  });
});

describe("the checkpoints of an agent", () => {
  it("come one behind each subtask, not only at milestones, and none comes with time (S0-14, S0-15, S0-49)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("parse", () => ({ statements: 3 }));
      await ctx.step("ratios", () => ({ roe: 0.2 }));
      await ctx.step("compare", hangs);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    const before = await labels(engine);
    expect(before).toEqual(["step_completed parse", "step_completed ratios"]);
    await lab.clock.advance(60 * 60_000);
    expect(await labels(engine)).toEqual(before);
    await lab.crash(engine);
  });

  it("are made only of a whole, storable deliverable (S0-12)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("parse", () => ({ statements: 3 }));
      await ctx.step("findings", () => ({ graph: () => "cannot be stored" }) as unknown);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "failed" });
    expect(await labels(engine)).not.toContain("step_completed findings");
    expect(await engine.checkpoints.show("r")).toMatchObject({ completed: ["parse"], failed: ["findings"] });
  });

  it("cost five subtasks little more than a write each, and a crash loses one at most (S0-13)", async () => {
    const names = ["one", "two", "three", "four", "five"];
    for (const dies of names) {
      const lab = createLab();
      const calls: string[] = [];
      const flow = workflow("flow", async (ctx) => {
        for (const name of names)
          await ctx.step(
            name,
            ({ attempt }) => (calls.push(name), name === dies && attempt === 1 ? hangs() : name),
          );
      });
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(100);
      expect(engine.flushes).toBeLessThanOrEqual(names.indexOf(dies) + 2);
      await lab.afterCrash(engine, [flow], "r");
      expect(calls.filter((name) => name !== dies)).toEqual(names.filter((name) => name !== dies));
      expect(calls.filter((name) => name === dies)).toHaveLength(2);
    }
  });
});

it("checkpoints are those of the top level where subtasks have parts (S0-50)", async () => {
  const lab = createLab();
  const flow = workflow("valuation", async (ctx) => {
    ctx.plan(["dcf_assumptions", "terminal_value"]);
    await ctx.step("dcf_assumptions", async () => {
      for (const part of ["growth", "margin", "tax"]) await ctx.step(part, () => part);
      return "table";
    });
    await ctx.step("terminal_value", hangs);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(100);
  expect(await labels(engine)).toEqual(["step_completed dcf_assumptions"]);
  expect((await engine.checkpoints.show("r")).progress).toMatchObject({ done: 1, total: 2 });
  await lab.crash(engine);
});

it("a run that was paused overnight has its memory in the morning, in another process (S0-03)", async () => {
  const lab = createLab();
  const under = signalled<string>();
  const flow = workflow("flow", async (ctx) => {
    ctx.memory.set("findings", ["debt is low"]);
    await ctx.step("evening", () => under.promise);
    const kept = ctx.memory.get("findings");
    return ctx.step("morning", () => kept);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  const pausing = engine.pause("r", { actor: "ada", reason: "the desk closes" });
  under.resolve("done");
  await lab.drive(pausing);
  expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "paused" });
  await lab.drive(engine.close());
  await lab.clock.advance(14 * 3_600_000);
  const next = lab.engine([flow]);
  expect(await next.get("r")).toMatchObject({ status: "paused" });
  await lab.drive(next.resume("r", { actor: "ada" }));
  expect(await lab.drive(next.result("r"))).toEqual(["debt is low"]);
});

describe("three agents of one analysis that fail together", () => {
  const agent = (name: string) =>
    workflow(name, async (ctx: Context, _: undefined) => {
      await ctx.step("first", () => name);
      return ctx.step("second", ({ attempt }) => (attempt === 1 ? hangs() : `${name} done`));
    });
  const flows = ["financial", "strategy", "valuation"].map(agent);

  async function crashed(lab: Lab): Promise<Engine> {
    const engine = lab.engine(flows);
    for (const flow of flows) await lab.drive(engine.start(flow, undefined, { id: `analysis-${flow.name}` }));
    await lab.clock.advance(100);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    return lab.engine(flows);
  }
  const done = (lab: Lab, engine: Engine) =>
    lab.drive(Promise.all(flows.map(({ name }) => engine.result(`analysis-${name}`))));
  const RESULTS = ["financial done", "strategy done", "valuation done"];

  it("are restored side by side, each from its own checkpoint (S0-51)", async () => {
    const lab = createLab();
    const engine = await crashed(lab);
    expect((await lab.drive(engine.recover())).length).toBe(3);
    expect(await done(lab, engine)).toEqual(RESULTS);
  });

  it("are restored one after the other where one process does one thing at a time (S0-51)", async () => {
    const lab = createLab();
    await crashed(lab);
    const engine = lab.engine(flows, { concurrency: 1 });
    await lab.drive(engine.work());
    expect(await done(lab, engine)).toEqual(RESULTS);
  });
});
