import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Budget, type Engine, type Run, type Workflow, workflow } from "../../index.ts";

/** Each call of the worker uses this. */
const CALL = { tokens: 100, costUsd: 0.01 };

/** A run that starts `children` at once, each of which makes `calls` calls. Calls take a moment, as they do. */
function team(
  lab: Lab,
  { children = 10, calls = 20, budget }: { children?: number; calls?: number; budget?: Budget },
) {
  const seen = { calls: 0, inFlight: 0, most: 0 };
  const worker = workflow("worker", budget ? { budget } : {}, async (ctx, pace: number) => {
    for (let n = 0; n < calls; n++)
      await ctx.step("ask", async () => {
        seen.calls++;
        seen.most = Math.max(seen.most, ++seen.inFlight);
        await new Promise<void>((resolve) => lab.clock.setTimer(resolve, 50 + pace));
        seen.inFlight--;
        ctx.usage(CALL);
      });
    return calls;
  });
  const lead = workflow("lead", async (ctx) => {
    const all = Array.from({ length: children }, (_, n) => ctx.child(`one-${n}`, worker, n * 7));
    return (await Promise.all(all)).reduce((sum, n) => sum + n, 0);
  });
  return { lead, worker, seen };
}

const used = async (engine: Engine, id: string): Promise<number> => {
  const run = await engine.get(id);
  const { runs } = await engine.list({ parent: id, limit: 100 });
  const below = await Promise.all(
    runs.filter(({ status }) => status !== "completed").map(({ id: child }) => used(engine, child)),
  );
  return (run?.usage.tokens ?? 0) + below.reduce((sum, n) => sum + n, 0);
};

/** Lets time pass until the run and all below it stand still. */
async function atRest(lab: Lab, engine: Engine, id: string): Promise<Run[]> {
  const family = async (runId: string): Promise<Run[]> => {
    const { runs } = await engine.list({ parent: runId, limit: 100 });
    return [...runs, ...(await Promise.all(runs.map((run) => family(run.id)))).flat()];
  };
  const isOpen = ({ status }: Run): boolean => status === "queued" || status === "running";
  return lab.drive(
    (async () => {
      for (;;) {
        await engine.settled(id);
        const below = await family(id);
        const own = await engine.get(id);
        if (own && ![own, ...below].some(isOpen)) return below;
        await new Promise<void>((resolve) => lab.clock.setTimer(resolve, 100));
      }
    })(),
  );
}

async function started(
  lab: Lab,
  lead: Workflow<never, unknown>,
  flows: Workflow<never, unknown>[],
  budget: Budget,
) {
  const engine = lab.engine(flows);
  await lab.drive(engine.start(lead as Workflow, undefined, { id: "r", budget }));
  return engine;
}

