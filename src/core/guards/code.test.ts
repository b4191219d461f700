import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import {
  type Context,
  type Engine,
  type Run,
  type Workflow,
  type WorkflowOptions,
  workflow,
} from "../../index.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";
import type { Store } from "../store/contract.ts";

type Body = (ctx: Context) => unknown;

const flow = (body: Body, options: WorkflowOptions = {}): Workflow =>
  workflow("flow", options, body) as Workflow;
const gate = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });

/** Runs `before` up to its gate, changes the code to `after`, and answers the gate. */
async function changed(
  lab: Lab,
  before: Body,
  after: Workflow,
  others: readonly Workflow<never, unknown>[] = [],
): Promise<{ engine: Engine; run: Run }> {
  const first = lab.engine([flow(before), ...others]);
  await lab.drive(first.start(flow(before), undefined, { id: "r" }));
  await lab.drive(first.settled("r"));
  await lab.drive(first.close());
  const engine = lab.engine([after, ...others]);
  await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
  return { engine, run: await lab.drive(engine.settled("r")) };
}

const held = (step: string, missing: string) => ({
  status: "waiting",
  wakeAt: null,
  waiting: [
    {
      kind: "migration",
      step,
      detail: expect.stringContaining(
        `HF-2121 ${step} wasn't started: the code no longer asks for ${missing}.`,
      ) as string,
    },
  ],
});

const keyed = { effect: "keyed" } as const;

describe("code that has changed under a run of the same version", () => {
  it("does not have an effect again that has another name now", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const { run } = await changed(
      lab,
      async (ctx) => (await ctx.step("pay", () => calls.push("pay"), keyed), await gate(ctx)),
      flow(async (ctx) => (await ctx.step("charge", () => calls.push("charge"), keyed), await gate(ctx))),
    );
    expect(run).toMatchObject(held("charge", "pay"));
    expect(calls).toEqual(["pay"]);
  });

  it.each<[string, Body, Body, string, string]>([
    [
      "once",
      async (ctx) => (await ctx.step("a", () => 1, { effect: "once" }), await gate(ctx)),
      async (ctx) => (await gate(ctx), await ctx.step("b", () => expect.unreachable(), { effect: "once" })),
      "b",
      "a",
    ],
    [
      "in another order",
      async (ctx) => (
        await ctx.step("a", () => 1, keyed), await gate(ctx), await ctx.step("b", () => 1, keyed)
      ),
      async (ctx) => (
        await gate(ctx),
        await ctx.step("b", () => expect.unreachable(), keyed),
        await ctx.step("a", () => 1, keyed)
      ),
      "b",
      "a",
    ],
    [
      "inside a step of another name",
      async (ctx) => (await ctx.step("x", () => ctx.step("a", () => 1, keyed)), await gate(ctx)),
      async (ctx) => (
        await ctx.step("y", () => ctx.step("a", () => expect.unreachable(), keyed)), await gate(ctx)
      ),
      "y/a",
      "x",
    ],
    [
      "moved out of a step",
      async (ctx) => await ctx.step("x", async () => (await ctx.step("a", () => 1, keyed), await gate(ctx))),
      async (ctx) => (await ctx.step("x", () => 2), await ctx.step("a", () => expect.unreachable(), keyed)),
      "a",
      "x/a",
    ],
    [
      "moved into a step",
      async (ctx) => (await ctx.step("a", () => 1, keyed), await gate(ctx)),
      async (ctx) => (
        await gate(ctx), await ctx.step("x", () => ctx.step("a", () => expect.unreachable(), keyed))
      ),
      "x/a",
      "a",
    ],
    [
      "in a loop of another name",
      async (ctx) =>
        ctx.loop("turn", {}, async (_, { index }) => {
          if (index === 2) await gate(ctx);
          await ctx.step("a", () => 1, keyed);
        }),
      async (ctx) =>
        ctx.loop("round", {}, async () => void (await ctx.step("a", () => expect.unreachable(), keyed))),
      "round[0]/a",
      "turn",
    ],
    [
      "in an iteration that has begun",
      async (ctx) =>
        ctx.loop("turn", {}, async () => (await ctx.step("a", () => 1, keyed), void (await gate(ctx)))),
      async (ctx) =>
        ctx.loop("turn", {}, async () => void (await ctx.step("b", () => expect.unreachable(), keyed))),
      "turn[0]/b",
      "turn[0]/a",
    ],
    [
      "in a group of another name",
      async (ctx) => (await ctx.each("mail", [1, 2], () => 1, keyed), await gate(ctx)),
      async (ctx) => (
        await ctx.each("send", [1, 2], () => expect.unreachable(), { ...keyed, concurrency: 1 }),
        await gate(ctx)
      ),
      "send[0]",
      "mail[0], mail[1]",
    ],
    [
      "whose outcome is not known",
      async (ctx) =>
        ctx.all("x", {
          a: () => ctx.step("a", () => hangs(), keyed),
          b: () => gate(ctx),
        }),
      async (ctx) => ctx.step("b", () => expect.unreachable(), keyed),
      "b",
      "x[a]/a",
    ],
  ])("does not have an effect again: %s", async (_, before, after, step, missing) => {
    const lab = createLab();
    const first = lab.engine([flow(before)]);
    await lab.drive(first.start(flow(before), undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const name = (await lab.drive(first.gates("r")))[0]?.gate ?? "";
    await lab.crash(first);
    await lab.clock.advance(20_000);
    const engine = lab.engine([flow(after)]);
    await lab.drive(engine.answer("r", name, { choice: "yes" }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject(held(step, missing));
  });

  it("does not start a child again that has another name now", async () => {
    const lab = createLab();
    const child = workflow("child", (ctx) => ctx.step("pay", () => 1, keyed));
    const { run, engine } = await changed(
      lab,
      async (ctx) => (await ctx.child("ship", child, undefined), await gate(ctx)),
      flow(async (ctx) => (await gate(ctx), await ctx.child("send", child, undefined))),
      [child],
    );
    expect(run).toMatchObject(held("send", "ship"));
    expect((await engine.list({ workflow: "child", limit: 10 })).runs).toHaveLength(1);
  });

  it("does not write again what a transaction of another name wrote", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "holdfast-code-"));
    const store = await openSqliteStore({ file: path.join(folder, "runs.db"), clock: createLab().clock });
    const lab = createLab(store);
    const insert =
      (name: string): Body =>
      async (ctx) => {
        await ctx.transaction(
          name,
          (sql) => (sql.run("CREATE TABLE IF NOT EXISTS t (x)"), sql.run("INSERT INTO t VALUES (1)"), 1),
        );
        await gate(ctx);
        return ctx.transaction("count", (sql) => sql.all("SELECT x FROM t").length);
      };
    const { run, engine } = await changed(lab, insert("write"), flow(insert("save")));
    expect(run).toMatchObject(held("save", "write"));
    await lab.drive(engine.migrations.asIs("r"));
    expect(await lab.drive(engine.result("r"))).toBe(2);
    await store.close();
    await rm(folder, { recursive: true });
  });
});

