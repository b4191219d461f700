import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Budget, type Engine, workflow } from "../../index.ts";
import type { JournalEvent } from "../journal/events.ts";
import { parseEntry } from "../journal/journal.ts";
import { checkRaise } from "./budget.ts";
import { Families } from "./families.ts";

async function journal(lab: Lab, runId: string): Promise<JournalEvent[]> {
  const entries = await lab.store.entries(runId, { from: 1, limit: 10_000 });
  return entries.flatMap((entry) => [...parseEntry(runId, entry).events]);
}

const counted = (events: readonly JournalEvent[], kind: JournalEvent["kind"]) =>
  events.filter((event) => event.kind === kind).length;

/** Steps that use 500 tokens and 10 cents each. */
const spending = (steps: number, options: { budget?: Budget } = {}) => {
  const calls: number[] = [];
  const flow = workflow("spending", options, async (ctx) => {
    for (let n = 1; n <= steps; n++)
      await ctx.step("ask", () => {
        calls.push(n);
        ctx.usage({ tokens: 500, costUsd: 0.1 });
      });
    return calls.length;
  });
  return { flow, calls };
};

async function started(lab: Lab, engine: Engine, flow: ReturnType<typeof spending>["flow"], budget: Budget) {
  await lab.drive(engine.start(flow, undefined, { id: "r", budget }));
  return lab.drive(engine.settled("r"));
}