describe("ten children side by side", () => {
  it("use up no more together than the limit and what was in flight when it was reached", async () => {
    const lab = createLab();
    const { lead, worker, seen } = team(lab, {});
    const engine = await started(lab, lead, [lead, worker], { tokens: 3_000 });
    const below = await atRest(lab, engine, "r");
    expect(below).toHaveLength(10);
    for (const child of below) {
      expect(child.waiting).toMatchObject([{ kind: "budget" }]);
      expect(child.waiting[0]?.detail).toMatch(
        /^HF-2119 Run r has reached its budget: tokens 3,\d00 of 3,000\.$/,
      );
      expect(child.budget).toBeNull();
    }
    // A10: the parent says what holds them, and that its budget can be raised.
    const told = await engine.status("r");
    expect(told.headline).toMatch(/; budget reached, which holds \S+, \S+, \S+ and 7 more below it$/);
    expect(told.can).toContain("raise budget");
    expect(seen.most).toBeLessThanOrEqual(10);
    // One call of each child at most was let through before the limit was reached.
    const total = await used(engine, "r");
    expect(total).toBeGreaterThanOrEqual(3_000);
    expect(total).toBeLessThan(3_000 + 10 * CALL.tokens);
    expect(total).toBe(seen.calls * CALL.tokens);
  });

  it("go on when the limit of the run above is raised, which waits for them", async () => {
    const lab = createLab();
    const { lead, worker, seen } = team(lab, {});
    const engine = await started(lab, lead, [lead, worker], { tokens: 3_000 });
    const [child] = await atRest(lab, engine, "r");
    const id = child?.id ?? "";
    expect((await engine.get("r"))?.waiting.every(({ kind }) => kind === "child")).toBe(true);
    // Neither a limit of the child's own nor one that is too low helps.
    expect(await lab.drive(code(engine.resume(id, { budget: { tokens: 1_000_000 } })))).toBe("HF-1025");
    expect(await lab.drive(code(engine.resume("r", { budget: { tokens: 3_000 } })))).toBe("HF-1025");
    expect(await lab.drive(code(engine.resume("r")))).toBe("HF-1007");
    expect((await engine.get(id))?.seq).toBe(child?.seq);
    await lab.drive(engine.resume("r", { budget: { tokens: 6_000 }, actor: "ada" }));
    const again = await atRest(lab, engine, "r");
    expect(again.every(({ waiting: [wait] }) => wait?.kind === "budget")).toBe(true);
    const total = await used(engine, "r");
    expect(total).toBeGreaterThanOrEqual(6_000);
    expect(total).toBeLessThan(6_000 + 10 * CALL.tokens);
    await lab.drive(engine.resume("r", { budget: { tokens: 1_000_000 } }));
    expect(await lab.drive(engine.result("r"))).toBe(200);
    expect(seen.calls).toBe(200);
    const row = await engine.get("r");
    expect(row).toMatchObject({ usage: { tokens: 20_000 }, openChildren: 0 });
    expect(row?.usage.costUsd).toBeCloseTo(2, 9);
  });

  it("keep to it in several processes, of which one dies on the way", async () => {
    const lab = createLab();
    const { lead, worker, seen } = team(lab, {});
    const first = lab.engine([lead, worker]);
    const second = lab.engine([lead, worker]);
    await lab.drive(first.start(lead, undefined, { id: "r", budget: { tokens: 4_000 } }));
    await lab.drive(second.recover());
    await lab.clock.advance(500);
    const inFlight = seen.inFlight;
    await lab.crash(first);
    await lab.clock.advance(20_000);
    await lab.drive(second.recover());
    const below = await atRest(lab, second, "r");
    expect(below.every(({ waiting: [wait] }) => wait?.kind === "budget")).toBe(true);
    const total = await used(second, "r");
    expect(total).toBeGreaterThanOrEqual(4_000);
    expect(total).toBeLessThan(4_000 + 10 * CALL.tokens);
    // What the lost calls used was never reported.
    expect(seen.calls * CALL.tokens).toBeLessThanOrEqual(total + inFlight * CALL.tokens);
  });
});

