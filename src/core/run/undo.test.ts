import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import type { Engine, StepOptions, Verdict, Workflow } from "../../index.ts";
import { workflow } from "../../index.ts";
import { childId } from "../ids.ts";

const CLASSES = ["repeatable", "keyed", "once"] as const;

const standing = async (engine: Engine, id = "r") => {
  const run = await engine.get(id);
  return [run?.status, run?.control, run?.waiting.map(({ kind, step }) => `${kind} ${step}`) ?? []];
};

/** Starts the flow, lets it come as far as it can, kills its process, cancels it with undoing, and goes on in a new process. */
async function cancelledAfterCrash(lab: Lab, flow: Workflow<undefined, unknown>): Promise<Engine> {
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(500);
  await lab.crash(engine);
  await lab.drive(lab.engine([], { execute: false }).cancel("r", { compensate: true }));
  await lab.clock.advance(60_000);
  const next = lab.engine([flow]);
  await lab.drive(next.recover());
  await lab.drive(next.settled("r"));
  return next;
}

describe("a cancel with compensation", () => {
  describe.each(CLASSES)("that meets a %s call whose outcome is unknown (E20)", (effect) => {
    it("asks what became of it, and undoes it when it was done", async () => {
      const lab = createLab();
      const undone: unknown[] = [];
      const flow = workflow("flow", async (ctx) => {
        await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
        await ctx.step<string>("pay", hangs, { effect, compensate: (paid) => void undone.push(paid) });
      });
      const engine = await cancelledAfterCrash(lab, flow);
      expect([await standing(engine), undone]).toEqual([["waiting", "compensating", ["decision pay"]], []]);
      expect(await lab.drive(code(engine.resolve("r", "pay", { action: "rerun" })))).toBe("HF-1007");
      await lab.drive(engine.resolve("r", "pay", { action: "done", value: "10 EUR" }));
      await lab.clock.advance(10_000);
      expect([await standing(engine), undone]).toEqual([
        ["cancelled", "none", []],
        ["10 EUR", "seat"],
      ]);
    });

    it("asks verify first, and neither calls nor undoes what was not done", async () => {
      const lab = createLab();
      let calls = 0;
      const undone: unknown[] = [];
      const call = (): Promise<never> => (++calls, hangs());
      const flow = workflow("flow", async (ctx) => {
        await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
        const verify = () => ({ status: "not-done" as const });
        await ctx.step("pay", call, { effect, verify, compensate: () => void undone.push("pay") });
      });
      const engine = await cancelledAfterCrash(lab, flow);
      expect([await standing(engine), calls, undone]).toEqual([["cancelled", "none", []], 1, ["seat"]]);
      const failed = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "step_failed");
      expect(failed).toMatchObject({ step: "pay", meta: { harmless: true } });
    });

    it("takes no failure for an answer that its own abort may have caused", async () => {
      const lab = createLab();
      const undone: unknown[] = [];
      const flow = workflow("flow", (ctx) =>
        ctx.step<string>(
          "pay",
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener("abort", () => reject(new Error("told to stop")), { once: true });
            }),
          { effect, compensate: (paid) => void undone.push(paid) },
        ),
      );
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(100);
      await lab.drive(engine.cancel("r", { compensate: true }));
      await lab.drive(engine.settled("r"));
      expect(await standing(engine)).toEqual(["waiting", "compensating", ["decision pay"]]);
    });

    it("learns the outcome from a live owner that had lost its claim, and undoes it once", async () => {
      const lab = createLab();
      const undone: unknown[] = [];
      const paid = signalled<string>();
      let calls = 0;
      const options = { effect, compensate: (value: string) => void undone.push(value) };
      const flow = workflow("flow", (ctx) =>
        ctx.step("pay", () => (++calls === 1 ? paid.promise : hangs()), options),
      );
      // Its process is cut off from the run and lives on, as after a freeze that was longer than the claim.
      const worker = await cancelledAfterCrash(lab, flow);
      expect(await standing(worker)).toEqual(["waiting", "compensating", ["decision pay"]]);
      paid.resolve("10 EUR");
      await lab.clock.advance(20_000);
      expect([await standing(worker), calls, undone]).toEqual([["cancelled", "none", []], 1, ["10 EUR"]]);
    });
  });

  it.each(["keyed", "once"] as const)(
    "asks about a %s call that failed and may have acted",
    async (effect) => {
      const lab = createLab();
      const undone: unknown[] = [];
      const fails = () => Promise.reject(new Error("connection reset"));
      const options: StepOptions<string> = {
        effect,
        retry: false,
        compensate: (paid) => void undone.push(paid),
      };
      const flow = workflow("flow", (ctx) => ctx.step<string>("pay", fails, options));
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.drive(engine.settled("r"));
      await lab.drive(engine.cancel("r", { compensate: true }));
      await lab.drive(engine.settled("r"));
      expect(await standing(engine)).toEqual(["waiting", "compensating", ["decision pay"]]);
      await lab.drive(engine.resolve("r", "pay", { action: "failed" }));
      await lab.clock.advance(10_000);
      expect([await standing(engine), undone]).toEqual([["cancelled", "none", []], []]);
    },
  );

  it.each([
    ["proves that nothing was done", Object.assign(new Error("declined"), { status: 402 }), "once"],
    ["is an ordinary one of a repeatable step", new Error("declined"), "repeatable"],
  ] as const)("asks nothing about a failure that %s", async (_, error, effect) => {
    const lab = createLab();
    const undone: unknown[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
      const compensate = () => void undone.push("pay");
      await ctx.step("pay", () => Promise.reject(error), { effect, retry: false, compensate });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(10_000);
    expect([await standing(engine), undone]).toEqual([["cancelled", "none", []], ["seat"]]);
  });

  it("finds what was done and what is in doubt inside a step that was under way", async () => {
    const lab = createLab();
    const undone: unknown[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.all("group", {
        a: async () => {
          await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
          await ctx.step<string>("pay", hangs, { compensate: (paid) => void undone.push(paid) });
        },
      }),
    );
    const engine = await cancelledAfterCrash(lab, flow);
    expect(await standing(engine)).toEqual(["waiting", "compensating", ["decision group[a]/pay"]]);
    await lab.drive(engine.resolve("r", "group[a]/pay", { action: "done", value: "10 EUR" }));
    await lab.clock.advance(10_000);
    expect([await standing(engine), undone]).toEqual([
      ["cancelled", "none", []],
      ["10 EUR", "seat"],
    ]);
  });

  it("asks about a doubtful call that the code does not come to, and lists it as left when it was done", async () => {
    const lab = createLab();
    const undone: unknown[] = [];
    let isFirst = true;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
      const compensate = () => void undone.push("pay");
      if (isFirst) await ctx.step("pay", hangs, { compensate });
      await ctx.signal("never");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(500);
    await lab.crash(engine);
    isFirst = false;
    await lab.drive(lab.engine([], { execute: false }).cancel("r", { compensate: true }));
    await lab.clock.advance(60_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    await lab.drive(next.settled("r"));
    expect([await standing(next), undone]).toEqual([["waiting", "compensating", ["decision pay"]], []]);
    await lab.drive(next.resolve("r", "pay", { action: "done" }));
    await lab.clock.advance(10_000);
    const { waiting = [] } = (await next.get("r")) ?? {};
    expect([waiting.map(({ kind }) => kind), undone]).toEqual([["review"], ["seat"]]);
    expect(waiting[0]?.detail).toContain("HF-2113 Run r wasn't undone completely. Still to undo: pay.");
  });

  it("lists what a child that has completed did, and what only its code could undo", async () => {
    const lab = createLab();
    const undone: unknown[] = [];
    const low = workflow("low", (ctx) =>
      ctx.step("pay", () => "10 EUR", { compensate: () => void undone.push("pay") }),
    );
    const top = workflow("top", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: (seat) => void undone.push(seat) });
      await ctx.child("low", low, undefined);
      await ctx.signal("never");
    });
    const engine = lab.engine([top, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.drive(engine.settled("r"));
    const { waiting = [] } = (await engine.get("r")) ?? {};
    expect([waiting[0]?.kind, undone]).toEqual(["review", ["seat"]]);
    expect(waiting[0]?.detail).toContain(`pay of run ${childId("r", "low")}`);
  });

  it("shows no gate as open once it is under way (C5)", async () => {
    const lab = createLab();
    const undo = signalled();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("book", () => "seat", { compensate: () => undo.promise });
      await ctx.gate("ok", { choices: ["yes"] });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect((await lab.drive(engine.gates("r"))).map(({ gate }) => gate)).toEqual(["ok"]);
    await lab.drive(engine.cancel("r", { compensate: true }));
    expect([await lab.drive(engine.gates("r")), (await standing(engine))[2]]).toEqual([[], []]);
    undo.resolve();
    await lab.clock.advance(10_000);
    expect([await standing(engine), await lab.drive(engine.gates("r"))]).toEqual([
      ["cancelled", "none", []],
      [],
    ]);
    expect(await lab.drive(code(engine.answer("r", "ok", { choice: "yes" })))).toBe("HF-1013");
  });
});

