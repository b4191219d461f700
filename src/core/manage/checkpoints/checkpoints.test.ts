import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../../test/support/lab.ts";
import { type Context, type Engine, type Workflow, workflow } from "../../../index.ts";
import type { Store } from "../../store/contract.ts";

const refusedWith = (code: string) => expect.objectContaining({ code });

/** Starts a run of this body and answers its engine when the run is at rest. */
async function at(
  rest: (ctx: Context, input: unknown) => unknown,
  options: { lab?: Lab; input?: unknown; id?: string } = {},
): Promise<{ lab: Lab; engine: Engine; flow: Workflow<unknown, unknown> }> {
  const lab = options.lab ?? createLab();
  const flow = workflow("flow", rest);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, options.input, { id: options.id ?? "r" }));
  await lab.clock.advance(1_000);
  return { lab, engine, flow };
}

/** Reads of a store, counted. */
function counting(store: Store): { store: Store; read: () => number } {
  let entries = 0;
  return {
    store: {
      ...store,
      entries: async (runId, range) => {
        const found = await store.entries(runId, range);
        entries += found.length;
        return found;
      },
    },
    read: () => entries,
  };
}

const dropAll = (engine: Engine): Promise<unknown> => engine.retention.prune({ maxAge: 0, failedMaxAge: 0 });

describe("the list of checkpoints", () => {
  it("names what ended, newest first, with phase, trigger and actor", async () => {
    const { lab, engine } = await at(async (ctx) => {
      await ctx.step("load", () => 1);
      await ctx.each("match", [1, 2], (item) => item);
      await ctx.checkpoint("ready", "before_risky_operation");
      return (await ctx.gate("approve", { choices: ["yes", "no"] })).choice;
    });
    await lab.drive(engine.answer("r", "approve", { choice: "yes", actor: "Ada" }));
    await lab.drive(engine.result("r"));
    const items = await engine.checkpoints.list("r");
    expect(items.map(({ kind, step }) => `${kind} ${step}`)).toEqual([
      "run_completed ",
      "gate_answered approve",
      "checkpoint_marked checkpoint:ready",
      "step_completed match[1]",
      "step_completed match[0]",
      "step_completed load",
    ]);
    expect(items.map(({ phase }) => phase)).toEqual([
      "approve",
      "approve",
      "match",
      "match",
      "match",
      "load",
    ]);
    expect(items[1]).toMatchObject({ actor: "Ada", trigger: "gate_answered", pinned: false });
    expect(items[2]).toMatchObject({ labels: ["ready"], trigger: "before_risky_operation" });
    expect(items[2]?.id).toBe(`r@${items[2]?.seq}`);
  });

  it("goes on page by page without a gap, and reads only what a page needs", async () => {
    const lab = createLab();
    const { flow } = await at(
      async (ctx) => {
        for (let n = 0; n < 1_000; n++) await ctx.step("s", () => n);
      },
      { lab },
    );
    const { store, read } = counting(lab.store);
    const engine = lab.engine([flow], { store });
    const first = await engine.checkpoints.list("r", { limit: 20 });
    expect(read()).toBeLessThan(500);
    const all = await engine.checkpoints.list("r", { limit: 1_000 });
    const paged = [...first];
    while (paged.length < 1_001) {
      const before = paged.at(-1)?.seq as number;
      paged.push(...(await engine.checkpoints.list("r", { limit: 100, before })));
    }
    expect(paged.slice(0, 1_000)).toEqual(all);
    expect(new Set(paged.map(({ seq }) => seq)).size).toBe(1_001);
    expect(await engine.checkpoints.list("r", { before: 1 })).toEqual([]);
  });

  it("has the newest position only when all of them are asked for", async () => {
    const { engine } = await at((ctx) => ctx.step("first", hangs));
    expect(await engine.checkpoints.list("r")).toEqual([]);
    expect(await engine.checkpoints.list("r", { all: true })).toMatchObject([
      { kind: "step_started", step: "first" },
    ]);
  });

  it("has one for each iteration that has ended, and those inside it when all are asked for (C11, S1-28)", async () => {
    const { lab, engine } = await at((ctx) =>
      ctx.loop("turn", { n: 0 }, async (state, turn) => {
        state.n += await ctx.step("ask", () => 1);
        if (turn.index === 1) await ctx.checkpoint("half", "user_requested");
        await ctx.step("check", () => true);
        return turn.index === 2 ? ctx.step("last", hangs) : undefined;
      }),
    );
    await lab.clock.advance(100);
    const steps = async (all: boolean) =>
      (await engine.checkpoints.list("r", { all })).map(({ kind, step }) => `${kind} ${step}`).reverse();
    expect(await steps(false)).toEqual([
      "loop_advanced turn",
      "checkpoint_marked turn[1]/checkpoint:half",
      "loop_advanced turn",
      "step_completed turn[2]/ask",
      "step_completed turn[2]/check",
    ]);
    expect(await steps(true)).toEqual([
      "step_completed turn[0]/ask",
      "step_completed turn[0]/check",
      "loop_advanced turn",
      "step_completed turn[1]/ask",
      "checkpoint_marked turn[1]/checkpoint:half",
      "step_completed turn[1]/check",
      "loop_advanced turn",
      "step_completed turn[2]/ask",
      "step_completed turn[2]/check",
      "step_started turn[2]/last",
    ]);
  });

  it("refuses what is not a run, a limit or a position", async () => {
    const { engine } = await at(() => 1);
    await expect(engine.checkpoints.list("none")).rejects.toThrow(refusedWith("HF-1001"));
    await expect(engine.checkpoints.list("a@1")).rejects.toThrow(refusedWith("HF-1004"));
    await expect(engine.checkpoints.list("r", { limit: 0 })).rejects.toThrow(refusedWith("HF-1003"));
    await expect(engine.checkpoints.list("r", { before: 0.5 })).rejects.toThrow(refusedWith("HF-1003"));
  });
});