describe("a budget", () => {
  it("is refused when a limit makes no sense, and nothing is started", async () => {
    const lab = createLab();
    const { flow } = spending(1);
    const engine = lab.engine([flow]);
    const wrong: unknown[] = [{ tokens: 0 }, { turns: -1 }, { wallMs: Number.NaN }, { cost: 1 }, 5, null, []];
    for (const budget of wrong) {
      const options = { id: "r", budget: budget as Budget };
      expect(await lab.drive(code(engine.start(flow, undefined, options)))).toBe("HF-1003");
      expect(() => workflow("w", { budget: budget as Budget }, () => 1)).toThrow("budget");
    }
    expect(await engine.get("r")).toBeNull();
  });

  it("is that of the workflow, and limits given at the start come before it one by one", async () => {
    const lab = createLab();
    const { flow } = spending(1, { budget: { tokens: 100, turns: 5 } });
    const engine = lab.engine([flow]);
    const run = await lab.drive(engine.start(flow, undefined, { budget: { tokens: 9_000 } }));
    expect((await run.row())?.budget).toEqual({ tokens: 9_000, turns: 5 });
  });

  it("holds the next step back when it is used up, and goes on when it is raised", async () => {
    const lab = createLab();
    const { flow, calls } = spending(4);
    const engine = lab.engine([flow]);
    const run = await started(lab, engine, flow, { tokens: 1_000, costUsd: 5 });
    expect(calls).toEqual([1, 2]);
    const reason = { code: "HF-2119", limits: ["tokens"] };
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "ask#3", ...reason }]);
    expect(run.waiting[0]?.detail).toBe("HF-2119 Run r has reached its budget: tokens 1,000 of 1,000.");
    for (const budget of [undefined, { tokens: 1_000 }, { costUsd: 50 }]) {
      const raise = budget ? { budget } : {};
      expect(await lab.drive(code(engine.resume("r", raise)))).toBe("HF-1025");
    }
    expect(await lab.drive(code(engine.resume("r", { budget: { tokens: -5 } })))).toBe("HF-1003");
    expect((await engine.get("r"))?.seq).toBe(run.seq);
    await lab.drive(engine.resume("r", { budget: { tokens: 2_000 }, actor: "ada", reason: "worth it" }));
    expect(await lab.drive(engine.result("r"))).toBe(4);
    expect((await engine.get("r"))?.budget).toEqual({ tokens: 2_000, costUsd: 5 });
    const events = await journal(lab, "r");
    const [set, resumed] = events.filter(({ actor }) => actor === "ada");
    expect([set?.kind, resumed?.kind]).toEqual(["budget_set", "run_resumed"]);
    expect((set?.seq ?? 0) + 1).toBe(resumed?.seq);
  });

  it("sums prices without being misled by fractions", async () => {
    const lab = createLab();
    const { flow, calls } = spending(12);
    const engine = lab.engine([flow]);
    const run = await started(lab, engine, flow, { costUsd: 1 });
    expect(calls).toHaveLength(10);
    expect(run.waiting[0]?.detail).toContain("costUsd 1 of 1.");
  });

  it("names every limit that is reached", async () => {
    const lab = createLab();
    const { flow } = spending(9);
    const engine = lab.engine([flow]);
    const run = await started(lab, engine, flow, { tokens: 900, costUsd: 0.15 });
    expect(run.waiting[0]?.detail).toContain("tokens 1,000 of 900, costUsd 0.2 of 0.15.");
    expect(await lab.drive(code(engine.resume("r", { budget: { tokens: 5_000 } })))).toBe("HF-1025");
    await lab.drive(engine.resume("r", { budget: { tokens: 5_000, costUsd: 5 } }));
    expect(await lab.drive(engine.result("r"))).toBe(9);
  });

  it("counts what was used before a crash, and before a resume", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      for (const name of ["a", "b", "c", "d"])
        await ctx.step(name, ({ attempt }) => {
          calls.push(name);
          ctx.usage({ tokens: 400 });
          return name === "b" && attempt === 1 ? hangs() : undefined;
        });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 1_000 } }));
    await lab.clock.advance(10);
    const { run, engine: next } = await lab.afterCrash(engine, [flow], "r");
    // What the lost attempt used was never reported.
    expect(run.usage.tokens).toBe(1_200);
    expect(calls).toEqual(["a", "b", "b", "c"]);
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "d" }]);
    const again = await lab.afterCrash(next, [flow], "r");
    expect(again.run.waiting).toMatchObject([{ kind: "budget", step: "d" }]);
    expect(await lab.drive(code(again.engine.resume("r")))).toBe("HF-1025");
  });

  it("counts usage that failed attempts report, and usage outside of steps", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      const attempt = ctx.step("fails", () => {
        calls.push("fails");
        ctx.usage({ tokens: 60 });
        throw new Error("no");
      });
      await attempt.catch(() => undefined);
      ctx.usage({ tokens: 10 });
      await ctx.step("next", () => calls.push("next"));
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 120 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(calls).toEqual(["fails", "fails"]);
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "fails" }]);
    await lab.drive(engine.resume("r", { budget: { tokens: 190 } }));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "budget", step: "next" }]);
    expect(calls).toEqual(["fails", "fails", "fails"]);
  });

  it("counts what a branch has reported before its own next step", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.all("both", {
        one: async () => {
          ctx.usage({ tokens: 100 });
          return ctx.step("inner", () => calls.push("inner"));
        },
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 100 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "both[one]/inner" }]);
    expect(calls).toEqual([]);
  });

  it("lets branches under way finish, starts no other, and parks once", async () => {
    const lab = createLab();
    const open = [signalled(), signalled(), signalled()];
    const begun: number[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.each(
        "item",
        [0, 1, 2, 3, 4, 5],
        async (n) => {
          begun.push(n);
          ctx.usage({ tokens: 100 });
          await open[n]?.promise;
          return n;
        },
        { concurrency: 3 },
      ),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 100 } }));
    open[0]?.resolve();
    await lab.clock.advance(60_000);
    expect((await engine.get("r"))?.status).toBe("running");
    open[1]?.resolve();
    open[2]?.resolve();
    const run = await lab.drive(engine.settled("r"));
    expect(begun).toEqual([0, 1, 2]);
    expect(run.stepsDone).toBe(3);
    expect(run.waiting.map(({ kind }) => kind)).toEqual(["budget", "budget", "budget"]);
    expect(counted(await journal(lab, "r"), "run_waiting")).toBe(1);
    await lab.drive(engine.resume("r", { budget: { tokens: 10_000 } }));
    expect(await lab.drive(engine.result("r"))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("may be raised before it is reached, also where there was none", async () => {
    const lab = createLab();
    const first = signalled();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => (ctx.usage({ tokens: 10 }), first.promise));
      await ctx.step("b", () => 1);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(10);
    const seq = (await lab.drive(engine.resume("r", { budget: { tokens: 10 } }))).seq;
    expect((await lab.drive(engine.resume("r", { budget: { tokens: 10 } }))).seq).toBe(seq);
    first.resolve();
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "b" }]);
  });

  it("may be raised while one branch waits for it and others are under way", async () => {
    const lab = createLab();
    const other = signalled();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await Promise.all([
        (async () => {
          await ctx.step("a", () => ctx.usage({ tokens: 10 }));
          await ctx.step("b", () => calls.push("b"));
        })(),
        ctx.step("other", () => other.promise),
      ]);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 10 } }));
    await lab.clock.advance(1_000);
    expect([(await engine.get("r"))?.status, calls]).toEqual(["running", []]);
    await lab.drive(engine.resume("r", { budget: { tokens: 20 } }));
    await lab.clock.advance(1_000);
    expect(calls).toEqual(["b"]);
    other.resolve();
    await lab.drive(engine.result("r"));
    expect(counted(await journal(lab, "r"), "run_waiting")).toBe(0);
  });

  it("may come with the resume of a paused run", async () => {
    const lab = createLab();
    const { flow, calls } = spending(4);
    const engine = lab.engine([flow]);
    await started(lab, engine, flow, { tokens: 1_000 });
    expect((await lab.drive(engine.pause("r"))).status).toBe("paused");
    await lab.drive(engine.resume("r", { budget: { tokens: 1_500 } }));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "budget", step: "ask#4" }]);
    expect(calls).toEqual([1, 2, 3]);
  });

  it("does not keep a run that waits for it from being cancelled, and does not limit the undoing", async () => {
    const lab = createLab();
    const undone: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("seat", () => (ctx.usage({ tokens: 10 }), "seat"), {
        effect: "keyed",
        compensate: (seat) => undone.push(seat),
      });
      await ctx.step("pay", () => "paid");
    });
    const engine = lab.engine([flow]);
    for (const compensate of [false, true]) {
      const { id } = await lab.drive(engine.start(flow, undefined, { budget: { tokens: 10 } }));
      expect((await lab.drive(engine.settled(id))).waiting).toMatchObject([{ kind: "budget", step: "pay" }]);
      await lab.drive(engine.cancel(id, { compensate }));
      expect((await lab.drive(engine.settled(id))).status).toBe("cancelled");
    }
    expect(undone).toEqual(["seat"]);
  });
});

