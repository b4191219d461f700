import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import type { Context, Engine, StepCall, Workflow } from "../../index.ts";
import { workflow } from "../../index.ts";
import { childId } from "../ids.ts";

/** A tool that does nothing but wait to be told to stop, and says when it was. */
function tool(lab: Lab, kind: "hangs" | "throws" = "hangs") {
  const told: number[] = [];
  const call = ({ signal }: Pick<StepCall, "signal">): Promise<never> =>
    new Promise((_, reject) => {
      const stop = () => {
        told.push(lab.clock.now());
        if (kind === "throws") reject(new Error("told to stop"));
      };
      signal.addEventListener("abort", stop, { once: true });
    });
  return { told, call };
}

const standing = async (engine: Engine, id = "r") => {
  const run = await engine.get(id);
  return [run?.status, run?.control];
};

describe("a cancel that another process writes", () => {
  type Call = (call: Pick<StepCall, "signal">) => Promise<never>;
  const low = (call: Call) => workflow("low", (ctx) => ctx.step("work", call));
  const places: Record<string, (call: Call) => readonly Workflow<never, unknown>[]> = {
    "a step": (call) => [workflow("top", (ctx) => ctx.step("work", call))],
    "a step with a time limit": (call) => [
      workflow("top", (ctx) => ctx.step("work", call, { timeoutMs: 1_000_000 })),
    ],
    "branches of a group": (call) => [workflow("top", (ctx) => ctx.all("group", { a: call, b: call }))],
    "items of a list": (call) => [
      workflow("top", (ctx) => ctx.each("list", [1], (_, __, given) => call(given))),
    ],
    "a step of a branch": (call) => [
      workflow("top", (ctx) => ctx.all("group", { a: () => ctx.step("work", call, { effect: "once" }) })),
    ],
    "an iteration of a loop": (call) => [
      workflow("top", (ctx) => ctx.loop("turns", {}, async () => void (await ctx.step("work", call)))),
    ],
    "the workflow's own function": (call) => [
      workflow("top", (ctx: Context) =>
        Promise.all([call({ signal: ctx.abortSignal }), ctx.step("work", hangs)]),
      ),
    ],
    "a child": (call) => [workflow("top", (ctx) => ctx.child("low", low(call), undefined)), low(call)],
  };

  it.each(
    Object.entries(places).flatMap(([place, make]) => [true, false].map((undo) => ({ place, make, undo }))),
  )("reaches a tool in $place within 2 s (with undoing: $undo)", async ({ make, undo }) => {
    const lab = createLab();
    const { told, call } = tool(lab);
    const flows = make(call);
    const engine = lab.engine(flows, { claimMs: 15_000 });
    await lab.drive(engine.start(flows[0] as Workflow<undefined>, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const desk = lab.engine([], { execute: false });
    const at = lab.clock.now();
    // Only the run itself is told; its worker passes it on to those below.
    await lab.drive(desk.cancel("r", { compensate: undo }));
    await lab.clock.advance(4_000);
    expect(told.length).toBeGreaterThan(0);
    for (const time of told) expect(time - at).toBeLessThanOrEqual(2_000);
  });
});

describe("a cancelled run", () => {
  it("stays so whatever comes late: an outcome, a child's end, a pause, a resume, an answer, a decision, context", async () => {
    const lab = createLab();
    const [sent, below] = [signalled<string>(), signalled<string>()];
    const low = workflow("low", (ctx) => ctx.step("work", () => below.promise, { effect: "once" }));
    const flow = workflow("flow", (ctx) =>
      ctx.all("group", {
        a: () => ctx.step("mail", () => sent.promise, { effect: "once" }),
        b: () => ctx.gate("ok", { choices: ["yes"] }),
        c: () => ctx.child("low", low, undefined),
      }),
    );
    const engine = lab.engine([flow, low]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(200);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.cancel("r", { actor: "ada" }));
    sent.resolve("sent");
    below.resolve("done");
    await lab.clock.advance(60_000);
    const acts = [
      engine.pause("r"),
      engine.resume("r", { set: { memory: { a: 1 } }, budget: { tokens: 5 } }),
      engine.answer("r", "group[b]/ok", { choice: "yes" }),
      engine.resolve("r", "group[a]/mail", { action: "done" }),
      engine.inject("r", "x"),
      engine.signal("r", "x"),
      engine.cancel("r", { compensate: true }),
    ];
    expect(await lab.drive(Promise.all(acts.map(code)))).toEqual([
      "HF-1007",
      "HF-1007",
      "HF-1013",
      "HF-1011",
      "HF-1007",
      "HF-1007",
      "taken",
    ]);
    await lab.clock.advance(60_000);
    for (const id of ["r", childId("r", "group[c]/low")]) {
      const events = await eventsOf(lab.store, id);
      const after = events.slice(events.findIndex(({ kind }) => kind === "run_cancelled") + 1);
      expect(after.map(({ kind }) => kind).sort()).toEqual(["family_told", "step_evidence"]);
      expect(await standing(engine, id)).toEqual(["cancelled", "none"]);
    }
  });

  it("has its children cancelled below one that has ended", async () => {
    const lab = createLab();
    const low = workflow("low", (ctx) => ctx.step("work", hangs));
    const middle = workflow("middle", async (ctx) => {
      void ctx.child("low", low, undefined);
      await ctx.step("quick", () => 1);
    });
    const top = workflow("top", async (ctx) => {
      await ctx.child("middle", middle, undefined);
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([top, middle, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    const [middleId, lowId] = [childId("r", "middle"), childId(childId("r", "middle"), "low")];
    await lab.clock.advance(1_000);
    expect([...(await standing(engine, middleId)), ...(await standing(engine, lowId))]).toEqual([
      "completed",
      "none",
      "running",
      "none",
    ]);
    await lab.drive(engine.cancel("r"));
    await lab.clock.advance(1_000);
    expect(await standing(engine, lowId)).toEqual(["cancelled", "none"]);
  });
});

describe("a cancel with undoing", () => {
  it("tells the call under way, undoes what was done, and what the call says after that is no proof of anything", async () => {
    const lab = createLab();
    const { told, call } = tool(lab, "throws");
    const undone: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
      await ctx.step("mail", call, { effect: "once" });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(10_000);
    expect([told.length, undone]).toEqual([1, ["seat"]]);
    expect(await standing(engine)).toEqual(["cancelled", "none"]);
    const kinds = (await eventsOf(lab.store, "r"))
      .filter(({ step }) => step === "mail")
      .map(({ kind }) => kind);
    expect(kinds).toEqual(["step_started", "step_in_doubt"]);
  });

  it.each(["once", "keyed"] as const)(
    "asks what became of a %s call that it would have to undo",
    async (effect) => {
      const lab = createLab();
      const { call } = tool(lab, "throws");
      const undone: unknown[] = [];
      const flow = workflow("flow", (ctx) =>
        ctx.step<string>("pay", call, { effect, compensate: (paid) => void undone.push(paid) }),
      );
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(100);
      await lab.drive(engine.cancel("r", { compensate: true }));
      const run = await lab.drive(engine.settled("r"));
      expect([run.status, run.waiting.map(({ kind, step }) => [kind, step])]).toEqual([
        "waiting",
        [["decision", "pay"]],
      ]);
      expect(await lab.drive(code(engine.resolve("r", "pay", { action: "rerun" })))).toBe("HF-1007");
      await lab.drive(engine.resolve("r", "pay", { action: "done", value: "10 EUR" }));
      await lab.clock.advance(10_000);
      expect([undone, await standing(engine)]).toEqual([["10 EUR"], ["cancelled", "none"]]);
    },
  );

  it("asks it too when the worker died with the call under way", async () => {
    const lab = createLab();
    const undone: unknown[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.step<string>("pay", hangs, { effect: "keyed", compensate: (paid) => void undone.push(paid) }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(engine);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.cancel("r", { compensate: true }));
    await lab.clock.advance(60_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    const run = await lab.drive(next.settled("r"));
    expect(run.waiting.map(({ kind, step }) => [kind, step])).toEqual([["decision", "pay"]]);
    await lab.drive(next.resolve("r", "pay", { action: "failed" }));
    await lab.clock.advance(10_000);
    expect([undone, await standing(next)]).toEqual([[], ["cancelled", "none"]]);
  });

  it("is left to a person when an undo fails, stays a cancel, and tries again when they say so", async () => {
    const lab = createLab();
    let works = false;
    const undone: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: () => void undone.push("book") });
      await ctx.step("pay", () => "10 EUR", {
        compensate: () => {
          if (!works) throw new Error("bank is closed");
          undone.push("pay");
        },
      });
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    const held = await lab.drive(engine.settled("r"));
    expect([held.waiting[0]?.kind, held.control, undone]).toEqual(["review", "compensating", []]);
    expect(await lab.drive(code(engine.answer("r", "ok", { choice: "yes" })))).toBe("HF-1013");
    expect(await lab.drive(code(engine.pause("r")))).toBe("HF-1007");
    works = true;
    await lab.drive(engine.resume("r"));
    await lab.clock.advance(60_000);
    expect([undone, await standing(engine)]).toEqual([
      ["pay", "book"],
      ["cancelled", "none"],
    ]);
  });
});

describe("a run that undoes itself because it failed", () => {
  const saga = (undo: () => unknown, pay: () => unknown, undone: string[]) =>
    workflow("saga", { compensateOnFailure: true }, async (ctx) => {
      await ctx.step("first", () => 1, { compensate: () => void undone.push("first") });
      await ctx.step("book", () => "seat", {
        compensate: async () => {
          await undo();
          undone.push("book");
        },
      });
      await ctx.step("pay", pay, { retry: false });
    });
  const declined = () => Promise.reject(new Error("declined"));

  it("is cancelled when that is said meanwhile, and everything is undone once", async () => {
    const lab = createLab();
    const undo = signalled();
    const undone: string[] = [];
    const flow = saga(() => undo.promise, declined, undone);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.drive(engine.cancel("r", { compensate: true }));
    undo.resolve();
    await lab.clock.advance(10_000);
    expect([undone, await standing(engine)]).toEqual([
      ["book", "first"],
      ["cancelled", "none"],
    ]);
  });

  it("is cancelled when it fails after that was said", async () => {
    const lab = createLab();
    const pay = signalled();
    const undone: string[] = [];
    const flow = saga(
      () => undefined,
      () => pay.promise,
      undone,
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.drive(engine.cancel("r", { compensate: true }));
    pay.reject(new Error("declined"));
    await lab.clock.advance(10_000);
    expect([undone, await standing(engine)]).toEqual([
      ["book", "first"],
      ["cancelled", "none"],
    ]);
  });

  it("begins no other undo once it is told to pause, and goes on with them when it is resumed", async () => {
    const lab = createLab();
    const undo = signalled();
    const undone: string[] = [];
    const flow = saga(() => undo.promise, declined, undone);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.drive(engine.pause("r"));
    undo.resolve();
    await lab.clock.advance(10_000);
    expect([undone, await standing(engine)]).toEqual([["book"], ["paused", "none"]]);
    await lab.drive(engine.resume("r"));
    await lab.clock.advance(10_000);
    expect([undone, await standing(engine)]).toEqual([
      ["book", "first"],
      ["failed", "none"],
    ]);
  });

  it("is left to a person when an undo fails, and tries again when they say so", async () => {
    const lab = createLab();
    let works = false;
    const undone: string[] = [];
    const flow = saga(() => (works ? undefined : declined()), declined, undone);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const held = await lab.drive(engine.settled("r"));
    expect([held.status, held.waiting[0]?.kind, undone]).toEqual(["waiting", "review", []]);
    works = true;
    await lab.drive(engine.resume("r"));
    await lab.clock.advance(60_000);
    expect([undone, await standing(engine)]).toEqual([
      ["book", "first"],
      ["failed", "none"],
    ]);
  });
});

describe("an undo whose outcome is unknown", () => {
  it("may be called again when somebody says so, although the run is being cancelled", async () => {
    const lab = createLab();
    let undos = 0;
    const flow = workflow("flow", async (ctx) => {
      const compensate = () => (++undos === 1 ? hangs() : undefined);
      await ctx.step("mail", () => "sent", { effect: "once", compensate });
      await ctx.signal("never");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(1_000);
    const { engine: next, run } = await lab.afterCrash(engine, [flow], "r");
    expect([run.waiting[0]?.kind, run.waiting[0]?.step]).toEqual(["decision", "compensate/mail"]);
    await lab.clock.advance(1_000_000);
    await lab.drive(next.resolve("r", "compensate/mail", { action: "rerun", actor: "ada" }));
    await lab.clock.advance(10_000);
    expect([undos, ...(await standing(next))]).toEqual([2, "cancelled", "none"]);
  });
});