describe("a checkpoint", () => {
  it("tells everything about the run as it stood there", async () => {
    let failed = false;
    const { lab, engine } = await at(
      async (ctx) => {
        ctx.plan(["load", "check", "approve", "report"]);
        ctx.memory.set("seen", new Map([["a", 1n]]));
        await ctx.step("load", () => {
          ctx.usage({ tokens: 100, costUsd: 0.5 });
          return new Date(7);
        });
        await ctx.step("check", () => {
          if (!failed)
            throw ((failed = true), Object.assign(new Error("busy"), { code: "EBUSY", retryable: true }));
          return undefined;
        });
        ctx.decide({ description: "go", agent: "critic", rationale: "it is good", confidence: 0.9 });
        ctx.agent("critic", { status: "done", confidence: 0.9 });
        await ctx.loop("turn", { n: 0 }, (state, turn) => {
          state.n += 2;
          return turn.index === 1 ? turn.done() : undefined;
        });
        await ctx.gate("approve", { show: { sum: 5 }, choices: ["yes", "no"] });
        return ctx.step("report", () => "sent");
      },
      { input: { of: "Ada" } },
    );
    await lab.clock.advance(5_000);
    const shown = await engine.checkpoints.show("r");
    expect(shown).toMatchObject({
      format: 1,
      run: "r",
      workflow: "flow",
      version: "1",
      schema: 1,
      kind: "run_waiting",
      status: "waiting",
      phase: "approve",
      progress: { done: 2, total: 4, percent: 50, text: "2 of 4" },
      current: [{ step: "approve", type: "gate", status: "started", attempt: 1 }],
      completed: ["load", "check"],
      failed: [],
      pending: ["approve", "report"],
      input: { of: "Ada" },
      memory: { seen: new Map([["a", 1n]]) },
      steps: { load: new Date(7), check: undefined },
      loops: { turn: { n: 4 } },
      iterations: { turn: { iteration: 2, done: true } },
      config: {},
      usage: { tokens: 100, costUsd: 0.5, turns: 2 },
      retries: 1,
      recoveries: 0,
      failure: { step: "check", attempt: 1, name: "Error", message: "busy", code: "EBUSY" },
      decisions: [{ description: "go", agent: "critic", rationale: "it is good", confidence: 0.9 }],
      agents: { critic: { status: "done", confidence: 0.9 } },
      gates: [{ gate: "approve", show: { sum: 5 }, choices: ["yes", "no"], text: false }],
      waits: [{ kind: "gate", step: "approve" }],
      labels: [],
      pinned: false,
      lineage: "r",
      origin: null,
      parent: null,
      children: [],
    });
    const row = await lab.store.read("r");
    expect(shown.head).toBe(row?.head);
    expect(shown.usage.activeMs).toBe(row?.activeMs);
    expect(shown.digest).toBe(await engine.checkpoints.digest("r"));
  });

  it("of the past shows the past", async () => {
    const { lab, engine } = await at(async (ctx) => {
      ctx.memory.set("n", 1);
      await ctx.step("one", () => "a");
      ctx.memory.set("n", 2);
      await ctx.step("two", () => "b");
      return "end";
    });
    await lab.drive(engine.result("r"));
    const [end, two, one] = await engine.checkpoints.list("r");
    const past = await engine.checkpoints.show(one?.id ?? "");
    expect(past).toMatchObject({ status: "running", steps: { one: "a" }, memory: { n: 1 }, current: [] });
    expect(past).not.toHaveProperty("result");
    expect(await engine.checkpoints.state(two?.id ?? "")).toMatchObject({
      memory: { n: 2 },
      steps: { two: "b" },
    });
    expect(await engine.checkpoints.show(end?.id ?? "")).toMatchObject({
      status: "completed",
      result: "end",
    });
  });

  it("is found by its name, by the newest one that has it", async () => {
    const { lab, engine } = await at(async (ctx) => {
      for (let n = 0; n < 3; n++) {
        await ctx.step("work", () => n);
        await ctx.checkpoint("done");
      }
    });
    await lab.drive(engine.result("r"));
    expect((await engine.checkpoints.show("r@done")).steps).toEqual({ work: 0, "work#2": 1, "work#3": 2 });
    await expect(engine.checkpoints.show("r@never")).rejects.toThrow(refusedWith("HF-1022"));
  });

  it("is refused where there is none", async () => {
    const { engine } = await at(async (ctx) => ctx.step("s", () => 1));
    await expect(engine.checkpoints.show("r@99")).rejects.toThrow(refusedWith("HF-1022"));
    await expect(engine.checkpoints.show("r@1")).rejects.toThrow(refusedWith("HF-1022"));
    await expect(engine.checkpoints.show("r@")).rejects.toThrow(refusedWith("HF-1021"));
    await expect(engine.checkpoints.show("none@1")).rejects.toThrow(refusedWith("HF-1001"));
  });

  it("of a failed run tells what it failed on", async () => {
    const { lab, engine } = await at(async (ctx) => {
      await ctx.step(
        "pay",
        () => Promise.reject(Object.assign(new TypeError("no money"), { retryable: true })),
        { retry: 2 },
      );
    });
    await lab.clock.advance(60_000);
    expect(await engine.checkpoints.show("r")).toMatchObject({
      status: "failed",
      failed: ["pay"],
      retries: 2,
      failure: { step: "pay", attempt: 2, name: "TypeError", message: "no money" },
    });
    const { engine: other } = await at(() => {
      throw Object.assign(new RangeError("mine"), { code: 7 });
    });
    expect(await other.checkpoints.show("r")).toMatchObject({
      status: "failed",
      failure: { step: "", name: "RangeError", message: "mine", code: 7 },
    });
  });

  it("tells of attempts, of a takeover and of steps under way", async () => {
    let calls = 0;
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => (++calls === 1 ? hangs() : 1), { effect: "repeatable" });
      await ctx.step("b", hangs, { effect: "once" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    await lab.clock.advance(1_000);
    expect(await next.checkpoints.show("r")).toMatchObject({
      recoveries: 1,
      current: [{ step: "b", status: "started", type: "call" }],
      completed: ["a"],
      progress: { done: 1, text: "1 done" },
    });
    await lab.crash(next);
    await lab.clock.advance(20_000);
    const last = lab.engine([flow]);
    await lab.drive(last.recover());
    await lab.drive(last.settled("r"));
    expect(await last.checkpoints.show("r")).toMatchObject({
      recoveries: 2,
      current: [{ step: "b", status: "in_doubt" }],
      waits: [{ kind: "decision", step: "b" }],
    });
  });

  it("measures progress by plans, members of groups included and finished iterations left out", async () => {
    const open = signalled<number>();
    const { engine } = await at(async (ctx) => {
      ctx.plan(["turn", "match", "end"]);
      await ctx.loop("turn", {}, async (_, turn) => {
        ctx.plan(["ask", "act"]);
        await ctx.step("ask", () => 1);
        await ctx.step("act", () => 1);
        return turn.index === 2 ? turn.done() : undefined;
      });
      await ctx.each("match", [0, 1, 2, 3], (item) => (item < 3 ? item : open.promise));
    });
    const { progress, pending } = await engine.checkpoints.show("r");
    expect(progress).toEqual({ done: 4, total: 6, percent: 66, text: "4 of 6" });
    expect(pending).toEqual(["end"]);
  });

  it("names the children that were started", async () => {
    const lab = createLab();
    const child = workflow("child", (ctx) => ctx.step("c", () => "yes"));
    const parent = workflow("parent", (ctx) => ctx.child("ask", child, undefined));
    const engine = lab.engine([child, parent]);
    await lab.drive(engine.start(parent, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const { children, completed } = await engine.checkpoints.show("r");
    expect(completed).toEqual(["ask"]);
    expect(await engine.checkpoints.show(children[0] ?? "")).toMatchObject({
      parent: { runId: "r", step: "ask" },
      result: "yes",
    });
  });

  it("is neither shown nor listed once its values are dropped (C11)", async () => {
    const { lab, engine } = await at(async (ctx) => ctx.step("s", () => 1));
    await lab.drive(engine.result("r"));
    const items = await engine.checkpoints.list("r");
    await lab.clock.advance(1_000);
    await lab.drive(dropAll(engine));
    for (const read of ["show", "state", "digest"] as const)
      await expect(engine.checkpoints[read](items[1]?.id ?? "")).rejects.toThrow(refusedWith("HF-1023"));
    expect(await engine.checkpoints.list("r", { all: true })).toEqual([]);
    await expect(engine.checkpoints.pin("r")).rejects.toThrow(refusedWith("HF-1023"));
    await expect(engine.checkpoints.label("r", "x")).rejects.toThrow(refusedWith("HF-1023"));
    await expect(engine.checkpoints.mark("r", "x")).rejects.toThrow(refusedWith("HF-1023"));
  });

  it("is listed only while it can be restored (C11)", async () => {
    const { lab, engine } = await at((ctx) =>
      ctx.loop("turn", { texts: [] as string[] }, async (state, turn) => {
        state.texts.push(await ctx.step("ask", () => `${turn.index}`.padEnd(1_500, "x")));
        return turn.index === 199 ? turn.done() : undefined;
      }),
    );
    await lab.drive(engine.result("r"));
    const before = await engine.checkpoints.list("r", { limit: 1_000, all: true });
    await lab.drive(engine.retention.prune({ keepLast: 3 }));
    const left = await engine.checkpoints.list("r", { limit: 1_000, all: true });
    expect(await engine.checkpoints.list("r", { limit: 1_000 })).toHaveLength(3);
    const ids = new Set(left.map(({ id }) => id));
    for (const { id } of before.filter((_, index) => index % 20 === 0 || index < 10)) {
      if (ids.has(id)) await engine.checkpoints.show(id);
      else await expect(engine.checkpoints.show(id)).rejects.toThrow(refusedWith("HF-1023"));
    }
  });
});

describe("a name or a pin", () => {
  it("can be given to a checkpoint afterwards, also of a run that has ended", async () => {
    const { lab, engine } = await at(async (ctx) => ctx.step("s", () => 1));
    await lab.drive(engine.result("r"));
    const [, step] = await engine.checkpoints.list("r");
    const id = step?.id ?? "";
    expect(await lab.drive(engine.checkpoints.label(id, "good", { actor: "Ada", reason: "tested" }))).toBe(
      id,
    );
    expect(await lab.drive(engine.checkpoints.pin("r@good", { actor: "Ada" }))).toBe(id);
    expect(await engine.checkpoints.show("r@good")).toMatchObject({ id, labels: ["good"], pinned: true });
    expect((await engine.get("r"))?.pinned).toBe(true);
    expect((await engine.checkpoints.list("r")).find((item) => item.id === id)).toMatchObject({
      labels: ["good"],
      pinned: true,
    });
    expect(await lab.drive(engine.checkpoints.unpin(id))).toBe(id);
    expect((await engine.get("r"))?.pinned).toBe(false);
    expect(await engine.checkpoints.show(id)).toMatchObject({ labels: ["good"], pinned: false });
  });

  it("is written once, however often it is given", async () => {
    const { lab, engine } = await at((ctx) => ctx.step("s", hangs));
    const id = await lab.drive(engine.checkpoints.mark("r", "here"));
    await lab.drive(Promise.all([1, 2, 3].map(() => engine.checkpoints.pin(id))));
    await lab.drive(engine.checkpoints.label(id, "there"));
    await lab.drive(engine.checkpoints.label(id, "there"));
    await lab.drive(engine.checkpoints.unpin("r"));
    const { seq } = (await engine.get("r")) ?? { seq: 0 };
    expect(seq).toBe(Number(id.split("@")[1]) + 2);
    expect(await engine.checkpoints.show(id)).toMatchObject({ labels: ["here", "there"], pinned: true });
  });

  it("makes a checkpoint of the newest position, whatever is there", async () => {
    const { lab, engine } = await at((ctx) => ctx.gate("g", { choices: ["yes"] }));
    const id = await lab.drive(engine.checkpoints.pin("r"));
    await lab.drive(engine.checkpoints.mark("r", "later"));
    expect(await engine.checkpoints.show(id)).toMatchObject({ kind: "run_waiting", pinned: true });
    expect((await engine.checkpoints.list("r")).map((item) => item.id)).toContain(id);
  });

  it("counts the pins that are left", async () => {
    const { lab, engine } = await at((ctx) => ctx.step("s", hangs));
    const one = await lab.drive(engine.checkpoints.mark("r", "one"));
    const two = await lab.drive(engine.checkpoints.mark("r", "two"));
    await lab.drive(engine.checkpoints.pin(one));
    await lab.drive(engine.checkpoints.pin(two));
    await lab.drive(engine.checkpoints.unpin(one));
    expect((await engine.get("r"))?.pinned).toBe(true);
    await lab.drive(engine.checkpoints.unpin(two));
    expect((await engine.get("r"))?.pinned).toBe(false);
  });

  it("is not taken over by a fork", async () => {
    const { lab, engine } = await at(async (ctx) => ctx.step("s", () => 1));
    await lab.drive(engine.result("r"));
    const id = await lab.drive(engine.checkpoints.pin("r"));
    const fork = await lab.drive(engine.fork(id, { id: "f" }));
    expect(fork.pinned).toBe(false);
    expect((await engine.checkpoints.list("f")).some(({ pinned }) => pinned)).toBe(false);
  });

  it("does not disturb a run that is at work", async () => {
    const open = signalled<string>();
    const { lab, engine } = await at(async (ctx) => `${await ctx.step("s", () => open.promise)}!`);
    const id = await lab.drive(engine.checkpoints.mark("r", "midway", { actor: "Ada" }));
    open.resolve("done");
    expect(await lab.drive(engine.result("r"))).toBe("done!");
    expect(await engine.checkpoints.show(id)).toMatchObject({
      trigger: "user_requested",
      actor: "Ada",
      current: [{ step: "s" }],
    });
  });

  it("must be one that an address can hold", async () => {
    const { engine } = await at((ctx) => ctx.step("s", hangs));
    await expect(engine.checkpoints.mark("r", "14")).rejects.toThrow(refusedWith("HF-1003"));
    await expect(engine.checkpoints.label("r", "")).rejects.toThrow(refusedWith("HF-1050"));
  });
});

describe("a state's digest", () => {
  it("is the same in a fork at its fork point as in its source", async () => {
    const { lab, engine } = await at(async (ctx) => {
      ctx.memory.set("m", { deep: [1, new Set([2n])] });
      await ctx.step("one", () => new Date(3));
      await ctx.step("two", hangs);
    });
    const [one] = await engine.checkpoints.list("r");
    for (const [index, address] of ["r", one?.id ?? ""].entries()) {
      const other = lab.engine([], { execute: false });
      await lab.drive(other.fork(address, { id: `f${index}` }));
      expect(await other.checkpoints.digest(`f${index}`)).toBe(await engine.checkpoints.digest(address));
    }
  });

  it("differs where anything of the state differs", async () => {
    const bodies: ((ctx: Context) => Promise<unknown>)[] = [
      async (ctx) => ctx.step("s", () => 1),
      async (ctx) => ctx.step("s", () => 1n),
      async (ctx) => ctx.step("t", () => 1),
      async (ctx) => (ctx.memory.set("s", 1), ctx.step("s", () => 1)),
      async (ctx) => (await ctx.step("s", () => 1), ctx.loop("l", {}, (_, turn) => turn.done())),
      async (ctx) => (
        await ctx.step("s", () => 1), ctx.step("f", () => Promise.reject(new Error("x")), { retry: 1 })
      ),
    ];
    const lab = createLab();
    const digests = new Set<string>();
    for (const [index, body] of bodies.entries()) {
      const { engine } = await at(body, { lab, id: `r${index}` });
      digests.add(await engine.checkpoints.digest(`r${index}`));
    }
    expect(digests.size).toBe(bodies.length);
  });
});

describe("a run of 10,000 steps", () => {
  it("is shown and checked in time that grows with its length only", { timeout: 60_000 }, async () => {
    const fastest = async (steps: number): Promise<number> => {
      const { lab, engine } = await at(async (ctx) => {
        for (let n = 0; n < steps; n++) await ctx.step("s", () => ({ n, text: "x".repeat(100) }));
      });
      await lab.drive(engine.result("r"));
      const times: number[] = [];
      for (let round = 0; round < 3; round++) {
        const start = performance.now();
        expect((await engine.checkpoints.show("r")).completed).toHaveLength(steps);
        expect((await engine.checkpoints.validate("r")).ok).toBe(true);
        times.push(performance.now() - start);
      }
      return Math.min(...times);
    };
    // Five times as long: five times the time, or twenty-five times if it were quadratic.
    const [short, long] = [await fastest(2_000), await fastest(10_000)];
    expect(long / short).toBeLessThan(15);
  });
});
