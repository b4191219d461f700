import { describe, expect, it } from "vitest";
import type { Store } from "../../src/core/store/contract.ts";
import { type EngineEvent, type Logger, workflow } from "../../src/index.ts";
import { createMemoryStore } from "../../src/stores/memory.ts";
import { createTieredStore } from "../../src/stores/tiered/index.ts";
import { createFakeClock } from "../../src/testing/fake-clock.ts";
import { eventsOf } from "../support/family.ts";
import { createLab, hangs, signalled } from "../support/lab.ts";

describe("a task that is run for the first time", () => {
  it("is queued under its own id, runs, and ends as a checkpoint that says completed (S1-35, S1-38, S3-06)", async () => {
    const lab = createLab();
    const flow = workflow("task", async (ctx, topic: string) => {
      const plan = await ctx.step("plan", () => `plan ${topic}`);
      return ctx.step("tool", () => `${plan}, done`, { effect: "once" });
    });
    const desk = lab.engine([flow], { execute: false });
    expect(await desk.get("task-1")).toBeNull();
    await lab.drive(desk.start(flow, "tax", { id: "task-1" }));
    expect((await desk.get("task-1"))?.status).toBe("queued");
    const engine = lab.engine([flow]);
    await lab.drive(engine.recover());
    expect(await lab.drive(engine.result("task-1"))).toBe("plan tax, done");
    const kinds = (await eventsOf(lab.store, "task-1")).map(({ kind, step }) => `${kind} ${step}`.trim());
    expect(kinds).toEqual([
      "run_created",
      "run_claimed",
      "step_started plan",
      "step_completed plan",
      "step_started tool",
      "step_completed tool",
      "run_completed",
    ]);
    expect(await engine.checkpoints.show("task-1")).toMatchObject({
      status: "completed",
      result: "plan tax, done",
      completed: ["plan", "tool"],
    });
  });

  it("has the key of a call stored as pending before the call is made (S1-36, S3-06)", async () => {
    const lab = createLab();
    const stored: string[][] = [];
    const flow = workflow("task", (ctx) =>
      ctx.step(
        "pay",
        async () => {
          const events = await eventsOf(lab.store, "r");
          stored.push(events.flatMap(({ kind, step }) => (step === "pay" ? [kind] : [])));
        },
        { effect: "keyed" },
      ),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(stored).toEqual([["step_started"]]);
  });
});

it("an idempotency key is in no log, event, row, report or journal (S1-50)", async () => {
  const lab = createLab();
  const said: string[] = [];
  const log = (message: string, fields?: unknown) => void said.push(JSON.stringify([message, fields]));
  const logger: Logger = { debug: log, info: log, warn: log, error: log };
  const keys = new Set<string>();
  const flow = workflow("task", async (ctx) => {
    await ctx.step("pay", ({ key, attempt }) => (keys.add(key), attempt === 1 ? hangs() : "paid"), {
      effect: "keyed",
    });
    await ctx.step("mail", ({ key }) => (keys.add(key), Promise.reject(new Error("refused"))), {
      effect: "keyed",
      retry: false,
    });
  });
  const first = lab.engine([flow], { logger });
  await lab.drive(first.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(100);
  await lab.crash(first);
  await lab.clock.advance(20_000);
  const engine = lab.engine([flow], { logger });
  engine.on("step_failed", (event) => void said.push(JSON.stringify(event)));
  await lab.drive(engine.recover());
  await lab.drive(engine.settled("r"));
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  const shown = [
    entries,
    await lab.store.read("r"),
    await engine.status("r"),
    await engine.checkpoints.show("r"),
    await lab.drive(engine.reports.trail("r")),
  ];
  expect(keys.size).toBe(2);
  for (const key of keys) expect([...said, JSON.stringify(shown)].join("\n")).not.toContain(key);
});

describe("a pause of an agent's loop", () => {
  it.each([0, 1, 5])(
    "after iteration %i stops there with a checkpoint, and shows how far it is (S1-21, S1-69)",
    async (last) => {
      const lab = createLab();
      const turns: number[] = [];
      const asked = signalled();
      const go = signalled();
      const flow = workflow("agent", async (ctx) => {
        ctx.plan(["research", "write"]);
        await ctx.step("research", () => "facts");
        return ctx.loop("turn", { n: 0 }, async (state, turn) => {
          turns.push(turn.index);
          await ctx.step("ask", () => (turn.index === last ? (asked.resolve(), go.promise) : undefined));
          state.n += 1;
          return turn.index === 7 ? turn.done() : undefined;
        });
      });
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.drive(asked.promise);
      const pausing = engine.pause("r", { actor: "ada", reason: "a look" });
      await lab.clock.advance(10);
      go.resolve();
      await lab.drive(pausing);
      expect(await lab.drive(engine.settled("r"))).toMatchObject({ status: "paused" });
      expect(await engine.checkpoints.show("r")).toMatchObject({
        kind: "run_paused",
        status: "paused",
        progress: { text: expect.stringContaining("of") },
      });
      expect(turns.at(-1)).toBeLessThanOrEqual(last + 1);
      await lab.drive(engine.resume("r", { actor: "ada" }));
      expect(await lab.drive(engine.result("r"))).toEqual({ n: 8 });
    },
  );
});

it("a checkpoint is in the durable log before the fast store sees it (S1-16)", async () => {
  const clock = createFakeClock();
  const order: string[] = [];
  const inner = createMemoryStore({ clock });
  const primary: Store = {
    ...inner,
    append: async (batch) => {
      const results = await inner.append(batch);
      order.push(`durable ${(await inner.read("r"))?.seq}`);
      return results;
    },
  };
  const cache = {
    get: async () => null,
    set: async (_: string, text: string) => void order.push(`fast ${/"seq":(\d+),"head"/.exec(text)?.[1]}`),
    close: async () => undefined,
  };
  const lab = createLab(createTieredStore({ primary, cache }), clock);
  const flow = workflow("task", async (ctx) => {
    for (let n = 0; n < 3; n++) await ctx.step(`s${n}`, () => n);
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.result("r"));
  await lab.drive(engine.close());
  await lab.store.close();
  const fast = order.filter((line) => line.startsWith("fast"));
  expect(fast.length).toBeGreaterThan(0);
  for (const line of fast) {
    const seq = Number(line.split(" ")[1]);
    const durable = order.slice(0, order.indexOf(line)).map((one) => Number(one.split(" ")[1]));
    expect(Math.max(...durable)).toBeGreaterThanOrEqual(seq);
  }
});

it("a store that is away is tried again, then the run stops before its next call and says so (S1-41)", async () => {
  const lab = createLab();
  let isAway = false;
  const store: Store = {
    ...lab.store,
    append: (batch) => (isAway ? Promise.reject(new Error("away")) : lab.store.append(batch)),
  };
  const calls: string[] = [];
  const flow = workflow("task", async (ctx) => {
    await ctx.step("read", () => ((isAway = calls.length === 0), calls.push("read")));
    return ctx.step("pay", () => calls.push("pay"), { effect: "once" });
  });
  const told: EngineEvent["type"][] = [];
  const engine = lab.engine([flow], { store, storePatienceMs: 5_000 });
  engine.on("checkpoint_failed", ({ type }) => told.push(type));
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(30_000);
  expect([calls, engine.health().worker.running, engine.health().store.state]).toEqual([
    ["read"],
    0,
    "failing",
  ]);
  expect(told.length).toBeGreaterThan(1);
  isAway = false;
  await lab.drive(engine.result("r"));
  expect(calls).toEqual(["read", "read", "pay"]);
});