describe("a limit of a run", () => {
  it("holds for grandchildren, and names the run it was set for; each run keeps to its own besides", async () => {
    const lab = createLab();
    const leaf = workflow("leaf", async (ctx, steps: number) => {
      for (let n = 0; n < steps; n++) await ctx.step("ask", () => ctx.usage({ tokens: 100 }));
    });
    const middle = workflow("middle", { budget: { tokens: 500 } }, (ctx, steps: number) =>
      Promise.all([ctx.child("a", leaf, steps), ctx.child("b", leaf, steps)]),
    );
    const top = workflow("top", async (ctx, steps: readonly number[]) => {
      for (const [index, n] of steps.entries()) await ctx.child(`middle-${index}`, middle, n);
    });
    const engine = lab.engine([top, middle, leaf]);
    await lab.drive(engine.start(top, [2, 9], { id: "r", budget: { tokens: 5_000 } }));
    let below = await atRest(lab, engine, "r");
    const held = below.filter(({ waiting }) => waiting.some(({ kind }) => kind === "budget"));
    expect(held).toHaveLength(2);
    const second = held[0]?.parent?.runId ?? "";
    for (const { waiting } of held)
      expect(waiting[0]?.detail).toContain(`Run ${second} has reached its budget`);
    await lab.drive(engine.resume(second, { budget: { tokens: 90_000 } }));
    await lab.drive(engine.result("r"));
    expect((await engine.get("r"))?.usage.tokens).toBe(2_200);
    await lab.drive(engine.start(top, [2, 90], { id: "s", budget: { tokens: 700 } }));
    below = await atRest(lab, engine, "s");
    const details = below.flatMap(({ waiting }) => waiting.flatMap(({ detail = "" }) => detail));
    expect(
      details.filter((detail) => /Run s has reached its budget: tokens [78]00 of 700/.test(detail)),
    ).toHaveLength(2);
  });

  it("counts turns and working time of all of them together, also of those that have ended", async () => {
    const lab = createLab();
    const inner = workflow("inner", (ctx, turns: number) =>
      ctx.loop("agent", { n: 0 }, async (state, turn) => {
        await ctx.step("act", () => new Promise<void>((resolve) => lab.clock.setTimer(resolve, 100)));
        state.n++;
        return turn.index === turns - 1 ? turn.done() : undefined;
      }),
    );
    const outer = workflow("outer", async (ctx) => {
      for (const name of ["a", "b", "c"]) await ctx.child(name, inner, 4);
    });
    const engine = lab.engine([outer, inner]);
    await lab.drive(engine.start(outer, undefined, { id: "r", budget: { turns: 6 } }));
    const below = await atRest(lab, engine, "r");
    expect(below.map(({ status }) => status).sort()).toEqual(["completed", "waiting"]);
    expect(below.find(({ status }) => status === "waiting")?.waiting[0]?.detail).toContain("turns 6 of 6");
    expect((await engine.get("r"))?.turns).toBe(4);
    await lab.drive(engine.resume("r", { budget: { turns: 50, wallMs: 1_300 } }));
    const again = await atRest(lab, engine, "r");
    expect(again.find(({ status }) => status === "waiting")?.waiting[0]?.detail).toMatch(
      /wallMs 1,[34]\d\d of 1,300/,
    );
    await lab.drive(engine.resume("r", { budget: { wallMs: 60_000 } }));
    await lab.drive(engine.result("r"));
    expect(await engine.get("r")).toMatchObject({ turns: 12 });
    expect((await engine.get("r"))?.activeMs).toBeGreaterThanOrEqual(1_200);
  });

  it("counts what a child used before it failed once, and what it used after it was resumed", async () => {
    const lab = createLab();
    let broken = true;
    const inner = workflow("inner", async (ctx) => {
      await ctx.step("ask", () => ctx.usage({ tokens: 100 }));
      await ctx.step("fail", () => (broken ? Promise.reject(new Error("no")) : ctx.usage({ tokens: 50 })), {
        retry: false,
      });
    });
    const outer = workflow("outer", async (ctx) => {
      await ctx.child("one", inner, undefined);
      await ctx.step("after", () => "done");
    });
    const engine = lab.engine([outer, inner]);
    await lab.drive(engine.start(outer, undefined, { id: "r", budget: { tokens: 150 } }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("failed");
    expect((await engine.get("r"))?.usage.tokens).toBe(100);
    broken = false;
    await lab.drive(engine.resume("r"));
    await atRest(lab, engine, "r");
    const run = await engine.get("r");
    expect(run?.usage.tokens).toBe(150);
    expect(run?.waiting).toMatchObject([{ kind: "budget", step: "after" }]);
  });

  it("set where there was none reaches children that are at work", async () => {
    const lab = createLab();
    const { lead, worker } = team(lab, { children: 3 });
    const engine = lab.engine([lead, worker]);
    await lab.drive(engine.start(lead, undefined, { id: "r" }));
    await lab.clock.advance(200);
    await lab.drive(engine.resume("r", { budget: { tokens: 2_000 } }));
    const below = await atRest(lab, engine, "r");
    expect(below.every(({ waiting: [wait] }) => wait?.kind === "budget")).toBe(true);
    expect(await used(engine, "r")).toBeLessThan(2_000 + 3 * CALL.tokens);
  });

  it("costs nothing where there is none: a child looks once, and not before each of its steps", async () => {
    const reads = async (calls: number): Promise<number> => {
      const lab = createLab();
      let count = 0;
      const store = new Proxy(lab.store, {
        get(target, key: keyof typeof lab.store) {
          if (key === "read") count++;
          return target[key];
        },
      });
      const { lead, worker } = team(lab, { children: 1, calls });
      const engine = lab.engine([lead, worker], { store, sweepMs: 600_000, claimMs: 600_000 });
      await lab.drive(engine.start(lead, undefined, { id: "r" }));
      await lab.drive(engine.result("r"));
      return count;
    };
    expect(await reads(40)).toBe(await reads(4));
  });

  it("leaves a fork of one of its children, which stands alone, what it leaves the family (X12)", async () => {
    const lab = createLab();
    const { lead, worker } = team(lab, { children: 1, budget: { costUsd: 5 } });
    const engine = await started(lab, lead, [lead, worker], { tokens: 500 });
    const [child] = await atRest(lab, engine, "r");
    const fork = await lab.drive(engine.fork(`${child?.id}@${child?.seq}`, { id: "f" }));
    expect(fork).toMatchObject({ parent: null, budget: { tokens: 0, costUsd: 4.95 }, usage: { tokens: 0 } });
    expect((await lab.drive(engine.settled("f"))).usage.tokens).toBe(0);
  });

  it("does not hold up a run that may go on without its relatives, and lets it be cancelled", async () => {
    const lab = createLab();
    const { lead, worker } = team(lab, { children: 2 });
    const engine = await started(lab, lead, [lead, worker], { tokens: 300 });
    const below = await atRest(lab, engine, "r");
    await lab.drive(engine.cancel("r"));
    expect((await engine.get("r"))?.status).toBe("cancelled");
    for (const { id } of below) expect((await engine.get(id))?.status).toBe("cancelled");
  });
});

describe("a raise", () => {
  it("that comes between the look at the limit and the wait for it is not missed", async () => {
    for (let moment = 0; moment < 12; moment++) {
      const lab = createLab();
      const gate = signalled();
      const inner = workflow("inner", async (ctx) => {
        await ctx.step("ask", () => (ctx.usage({ tokens: 100 }), gate.promise));
        return ctx.step("more", () => "more");
      });
      const outer = workflow("outer", (ctx) => ctx.child("one", inner, undefined));
      const engine = lab.engine([outer, inner]);
      await lab.drive(engine.start(outer, undefined, { id: "r", budget: { tokens: 100 } }));
      await lab.clock.advance(100);
      gate.resolve();
      for (let n = 0; n < moment; n++) await Promise.resolve();
      const raised = engine.resume("r", { budget: { tokens: 200 } });
      expect(await lab.drive(code(raised))).toBe("taken");
      expect(await lab.drive(engine.result("r")), `moment ${moment}`).toBe("more");
    }
  });

  it("is known to a child that was taken over by another process", async () => {
    const lab = createLab();
    const inner = workflow("inner", async (ctx) => {
      await ctx.step("ask", () => ctx.usage({ tokens: 100 }));
      await ctx.step("hang", ({ attempt }) => (attempt === 1 ? hangs() : ctx.usage({ tokens: 100 })));
      return ctx.step("more", () => "more");
    });
    const outer = workflow("outer", (ctx) => ctx.child("one", inner, undefined));
    const engine = lab.engine([outer, inner]);
    await lab.drive(engine.start(outer, undefined, { id: "r", budget: { tokens: 150 } }));
    await lab.clock.advance(500);
    await lab.crash(engine);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.resume("r", { budget: { tokens: 1_000 } }));
    await lab.clock.advance(20_000);
    const next = lab.engine([outer, inner]);
    await lab.drive(next.recover());
    expect(await lab.drive(next.result("r"))).toBe("more");
  });
});