describe("code that asks for everything it did", () => {
  it("goes on at once, wherever it is new", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const before: Body = async (ctx) => {
      await ctx.step("a", () => calls.push("a"), keyed);
      await ctx.loop("turn", { n: 0 }, async (_, { index, done }) => {
        await ctx.step("pay", () => calls.push(`pay ${index}`), keyed);
        return index === 3 ? done() : undefined;
      });
      await ctx.step("plan", () => ctx.step("inner", () => calls.push("inner"), { effect: "once" }));
      await gate(ctx);
    };
    const { engine, run } = await changed(
      lab,
      before,
      flow(async (ctx) => (await before(ctx), await ctx.step("b", () => calls.push("b"), keyed), "done")),
    );
    expect(run.status).toBe("completed");
    expect(calls).toEqual(["a", "pay 0", "pay 1", "pay 2", "pay 3", "inner", "b"]);
    const events = (await lab.store.list({ limit: 1 })).runs;
    expect(events).toHaveLength(1);
    await lab.crash(engine);
  });

  it("is not stopped by a step that takes another time to be read than its neighbour", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const long = "x".repeat(50_000);
    const branch = (ctx: Context, name: string, steps: number) => async () => {
      for (let i = 0; i < steps; i++)
        await ctx.step(`${name}${i}`, () => (calls.push(`${name}${i}`), long), keyed);
      await ctx.step(`${name} last`, ({ attempt }) => (calls.push(name), attempt === 1 ? hangs() : 1), keyed);
      await ctx.step(`${name} new`, () => calls.push(`${name} new`), keyed);
    };
    const body: Body = (ctx) =>
      Promise.all([branch(ctx, "a", 1)(), branch(ctx, "b", 40)(), branch(ctx, "c", 20)()]);
    const engine = lab.engine([flow(body)]);
    await lab.drive(engine.start(flow(body), undefined, { id: "r" }));
    await lab.clock.advance(5_000);
    expect(calls).toHaveLength(64);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow(body)]);
    const from = lab.clock.now();
    await lab.drive(next.recover());
    await lab.clock.settle();
    expect(calls.slice(64).sort()).toEqual(["a", "a new", "b", "b new", "c", "c new"]);
    expect(lab.clock.now() - from).toBeLessThan(100);
    expect((await lab.drive(next.settled("r"))).status).toBe("completed");
  });

  it("holds new effects back only until a slower neighbour has asked for its own", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const body: Body = (ctx) =>
      Promise.all([
        gate(ctx).then(() => ctx.step("new", () => calls.push("new"), keyed)),
        (async () => {
          for (let i = 0; i < 10; i++) await ctx.step(`b${i}`, () => `${i}`.repeat(50_000), keyed);
          calls.push("replayed");
          await ctx.sleep("rest", 500);
          await ctx.step("b10", () => calls.push("b10"), keyed);
        })(),
      ]);
    const slow: Store = {
      ...lab.store,
      blobs: async (runId, hashes) => {
        await new Promise<void>((resolve) => void lab.clock.setTimer(resolve, 150));
        return lab.store.blobs(runId, hashes);
      },
    };
    const first = lab.engine([flow(body)]);
    await lab.drive(first.start(flow(body), undefined, { id: "r" }));
    await lab.clock.advance(300);
    await lab.crash(first);
    calls.length = 0;
    await lab.clock.advance(20_000);
    const engine = lab.engine([flow(body)], { store: slow });
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("completed");
    expect(calls).toEqual(["new", "replayed", "b10"]);
  });

  it("may go through fewer members of a group at a time than before", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const body =
      (concurrency: number): Body =>
      (ctx) =>
        ctx.each(
          "bill",
          [0, 1, 2, 3, 4, 5],
          async (item) => {
            await ctx.step("reserve", () => calls.push(`reserve ${item}`), keyed);
            await ctx.step("think", ({ attempt }) => (attempt === 1 && concurrency > 1 ? hangs() : 1));
            await ctx.step("pay", () => calls.push(`pay ${item}`), keyed);
          },
          { concurrency },
        );
    const engine = lab.engine([flow(body(4))]);
    await lab.drive(engine.start(flow(body(4)), undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const { run } = await lab.afterCrash(engine, [flow(body(1))], "r");
    expect(run.status).toBe("completed");
    expect([...calls].sort()).toEqual([0, 1, 2, 3, 4, 5].flatMap((i) => [`pay ${i}`, `reserve ${i}`]).sort());
  });

  it("may come to another end of a group that some members decide", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const body: Body = async (ctx) => {
      await ctx.all(
        "bid",
        [0, 1, 2, 3].map((item) => () => {
          calls.push(`bid ${item}`);
          return item === 0 ? new Promise((resolve) => lab.clock.setTimer(() => resolve(0), 50)) : item;
        }),
        { ...keyed, failure: "quorum", quorum: 2, concurrency: 2 },
      );
      await gate(ctx);
      await ctx.step("award", () => calls.push("award"), keyed);
    };
    const { run } = await changed(lab, body, flow(body));
    expect(run.status).toBe("completed");
    expect(calls).toEqual(["bid 0", "bid 1", "bid 2", "award"]);
  });

  it.each([
    ["may leave out what failed and surely did nothing", { status: 400 }, "completed"],
    ["may not leave out what failed and may have been done all the same", { fatal: true }, "waiting"],
  ])("%s", async (_, answer, status) => {
    const lab = createLab();
    const { run } = await changed(
      lab,
      async (ctx) => {
        const fails = () => Promise.reject(Object.assign(new Error("no"), answer));
        await ctx.step("notify", fails, { ...keyed, retry: false }).catch(() => 0);
        await gate(ctx);
      },
      flow(async (ctx) => (await gate(ctx), await ctx.step("tell", () => 1, keyed))),
    );
    expect(run.status).toBe(status);
  });

  it("may leave out and add what has no effects", async () => {
    const lab = createLab();
    const { run } = await changed(
      lab,
      async (ctx) => (
        await ctx.step("read", () => 1), await ctx.step("pay", () => 1, keyed), await gate(ctx)
      ),
      flow(
        async (ctx) => (
          await ctx.step("load", () => 2), await ctx.step("pay", () => 1, keyed), await gate(ctx)
        ),
      ),
    );
    expect(run.status).toBe("completed");
  });
});

