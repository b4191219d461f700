import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { createEngine, workflow } from "../../index.ts";
import type { CheckpointTrigger, Triggers } from "../../manage.ts";
import { parseEntry } from "../journal/journal.ts";

/** The marks of run r, each with the kinds of events it was written with. */
async function marks(lab: Lab): Promise<{ label: string; trigger: string; beside: string[] }[]> {
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => {
    const { events } = parseEntry("r", entry);
    const beside = events.map(({ kind }) => kind);
    return events.flatMap((event) => (event.kind === "checkpoint_marked" ? [{ ...event.meta, beside }] : []));
  });
}

const fails = workflow("flow", async (ctx) => {
  await ctx.step("fine", () => 1);
  await ctx.step("shaky", ({ attempt }) => {
    if (attempt === 1) throw new Error("once");
  });
  await ctx
    .step("broken", () => Promise.reject(new Error("for good")), { retry: false })
    .catch(() => undefined);
  await ctx.step("last", () => Promise.reject(new Error("for good")), { retry: false });
});

describe("an error", () => {
  it("marks a checkpoint when a step fails for good, without a write of its own", async () => {
    const run = async (triggers?: Triggers | false) => {
      const lab = createLab();
      const engine = lab.engine([fails], triggers === undefined ? {} : { triggers });
      await lab.drive(engine.start(fails, undefined, { id: "r" }));
      await lab.drive(engine.settled("r"));
      return { marks: await marks(lab), flushes: engine.flushes };
    };
    const marked = await run({});
    expect(marked.marks).toMatchObject([
      { label: "broken", trigger: "error_encountered" },
      { label: "last", trigger: "error_encountered" },
    ]);
    for (const { beside } of marked.marks) expect(beside).toContain("step_failed");
    // Nobody gets marks they did not ask for.
    for (const triggers of [undefined, false, { errors: false }] as const)
      expect(await run(triggers)).toEqual({ marks: [], flushes: marked.flushes });
  });
});

describe("confidence", () => {
  const reporting = (values: readonly (number | undefined)[]) =>
    workflow("flow", async (ctx) => {
      await ctx.loop("turn", {}, async (_, turn) => {
        const confidence = values[turn.index];
        ctx.agent("a: b", { status: "busy", ...(confidence === undefined ? {} : { confidence }) });
        ctx.agent("other", { status: "busy", confidence: 0.9 });
        await ctx.step("s", ({ attempt }) => (turn.index === 4 && attempt === 1 ? hangs() : 1));
        return turn.index === values.length - 1 ? turn.done() : undefined;
      });
    });

  it("marks a checkpoint each time it passes the threshold, either way, also across a crash", async () => {
    const lab = createLab();
    const flow = reporting([0.9, 0.4, undefined, 0.3, 0.45, 0.2, 0.5, 0.8, 0.1]);
    const triggers = { confidence: 0.5 };
    const engine = lab.engine([flow], { triggers });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow], { triggers });
    await lab.drive(next.recover());
    await lab.drive(next.result("r"));
    const found = await marks(lab);
    expect(found.map(({ label }) => label)).toEqual([
      "a: b: below 0.5",
      "a: b: above 0.5",
      "a: b: below 0.5",
    ]);
    for (const { trigger, beside } of found) {
      expect(trigger).toBe("confidence_threshold_crossed");
      expect(beside).toContain("agent_updated");
    }
  });

  it("marks nothing unless asked to", async () => {
    const lab = createLab();
    const flow = reporting([0.9, 0.1, 0.9]);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(await marks(lab)).toEqual([]);
  });
});

describe("a checkpoint made by the run", () => {
  it("says why it was made, with one of the known reasons", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.checkpoint("half", "phase_completed");
      await ctx.checkpoint("plain");
      await ctx.checkpoint("odd", "because" as CheckpointTrigger);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("because is not one of phase_started");
    expect((await marks(lab)).map(({ label, trigger }) => [label, trigger])).toEqual([
      ["half", "phase_completed"],
      ["plain", "user_requested"],
    ]);
  });
});