describe("turns", () => {
  const looping = (turns: number) => {
    const begun: number[] = [];
    const flow = workflow("looping", (ctx) =>
      ctx.loop("agent", { sum: 0 }, async (state, turn) => {
        begun.push(turn.index);
        state.sum += await ctx.step("act", () => 1);
        return turn.index === turns - 1 ? turn.done() : undefined;
      }),
    );
    return { flow, begun };
  };

  it("hold back a run that an earlier version stopped, which told the limit in a sentence only", async () => {
    const lab = createLab();
    const { flow } = looping(9);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 3 } }));
    await lab.drive(engine.settled("r"));
    const row = await lab.store.read("r");
    if (!row) throw new Error("gone");
    const stopped = (detail: string) => ({
      ...row,
      waiting: [{ kind: "budget", step: "turn", since: 1, detail } as const],
    });
    const families = Families.of(lab.store);
    const atTurns = stopped("HF-2119 Run r has reached its budget: turns 3 of 3.");
    expect(await code(checkRaise(families, atTurns, undefined))).toBe("HF-1025");
    expect(await code(checkRaise(families, atTurns, { turns: 4 }))).toBe("taken");
    const atTokens = stopped("HF-2119 Run r has reached its budget: tokens 10 of 10.");
    expect(await code(checkRaise(families, atTokens, undefined))).toBe("taken");
  });

  it("are held back when they are used up; a raise goes on with the same state", async () => {
    const lab = createLab();
    const { flow, begun } = looping(5);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 3 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "agent" }]);
    expect(run.waiting[0]?.detail).toContain("turns 3 of 3.");
    expect(begun).toEqual([0, 1, 2]);
    expect(await lab.drive(code(engine.resume("r", { budget: { tokens: 5 } })))).toBe("HF-1025");
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    await lab.drive(next.resume("r", { budget: { turns: 9 } }));
    expect(await lab.drive(next.result("r"))).toEqual({ sum: 5 });
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it("that had begun before a crash are finished", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.loop("agent", { sum: 0 }, async (state, turn) => {
        state.sum += await ctx.step("act", () => 1);
        state.sum += await ctx.step("more", ({ attempt }) =>
          turn.index === 1 && attempt === 1 ? hangs() : 1,
        );
        return turn.index === 4 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 2 } }));
    await lab.clock.advance(10);
    const { run } = await lab.afterCrash(engine, [flow], "r");
    expect(run.turns).toBe(2);
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "agent" }]);
  });

  it("that had begun are finished although the rest is used up, when they call nothing more", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.loop("agent", { answers: 0 }, async (state, turn) => {
        await ctx.step("act", () => ctx.usage({ tokens: 10 }));
        await ctx.gate("ok", { choices: ["yes"] });
        state.answers++;
        return turn.done();
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { tokens: 10, turns: 1 } }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "agent[0]/ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("r"))).toEqual({ answers: 1 });
  });

  it("of loops side by side and inside each other are never more than the limit", async () => {
    const lab = createLab();
    let begun = 0;
    const flow = workflow("flow", async (ctx) => {
      const inner = () =>
        ctx.loop("inner", { n: 0 }, async (state) => {
          begun++;
          state.n += await ctx.step("act", () => 1);
        });
      await ctx.all("side", [
        () => inner(),
        () =>
          ctx.loop("outer", { n: 0 }, async () => {
            begun++;
            await inner();
          }),
      ]);
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 7 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(begun).toBe(7);
    expect(run.turns).toBe(6);
    expect(run.waiting.map(({ kind }) => kind)).toEqual(["budget", "budget"]);
    expect(await lab.drive(code(engine.resume("r", { budget: { turns: 7 } })))).toBe("taken");
  });

  it("that fail and are done again do not count twice", async () => {
    const lab = createLab();
    let failures = 0;
    const flow = workflow("flow", async (ctx) => {
      const run = () =>
        ctx.loop("agent", { n: 0 }, async (state, turn) => {
          state.n += await ctx.step("act", () => 1);
          if (turn.index === 1 && failures++ === 0) throw new Error("once");
          return turn.index === 2 ? turn.done() : undefined;
        });
      return ctx.all("retried", [run], { retry: { attempts: 2, baseMs: 1 } });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 3 } }));
    expect(await lab.drive(engine.result("r"))).toEqual([{ n: 3 }]);
  });

  it("used up by a loop that has ended hold back no step after it", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.loop("agent", { n: 0 }, async (_, turn) => {
        await ctx.step("act", () => ctx.usage({ tokens: 5 }));
        return turn.index === 1 ? turn.done() : undefined;
      });
      await ctx.step("after", () => ctx.usage({ tokens: 5 }));
      return ctx.step("last", () => "end");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 2, tokens: 15 } }));
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "last" }]);
    expect(run.waiting[0]?.detail).not.toContain("turns");
    await lab.drive(engine.resume("r", { budget: { tokens: 50 } }));
    expect(await lab.drive(engine.result("r"))).toBe("end");
  });
});

