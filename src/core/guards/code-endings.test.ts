import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Workflow, type WorkflowOptions, workflow } from "../../index.ts";
import { parseEntry } from "../journal/journal.ts";
import type { RunRow } from "../types.ts";

type Body = (ctx: Context) => unknown;
const flow = (body: Body, options: WorkflowOptions = {}): Workflow =>
  workflow("flow", options, body) as Workflow;
const gate = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });
const once = { effect: "once" } as const;
const keyed = { effect: "keyed" } as const;
const row = async (lab: Lab): Promise<RunRow> => (await lab.store.read("r")) as RunRow;

async function kinds(lab: Lab): Promise<string[]> {
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  return entries.flatMap((entry) => parseEntry("r", entry).events).map(({ kind }) => kind);
}

/** Lets a run come to rest, or into a call that hangs, and its process die. */
async function died(lab: Lab, code: Workflow, others: readonly Workflow[] = []): Promise<void> {
  const engine = lab.engine([code, ...others]);
  await lab.drive(engine.start(code, undefined, { id: "r" }));
  await lab.clock.advance(5_000);
  await lab.crash(engine);
  await lab.clock.advance(30_000);
}

async function takenUp(lab: Lab, code: Workflow, others: readonly Workflow[] = []): Promise<Engine> {
  const engine = lab.engine([code, ...others]);
  const predicted = await lab.drive(engine.migrations.check("r"));
  await lab.drive(engine.pause("r"));
  await lab.drive(engine.resume("r"));
  await lab.drive(engine.settled("r"));
  const { waiting } = await row(lab);
  const parked = waiting.find(({ kind }) => kind === "migration");
  expect(predicted.runs).toMatchObject([
    parked
      ? { next: "parks", problem: parked.detail }
      : { next: expect.not.stringMatching("parks") as string },
  ]);
  return engine;
}