describe("a run that is held back", () => {
  const before: Body = async (ctx) => (await ctx.step("pay", () => 1, keyed), await gate(ctx));
  const after: Body = async (ctx) => (await gate(ctx), await ctx.step("charge", () => "charged", keyed));

  it("goes on as it is when somebody says so, and is not held back for the same again", async () => {
    const lab = createLab();
    const more: Body = async (ctx) => (
      await after(ctx), await gate(ctx, "more"), await ctx.step("mail", () => "sent", keyed)
    );
    const { engine } = await changed(lab, before, flow(more));
    const run = await lab.drive(engine.migrations.asIs("r", { actor: "ada", reason: "pay was only a test" }));
    expect(run).toMatchObject({ status: "queued", version: "1" });
    await lab.drive(engine.settled("r"));
    const { engine: next } = await lab.afterCrash(engine, [flow(more)], "r");
    await lab.drive(next.answer("r", "more", { choice: "yes" }));
    expect(await lab.drive(next.result("r"))).toBe("sent");
  });

  it("goes on when somebody says so before it has been let go", async () => {
    const lab = createLab();
    const body: Body = (ctx) =>
      Promise.all([
        ctx.step("long", () => new Promise((resolve) => lab.clock.setTimer(() => resolve(1), 9_000))),
        after(ctx),
      ]);
    const first = lab.engine([flow(before)]);
    await lab.drive(first.start(flow(before), undefined, { id: "r" }));
    await lab.drive(first.settled("r"));
    await lab.drive(first.close());
    const engine = lab.engine([flow(body)]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(1_000);
    expect((await lab.store.read("r"))?.status).toBe("running");
    await lab.drive(engine.migrations.asIs("r"));
    expect(await lab.drive(engine.result("r"))).toEqual([1, "charged"]);
  });

  it("is tried once by each new process, and goes on where the old name is back", async () => {
    const lab = createLab();
    const { engine } = await changed(lab, before, flow(after));
    const seq = async () => (await lab.store.read("r"))?.seq ?? 0;
    const parked = await seq();
    await lab.clock.advance(600_000);
    expect(await seq()).toBe(parked);
    const same = lab.engine([flow(after)]);
    await lab.drive(same.recover());
    await lab.clock.advance(600_000);
    const tried = await seq();
    expect(tried).toBe(parked + 3);
    await Promise.all([lab.crash(engine), lab.crash(same)]);
    const mended = lab.engine([flow(async (ctx) => (await before(ctx), "done"))]);
    await lab.drive(mended.recover());
    expect(await lab.drive(mended.result("r"))).toBe("done");
  });

  it("goes on with a migration that renames, drops or adds", async () => {
    for (const change of [{ rename: { pay: "charge" } }, { drop: ["pay"] }, { add: ["charge"] }]) {
      const lab = createLab();
      const migrations = [{ from: "1", to: "2", ...change }];
      const { run } = await changed(lab, before, flow(after, { version: "2", migrations }));
      expect(run).toMatchObject({ status: "completed", version: "2" });
    }
  });

  it("is held back under another version too, where the migration says nothing about it", async () => {
    const lab = createLab();
    const { run } = await changed(
      lab,
      before,
      flow(after, { version: "2", migrations: [{ from: "1", to: "2" }] }),
    );
    expect(run).toMatchObject({ ...held("charge", "pay"), version: "2" });
  });

  it("can be cancelled, and undoes what the code still knows how to undo", async () => {
    const lab = createLab();
    const undone: string[] = [];
    const reserve = (ctx: Context) =>
      ctx.step("reserve", () => 1, { ...keyed, compensate: () => undone.push("reserve") });
    const { engine } = await changed(
      lab,
      async (ctx) => (await reserve(ctx), await before(ctx)),
      flow(async (ctx) => (await reserve(ctx), await after(ctx))),
    );
    await lab.drive(engine.cancel("r", { compensate: true }));
    expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "cancelled" });
    expect(undone).toEqual(["reserve"]);
  });
});