describe("a fork", () => {
  it("is charged for what it uses itself", async () => {
    const lab = createLab();
    const { flow, calls } = spending(5);
    const engine = lab.engine([flow]);
    const run = await started(lab, engine, flow, { tokens: 1_000 });
    const fork = await lab.drive(engine.fork(`r@${run.seq}`, { id: "f" }));
    expect(fork).toMatchObject({ budget: { tokens: 0 }, usage: { tokens: 0 } });
    expect((await lab.drive(engine.settled("f"))).waiting).toMatchObject([{ kind: "budget", step: "ask#3" }]);
    await lab.drive(engine.resume("f", { budget: { tokens: 1_000 } }));
    const parked = await lab.drive(engine.settled("f"));
    expect(parked.usage.tokens).toBe(1_000);
    expect(parked.waiting).toMatchObject([{ kind: "budget", step: "ask#5" }]);
    expect(calls).toEqual([1, 2, 3, 4]);
    const second = await lab.drive(engine.fork(`f@${parked.seq}`, { id: "g", budget: { tokens: 9_000 } }));
    expect(second.budget).toEqual({ tokens: 9_000 });
    await lab.drive(engine.result("g"));
    expect((await engine.get("g"))?.usage.tokens).toBe(500);
  });
});

describe("time", () => {
  it("counts while a worker is at it, and neither while the run is paused nor while it waits", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const flow = workflow("flow", async (ctx) => {
      const work = (name: string) =>
        ctx.step(name, async () => {
          calls.push(name);
          await new Promise<void>((resolve) => lab.clock.setTimer(resolve, 400));
        });
      await work("a");
      await ctx.gate("ok", { choices: ["yes"] });
      await work("b");
      await work("c");
      await work("d");
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { wallMs: 1_300 } }));
    await lab.drive(engine.settled("r"));
    await lab.clock.advance(3_600_000);
    await lab.drive(engine.pause("r"));
    await lab.clock.advance(3_600_000);
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    const run = await lab.drive(engine.settled("r"));
    expect(calls).toEqual(["a", "b", "c"]);
    expect(run.waiting).toMatchObject([{ kind: "budget", step: "d" }]);
    expect(run.waiting[0]?.detail).toMatch(/wallMs 1,[3-6]\d\d of 1,300\./);
    const { run: again } = await lab.afterCrash(engine, [flow], "r");
    expect(again.activeMs).toBeLessThan(2_000);
  });
});

describe("the config", () => {
  it("is given back after every resume, in parts or whole as it was given", async () => {
    const lab = createLab();
    const seen: unknown[] = [];
    const flow = workflow("flow", async (ctx) => {
      seen.push(ctx.config);
      await ctx.gate("ok", { choices: ["yes"] });
      return ctx.config;
    });
    const config = { model: "m", long: "x".repeat(20_000), params: { temperature: 0.5 } };
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", config }));
    await lab.drive(engine.settled("r"));
    const { engine: next } = await lab.afterCrash(engine, [flow], "r");
    await lab.drive(next.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(next.result("r"))).toEqual(config);
    expect(seen).toEqual([config, config]);
    const plain = await lab.drive(next.start(flow, undefined));
    await lab.drive(next.settled(plain.id));
    expect(seen[2]).toEqual({});
  });

  it("is refused when it is not an object", async () => {
    const lab = createLab();
    const flow = workflow("flow", () => 1);
    const engine = lab.engine([flow]);
    for (const config of [5, null, "x", []] as unknown[])
      expect(
        await lab.drive(code(engine.start(flow, undefined, { config: config as Record<string, unknown> }))),
      ).toBe("HF-1003");
  });
});