describe("code that ends without asking what became of something it began", () => {
  const pays: Body = async (ctx) => ctx.step("pay", hangs, once);

  it("does not end the run: people can say what happened", async () => {
    const lab = createLab();
    await died(lab, flow(pays));
    const engine = await takenUp(
      lab,
      flow(() => "done"),
    );
    expect(await row(lab)).toMatchObject({
      status: "waiting",
      waiting: [
        {
          kind: "migration",
          step: "",
          detail:
            "HF-2162 The code ended without asking for pay. These steps were started, and their outcome is unknown.",
        },
        { kind: "decision", step: "pay" },
      ],
    });
    await lab.drive(engine.resolve("r", "pay", { action: "done", value: 1, actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
    await lab.crash(engine);
  });

  it("leaves the run to code that asks", async () => {
    const lab = createLab();
    await died(lab, flow(pays));
    const ends = await takenUp(
      lab,
      flow(() => "done"),
    );
    await lab.crash(ends);
    const asks = lab.engine([
      flow((ctx) => ctx.step("pay", hangs, { ...once, verify: () => ({ status: "done", value: 7 }) })),
    ]);
    await lab.drive(asks.recover());
    await lab.drive(asks.settled("r"));
    // It is in doubt by now: the hook has had its chance, and a person has the word.
    expect(await row(lab)).toMatchObject({ waiting: [{ kind: "decision", step: "pay" }] });
    await lab.drive(asks.resolve("r", "pay", { action: "done", value: 8 }));
    expect(await lab.drive(asks.result("r"))).toBe(8);
    await lab.crash(asks);
  });

  it("does not end it because somebody says: as it is", async () => {
    const lab = createLab();
    await died(lab, flow(pays));
    const engine = await takenUp(
      lab,
      flow(() => "done"),
    );
    await lab.drive(engine.migrations.asIs("r", { actor: "ada" }));
    await lab.drive(engine.settled("r"));
    expect((await row(lab)).waiting.map(({ kind }) => kind).sort()).toEqual(["decision", "migration"]);
    await lab.drive(engine.resolve("r", "pay", { action: "failed", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
    await lab.crash(engine);
  });

  it("waits for a child that nobody asks for, and goes on when it has ended", async () => {
    const lab = createLab();
    const open = signalled();
    const child = workflow("child", async (ctx) => ctx.step("work", () => open.promise)) as Workflow;
    await died(
      lab,
      flow((ctx) => ctx.child("below", child, undefined)),
      [child],
    );
    const engine = await takenUp(
      lab,
      flow(() => "done"),
      [child],
    );
    expect((await row(lab)).waiting.map(({ kind }) => kind)).toEqual(["migration", "child"]);
    open.resolve();
    expect(await lab.drive(engine.result("r"))).toBe("done");
    await lab.crash(engine);
  });

  it("ends it where the outcome is known", async () => {
    const lab = createLab();
    await died(
      lab,
      flow(async (ctx) => (await ctx.step("pay", () => 1, once), await gate(ctx))),
    );
    const engine = await takenUp(
      lab,
      flow(() => "done"),
    );
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "completed" });
    await lab.crash(engine);
  });
});

describe("going on as it is", () => {
  it("does not have an effect again whose outcome nobody has told", async () => {
    const lab = createLab();
    const calls: string[] = [];
    await died(
      lab,
      flow((ctx) => ctx.step("pay", () => (calls.push("pay"), hangs()), once)),
    );
    const renamed = flow(async (ctx) => (await ctx.step("charge", () => calls.push("charge"), once), "done"));
    const engine = await takenUp(lab, renamed);
    await lab.drive(engine.migrations.asIs("r", { actor: "ada" }));
    await lab.drive(engine.settled("r"));
    expect(await row(lab)).toMatchObject({
      waiting: [{ kind: "migration", detail: expect.stringContaining("no longer asks for pay") as string }],
    });
    expect(calls).toEqual(["pay"]);
    await lab.crash(engine);
  });
});

describe("code that throws on what other code has recorded", () => {
  const undone: string[] = [];
  const pays = (ctx: Context) =>
    ctx.step("pay", () => 1, { ...keyed, compensate: () => void undone.push("pay") });
  const before: Body = async (ctx) => (await pays(ctx), await gate(ctx), "done");
  const breaks: Body = async (ctx) => {
    await pays(ctx);
    throw new TypeError("no such field: total");
  };
  const undoing: WorkflowOptions = { compensateOnFailure: true };

  it("does not fail the run, and undoes nothing", async () => {
    const lab = createLab();
    await died(lab, flow(before, undoing));
    const engine = await takenUp(lab, flow(breaks, undoing));
    expect(await row(lab)).toMatchObject({
      status: "waiting",
      waiting: [
        {
          kind: "migration",
          detail:
            "HF-2163 The code of flow 1 fails on what the run has recorded: no such field: total The run had got " +
            "further with other code, and this code threw before it did anything new.",
        },
      ],
    });
    expect(undone).toEqual([]);
    await lab.crash(engine);
    // The code is mended.
    const mended = lab.engine([flow(before, undoing)]);
    await lab.drive(mended.recover());
    await lab.drive(mended.settled("r"));
    await lab.drive(mended.answer("r", "ok", { choice: "yes" }));
    expect(await lab.drive(mended.result("r"))).toBe("done");
    expect(await kinds(lab)).not.toContain("run_failed");
    await lab.crash(mended);
  });

  it("fails it when somebody says: as it is", async () => {
    const lab = createLab();
    await died(lab, flow(before));
    const engine = await takenUp(lab, flow(breaks));
    await lab.drive(engine.migrations.asIs("r", { actor: "ada" }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "failed" });
    await lab.crash(engine);
  });

  it("does not fail it after a migration either, wherever the run was", async () => {
    const lab = createLab();
    await died(
      lab,
      flow(async (ctx) => (await ctx.step("a", () => 1), await ctx.step("b", hangs))),
    );
    const second = flow(
      async (ctx) => {
        await ctx.step("a", () => 1);
        await ctx.step("b", () => 1);
        return (undefined as unknown as { x: number }).x;
      },
      { version: "2", migrations: [{ from: "1", to: "2" }] },
    );
    const third = flow(async (ctx) => (await ctx.step("a", () => 1), JSON.parse("{")), {
      version: "2",
      migrations: [{ from: "1", to: "2" }],
    });
    const engine = await takenUp(lab, third);
    expect(await row(lab)).toMatchObject({ version: "2", waiting: [{ kind: "migration" }] });
    await lab.crash(engine);
    // What fails after something new was done is the run's own failure.
    const next = lab.engine([second]);
    await lab.drive(next.recover());
    expect(await lab.drive(next.settled("r"))).toMatchObject({ status: "failed" });
    await lab.crash(next);
  });

  it("is none of its business when the failure is recorded, or when the run had come no further", async () => {
    for (const [body, error] of [
      [async (ctx: Context) => ctx.step("a", () => Promise.reject(new Error("no")), { retry: false }), "no"],
      [async (ctx: Context) => (await ctx.step("a", () => 1), Promise.reject(new Error("own"))), "own"],
    ] as const) {
      const lab = createLab();
      const code = flow(body);
      const engine = lab.engine([code]);
      await lab.drive(engine.start(code, undefined, { id: "r" }));
      await lab.drive(engine.settled("r"));
      await lab.drive(engine.resume("r"));
      const { engine: next, run } = await lab.afterCrash(engine, [code], "r");
      expect(run).toMatchObject({ status: "failed", error });
      await lab.crash(next);
    }
  });
});

describe("a step whose effect is another in the new code, and whose outcome is not known", () => {
  it.each([
    ["repeatable", "once", "decision"],
    ["repeatable", "keyed", "called"],
    ["keyed", "once", "decision"],
    ["keyed", "repeatable", "called"],
    ["once", "keyed", "decision"],
    ["once", "repeatable", "decision"],
  ] as const)("is treated as the more careful of the two: %s, now %s", async (was, is, expected) => {
    const lab = createLab();
    const keys: string[] = [];
    const pays = (effect: "repeatable" | "keyed" | "once", work: () => unknown) =>
      flow((ctx) => ctx.step("pay", ({ key }) => (keys.push(key), work()), { effect }));
    await died(lab, pays(was, hangs));
    const engine = await takenUp(
      lab,
      pays(is, () => "paid"),
    );
    const { status, waiting } = await row(lab);
    if (expected === "called") expect(status).toBe("completed");
    else expect(waiting).toMatchObject([{ kind: "decision", step: "pay" }]);
    expect(keys).toHaveLength(expected === "called" ? 2 : 1);
    expect(new Set(keys).size).toBe(1);
    await lab.crash(engine);
  });

  it("is not tried again after a failure when it may be done only once by now", async () => {
    const lab = createLab();
    let calls = 0;
    const retry = { attempts: 5, baseMs: 60_000, maxMs: 60_000 };
    const fails = () => (calls++, Promise.reject(new Error("busy")));
    await died(
      lab,
      flow((ctx) => ctx.step("pay", fails, { retry })),
    );
    expect(calls).toBe(1);
    const engine = lab.engine([flow((ctx) => ctx.step("pay", fails, { ...once, retry }))]);
    await lab.drive(engine.recover());
    await lab.clock.advance(600_000);
    expect(await row(lab)).toMatchObject({ waiting: [{ kind: "decision", step: "pay" }] });
    expect(calls).toBe(1);
    await lab.crash(engine);
  });
});