describe("a phase, a specialist, an evaluation", () => {
  const flow = workflow("flow", async (ctx) => {
    ctx.plan(["research", "write", "review"]);
    await ctx.step("research", () => 1);
    await ctx.step("aside", () => 2);
    ctx.agent("writer", { status: "working" });
    await ctx.loop("write", { n: 0 }, async (state, turn) => {
      ctx.plan(["draft"]);
      await ctx.step("draft", ({ attempt }) => (turn.index === 1 && attempt === 1 ? hangs() : 3));
      state.n++;
      return turn.index === 1 ? turn.done() : undefined;
    });
    ctx.agent("writer", { status: "Done" });
    ctx.decide({ description: "good enough", type: "evaluation", agent: "critic", confidence: 0.9 });
    ctx.decide({ description: "print it", type: "choice" });
    await ctx.step("review", () => 4);
  });

  it("marks a checkpoint when it has ended, once, also across a crash", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { triggers: {} });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow], { triggers: {} });
    await lab.drive(next.recover());
    await lab.drive(next.result("r"));
    expect((await marks(lab)).map(({ label, trigger }) => [label, trigger])).toEqual([
      ["research", "phase_completed"],
      ["write[0]/draft", "phase_completed"],
      ["write[1]/draft", "phase_completed"],
      ["write", "phase_completed"],
      ["writer", "specialist_finished"],
      ["critic", "evaluation_completed"],
      ["review", "phase_completed"],
    ]);
    const list = await next.checkpoints.list("r", { limit: 100 });
    expect(list.filter(({ trigger }) => trigger === "phase_completed")).toHaveLength(5);
  });

  it("costs no write, and can be switched off one by one", async () => {
    const run = async (triggers: Triggers | false) => {
      const lab = createLab();
      const quick = workflow("flow", async (ctx) => {
        ctx.plan(["a", "b"]);
        await ctx.step("a", () => 1);
        ctx.agent("x", { status: "finished" });
        ctx.decide({ description: "fine", type: "evaluation" });
        await ctx.step("b", () => 1);
      });
      const engine = lab.engine([quick], { triggers });
      await lab.drive(engine.start(quick, undefined, { id: "r" }));
      await lab.drive(engine.result("r"));
      return { flushes: engine.flushes, marks: (await marks(lab)).map(({ trigger }) => trigger) };
    };
    const none = await run(false);
    const all = await run({});
    expect(all.flushes).toBe(none.flushes);
    expect([none.marks, all.marks]).toEqual([
      [],
      ["phase_completed", "specialist_finished", "evaluation_completed", "phase_completed"],
    ]);
    expect((await run({ phases: false, agents: false })).marks).toEqual(["evaluation_completed"]);
    expect((await run({ phases: false, evaluations: false })).marks).toEqual(["specialist_finished"]);
  });
});

describe("a checkpoint that somebody asks for", () => {
  it("is marked by the run for each of the manual reasons, and by a person from outside (S4-11)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.checkpoint("look here", "debug_breakpoint");
      await ctx.checkpoint("before the wire", "before_risky_operation");
      await ctx.checkpoint("asked for");
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.checkpoints.mark("r", "by hand", { actor: "ada" }));
    expect((await marks(lab)).map(({ trigger }) => trigger)).toEqual([
      "debug_breakpoint",
      "before_risky_operation",
      "user_requested",
      "user_requested",
    ]);
  });
});

describe("the options of triggers", () => {
  it("are checked", () => {
    const { store } = createLab();
    const make = (triggers: object) => () => createEngine({ store, triggers });
    expect(make({ error: true })).toThrow(/triggers\.error.*no such option/);
    expect(make({ confidence: 0 })).toThrow("triggers.confidence");
    expect(make({ memoryPressure: 85 })).toThrow("triggers.memoryPressure");
  });
});