describe("a run that undoes itself because it failed", () => {
  it("waits for a call beside the one that failed, and undoes that too (E20)", async () => {
    const lab = createLab();
    const [pay, book] = [signalled<string>(), signalled<string>()];
    const undone: unknown[] = [];
    const flow = workflow("saga", { compensateOnFailure: true }, (ctx) =>
      Promise.all([
        ctx.step("pay", () => pay.promise, { retry: false }),
        ctx.step("book", () => book.promise, { compensate: (seat) => void undone.push(seat) }),
      ]),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    pay.reject(new Error("declined"));
    await lab.clock.advance(1_000);
    book.resolve("seat");
    await lab.clock.advance(10_000);
    expect([(await standing(engine))[0], undone]).toEqual(["failed", ["seat"]]);
  });
});

describe("an undo", () => {
  /** A mail is sent; its undo hangs, its process dies, and the next one takes the cancel up. */
  async function killed(options: StepOptions<string>) {
    const lab = createLab();
    let undos = 0;
    const undo = () => (++undos === 1 ? hangs() : undefined);
    const { compensate = undo } = options;
    const flow = workflow("flow", async (ctx) => {
      const how = typeof compensate === "function" ? undo : { ...compensate, undo };
      await ctx.step("mail", () => "sent", { effect: "once", ...options, compensate: how });
      await ctx.signal("never");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(100);
    const next = await lab.afterCrash(engine, [flow], "r");
    return { ...next, lab, undos: () => undos };
  }

  it("has the time limit of its step, and may be run again as soon as that has passed (E15)", async () => {
    const { lab, engine, undos } = await killed({ timeoutMs: 1_000 });
    const doubt = (await eventsOf(lab.store, "r")).find(({ kind }) => kind === "step_in_doubt");
    const rerunAfter = doubt?.kind === "step_in_doubt" ? (doubt.meta.rerunAfter ?? 0) : 0;
    // The claim of 10 s and the limit of 1 s, not the 5 minutes that are assumed where there is none.
    expect(rerunAfter - (doubt?.at ?? 0)).toBe(11_000);
    await lab.clock.advance(11_000);
    await lab.drive(engine.resolve("r", "compensate/mail", { action: "rerun" }));
    await lab.clock.advance(10_000);
    expect([undos(), (await standing(engine))[0]]).toEqual([2, "cancelled"]);
  });

  it("is stopped at its own time limit where it has one (E15)", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      const compensate = { undo: hangs, timeoutMs: 2_000 };
      await ctx.step("mail", () => "sent", { effect: "once", timeoutMs: 60_000, compensate });
      await ctx.signal("never");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(5_000);
    expect(await standing(engine)).toEqual(["waiting", "compensating", ["decision compensate/mail"]]);
  });

  it.each([
    ["done", 1],
    ["not-done", 2],
  ] as const)("asks its verify hook what became of it when it is %s (E15)", async (status, calls) => {
    const asked: unknown[] = [];
    const verify = (value: string): Verdict<unknown> => {
      asked.push(value);
      return status === "done" ? { status, value: undefined } : { status };
    };
    const { lab, engine, undos } = await killed({ compensate: { undo: hangs, verify } });
    await lab.clock.advance(10_000);
    expect([asked, undos(), (await standing(engine))[0]]).toEqual([["sent"], calls, "cancelled"]);
  });
});
