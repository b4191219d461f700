import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import type { Workflow } from "../../src/core/context.ts";
import { createEngine, type Engine } from "../../src/core/engine/engine.ts";
import type { EngineOptions } from "../../src/core/engine/options.ts";
import { seededIds } from "../../src/core/ids.ts";
import type { Append, Store } from "../../src/core/store/contract.ts";
import { workflow } from "../../src/core/workflow.ts";
import { createFakeClock, type FakeClock } from "../../src/testing/fake-clock.ts";
import { createFaultyStore, type FaultPlan, type StoreMethod } from "../../src/testing/faulty-store.ts";
import { checkInvariants } from "../../src/testing/invariants/invariants.ts";
import { createLedgerStore } from "./ledger-store.ts";

/** Histories that the simulator found, each reduced to a minimum. */
interface Setting {
  readonly clock: FakeClock;
  readonly ledger: ReturnType<typeof createLedgerStore>;
  engine(options?: Partial<EngineOptions>): Engine;
}

function setting(workflows: readonly Workflow<never, unknown>[]): Setting {
  const clock = createFakeClock();
  const ledger = createLedgerStore(1, clock);
  let made = 0;
  const engine = (options: Partial<EngineOptions> = {}): Engine =>
    createEngine({
      store: ledger.store,
      workflows,
      clock,
      ids: seededIds(++made),
      owner: `worker-${made}`,
      ...options,
    });
  return { clock, ledger, engine };
}

const faulty = (store: Store, plan: FaultPlan, clock: Clock): Store =>
  createFaultyStore(store, { clock, ...plan });
const writes = ({ entries }: Append, what: string): boolean =>
  entries.some(({ head }) => head.includes(what));
const pass = (clock: FakeClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(resolve, ms));
const statusOf = async (engine: Engine, id: string): Promise<string | undefined> =>
  (await engine.get(id))?.status;

async function violations({ ledger }: Setting): Promise<string[]> {
  const found = await checkInvariants(ledger.store, { calls: [], effectRows: ledger.rows });
  return found.map(({ invariant, message }) => `${invariant} ${message}`);
}

/** Completes an act that needs no time. */
async function now<T>({ clock }: Setting, act: Promise<T>): Promise<T> {
  await clock.settle();
  return act;
}

const skewed = (clock: Clock, ms: number): Clock => ({ ...clock, now: () => clock.now() + ms });

describe("steps", () => {
  it("inside a step that is retried, in a loop, are not run again", async () => {
    const calls: number[] = [];
    const program = workflow("w", async (ctx) =>
      ctx.loop("l", { n: 0 }, async (state, turn) => {
        await ctx.step("outer", async ({ attempt }) => {
          await ctx.step("inner", (call) => void calls.push(call.attempt), { effect: "once" });
          if (attempt === 1) throw new Error("once more");
        });
        state.n++;
        return turn.done();
      }),
    );
    const world = setting([program]);
    await now(world, world.engine().start(program, undefined, { id: "r" }));
    await world.clock.advance(10_000);
    expect(calls).toEqual([1]);
    expect(await violations(world)).toEqual([]);
  });

  it("that ran into their time limit are tried again", async () => {
    const world: Setting = setting([]);
    const program = workflow("w", async (ctx) =>
      ctx.step("slow", ({ attempt }) => pass(world.clock, attempt === 1 ? 5_000 : 10).then(() => attempt), {
        timeoutMs: 100,
      }),
    );
    const engine = world.engine({ workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(20_000);
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it("are tried as often as they may be when the clock is set back before their failure is written", async () => {
    const world: Setting = setting([]);
    let behindMs = 0;
    const program = workflow("w", async (ctx) =>
      ctx.all("both", [
        () => ctx.step("other", () => "other"),
        () =>
          ctx.step("failing", async ({ attempt }) => {
            await pass(world.clock, 100);
            if (attempt === 1) behindMs = 3 * 3_600_000;
            if (attempt < 3) throw new Error("not yet");
          }),
      ]),
    );
    const clock = { ...world.clock, now: () => world.clock.now() - behindMs };
    const { store } = createLedgerStore(1, clock);
    const slow = async (batch: readonly Append[]): ReturnType<Store["append"]> => {
      const results = await store.append(batch);
      if (batch.some((append) => writes(append, "step_completed"))) await pass(world.clock, 20_000);
      if (batch.some((append) => writes(append, "step_failed"))) behindMs = 0;
      return results;
    };
    const engine = world.engine({ workflows: [program], store: { ...store, append: slow }, clock });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(120_000);
    expect((await engine.get("r"))?.error).toBeNull();
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it("do not make their run fail when the store does, as their intent comes late", async () => {
    const program = workflow("w", async (ctx) => ctx.step("a", () => 1));
    const world = setting([program]);
    const store = faulty(
      world.ledger.store,
      {
        faults: [{ method: "append", call: 2, fault: { kind: "delay-after", ms: 20_000 } }],
        choose: (method) => (method === "renew" ? { kind: "fail" } : undefined),
      },
      world.clock,
    );
    const engine = world.engine({ store });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(25_000);
    expect(await statusOf(engine, "r")).not.toBe("failed");
  });
});

describe("a resume", () => {
  it("tries again what failed, however deep it lies and however often it was replayed", async () => {
    const program = workflow("w", async (ctx) =>
      ctx.step("outer", () => ctx.step("middle", () => ctx.step("inner", fails, once), once), { retry: 2 }),
    );
    const once = { retry: false } as const;
    const fails = ({ attempt }: { readonly attempt: number }): string => {
      if (attempt === 1) throw new Error("the first time");
      return "done";
    };
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(60_000);
    expect(await statusOf(engine, "r")).toBe("failed");
    await now(world, engine.resume("r"));
    await world.clock.advance(60_000);
    expect(await statusOf(engine, "r")).toBe("completed");
  });
});

describe("transactions", () => {
  it("side by side leave the journal whole", async () => {
    const program = workflow("w", async (ctx) =>
      ctx.all("both", {
        a: () => ctx.transaction("t", (sql) => sql.run("INSERT", ctx.runId, "both[a]/t")),
        b: () => ctx.transaction("t", (sql) => sql.run("INSERT", ctx.runId, "both[b]/t")),
      }),
    );
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(5_000);
    expect(await violations(world)).toEqual([]);
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it("do not start after a pause was accepted", async () => {
    const world: Setting = setting([]);
    const program = workflow("w", async (ctx) => {
      await ctx.step("pause", async () => void (await engine.pause(ctx.runId)));
      await ctx.transaction("t", (sql) => sql.run("INSERT", ctx.runId, "t"));
    });
    const engine = world.engine({ workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(5_000);
    expect(await violations(world)).toEqual([]);
    expect(await statusOf(engine, "r")).toBe("paused");
  });

  it.each(["fail", "fail-after"] as const)(
    "survive a store that answers with an error (%s)",
    async (kind) => {
      const program = workflow("w", async (ctx) => {
        await ctx.transaction("t", (sql) => sql.run("INSERT", ctx.runId, "t"));
        return ctx.step("after", () => "done");
      });
      const world = setting([program]);
      const store = faulty(
        world.ledger.store,
        { faults: [{ method: "transaction", call: 1, fault: { kind } }] },
        world.clock,
      );
      const engine = world.engine({ store });
      await now(world, engine.start(program, undefined, { id: "r" }));
      await world.clock.advance(60_000);
      expect(await violations(world)).toEqual([]);
      expect(await statusOf(engine, "r")).toBe("completed");
    },
  );
});

describe("a pause", () => {
  it("takes effect while a branch is between two steps", async () => {
    const world: Setting = setting([]);
    const program = workflow("w", async (ctx) =>
      ctx.all("group", {
        a: async () => {
          await ctx.step("first", async () => void (await engine.pause(ctx.runId)));
          await ctx.step("second", () => undefined);
        },
      }),
    );
    const engine = world.engine({ workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(60_000);
    expect(await statusOf(engine, "r")).toBe("paused");
  });

  it("does not undo a cancel that was accepted before it", async () => {
    const world: Setting = setting([]);
    const program = workflow("w", async (ctx) => {
      await ctx.step("long", () => pass(world.clock, 5_000));
      await ctx.step("next", () => undefined);
    });
    const engine = world.engine({ workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    await now(world, engine.cancel("r", { compensate: true }));
    await now(
      world,
      engine.pause("r").catch(() => undefined),
    );
    await now(
      world,
      engine.resume("r").catch(() => undefined),
    );
    await world.clock.advance(60_000);
    expect(await violations(world)).toEqual([]);
    expect(await statusOf(engine, "r")).toBe("cancelled");
  });
});

describe("a run", () => {
  it("that waits at a gate in a branch says so, and holds no worker", async () => {
    const program = workflow("w", async (ctx) =>
      ctx.all("group", { a: () => ctx.gate("ask", { choices: ["yes"] }) }),
    );
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(60_000);
    expect(await engine.get("r")).toMatchObject({
      status: "waiting",
      waiting: [{ kind: "gate", step: "group[a]/ask" }],
    });
  });

  it("goes on at once when an answer comes from a process whose clock is ahead", async () => {
    const program = workflow("w", async (ctx) => ctx.gate("ask", { choices: ["yes"] }));
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    const desk = world.engine({ execute: false, clock: skewed(world.clock, 3_600_000) });
    await now(world, desk.answer("r", "ask", { choice: "yes" }));
    await world.clock.advance(10_000);
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it("is not claimed over and over by a worker whose clock is behind", async () => {
    const program = workflow("w", async (ctx) => ctx.sleep("nap", 60_000));
    const world = setting([program]);
    const first = world.engine();
    await now(world, first.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    await Promise.all([first.close(), world.clock.advance(1_000)]);
    await now(world, world.engine({ clock: skewed(world.clock, -3_600_000) }).work());
    await world.clock.advance(61_500);
    expect((await first.get("r"))?.seq).toBeLessThan(30);
  });

  it("sees on replay what it remembered at each moment, also after a snapshot", async () => {
    const program = workflow("w", async (ctx) => {
      ctx.memory.set("k", "first");
      const seen = ctx.memory.get("k");
      ctx.memory.set("k", "second");
      await ctx.loop("l", { pads: [] as string[] }, async (state, turn) => {
        state.pads.push("#".repeat(900), "#".repeat(900), "#".repeat(900));
        return turn.index === 15 ? turn.done() : undefined;
      });
      await ctx.gate("ask", { choices: ["yes"] });
      return seen;
    });
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(5_000);
    expect((await world.ledger.store.read("r"))?.snapshotSeq).toBeGreaterThan(0);
    await now(world, engine.answer("r", "ask", { choice: "yes" }));
    await world.clock.advance(5_000);
    expect(await now(world, engine.result("r"))).toBe("first");
  });
});

describe("a store that fails one read", () => {
  const failing = (method: StoreMethod, from: number) => {
    const world: Setting = setting([]);
    let calls = 0;
    const choose: FaultPlan["choose"] = (one) =>
      one === method && ++calls === from ? { kind: "fail" } : undefined;
    return { world, store: faulty(world.ledger.store, { choose }, world.clock), failed: () => calls >= from };
  };

  it("does not leave a run hanging whose input is being read", async () => {
    const { world, store, failed } = failing("blobs", 1);
    const program = workflow("w", async (_ctx, input: string) => input.length);
    const engine = world.engine({ store, workflows: [program] });
    await now(world, engine.start(program, "x".repeat(10_000), { id: "r" }));
    await world.clock.advance(120_000);
    expect(failed()).toBe(true);
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it("does not make a run fail whose recorded values are being read", async () => {
    const { world, store, failed } = failing("entries", 1);
    const program = workflow("w", async (ctx) =>
      ctx.step("outer", async ({ attempt }) => {
        const inner = await ctx.step("inner", () => "done");
        if (attempt === 1) throw new Error("once more");
        return inner;
      }),
    );
    const engine = world.engine({ store, workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(120_000);
    expect(failed()).toBe(true);
    expect(await statusOf(engine, "r")).toBe("completed");
  });

  it.each([1, 2, 3])("does not leave a run for ever between cancelled and not: read %i", async (from) => {
    const { world, store, failed } = failing("entries", from);
    const program = workflow("w", async (ctx) => ctx.gate("ask", { choices: ["yes"] }));
    const engine = world.engine({ store, workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    const cancel = () => engine.cancel("r", { compensate: true });
    // A caller that gets no answer from the store asks again.
    await now(world, cancel().catch(cancel));
    await world.clock.advance(60_000);
    if ((await statusOf(engine, "r")) === "waiting") await now(world, engine.resume("r"));
    await world.clock.advance(60_000);
    expect(failed()).toBe(true);
    expect(await statusOf(engine, "r")).toBe("cancelled");
  });
});

describe("a resumed parent", () => {
  const scene = () => {
    const child = workflow("child", async (ctx) =>
      ctx.step(
        "x",
        ({ attempt }) => {
          if (attempt === 1) throw new Error("the first time");
          return "done";
        },
        { retry: false },
      ),
    );
    const parent = workflow("parent", async (ctx) => ctx.child("c", child, undefined));
    return { parent, world: setting([child, parent] as never) };
  };

  it("hears of a child that was resumed and completed before it", async () => {
    const { parent, world } = scene();
    const engine = world.engine();
    await now(world, engine.start(parent, undefined, { id: "p" }));
    await world.clock.advance(5_000);
    const [child] = (await engine.list({ limit: 9, parent: "p" })).runs;
    await now(world, engine.resume(child?.id ?? ""));
    await world.clock.advance(5_000);
    await now(world, engine.resume("p"));
    await world.clock.advance(30_000);
    expect(await statusOf(engine, "p")).toBe("completed");
  });

  it("gets its child going though its worker died right after the resume", async () => {
    const { parent, world } = scene();
    const first = world.engine();
    await now(world, first.start(parent, undefined, { id: "p" }));
    await world.clock.advance(5_000);
    await Promise.all([first.close(), world.clock.advance(1_000)]);
    await now(world, world.engine({ execute: false }).resume("p"));
    let dead = false;
    const { store } = world.ledger;
    const read: Store["read"] = async (id) => {
      if (dead) return new Promise(() => undefined);
      return store.read(id);
    };
    const append: Store["append"] = async (batch) => {
      const results = await (dead ? new Promise<never>(() => undefined) : store.append(batch));
      if (batch.some((append) => writes(append, '"attempt":2'))) dead = true;
      return results;
    };
    const renew: Store["renew"] = (batch) => (dead ? new Promise(() => undefined) : store.renew(batch));
    await now(world, world.engine({ store: { ...store, read, append, renew } }).work());
    await world.clock.advance(5_000);
    const second = world.engine();
    await now(world, second.work());
    await world.clock.advance(60_000);
    expect(dead).toBe(true);
    // The old failure may be reported once more, as long as resuming again helps.
    if ((await statusOf(second, "p")) === "failed") await now(world, second.resume("p"));
    await world.clock.advance(60_000);
    expect(await statusOf(second, "p")).toBe("completed");
  });
});

describe("a cancel with undo", () => {
  const booking = (undone: string[]) => ({
    effect: "keyed" as const,
    compensate: (value: string) => void undone.push(value),
  });

  it("undoes what happened in finished branches, and names what it cannot undo of finished iterations", async () => {
    const undone: string[] = [];
    const program = workflow("w", async (ctx) => {
      await ctx.step("plain", () => "plain", booking(undone));
      await ctx.loop("l", { n: 0 }, async (state, turn) => {
        await ctx.step("book", () => "in the loop", booking(undone));
        state.n++;
        return turn.done();
      });
      await ctx.each("e", [1], () => ctx.step("book", () => "in the branch", booking(undone)));
      await ctx.gate("ask", { choices: ["yes"] });
    });
    const world = setting([program]);
    const engine = world.engine();
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(5_000);
    await now(world, engine.cancel("r", { compensate: true }));
    await world.clock.advance(5_000);
    expect(undone).toEqual(["in the branch", "plain"]);
    const run = await engine.get("r");
    expect(run?.status).toBe("waiting");
    expect(run?.waiting[0]?.detail).toContain("l[0]/book");
    await now(world, engine.cancel("r"));
    expect(await statusOf(engine, "r")).toBe("cancelled");
  });

  it("undoes everything though the store is slow to answer", async () => {
    const undone: string[] = [];
    const program = workflow("w", async (ctx) => {
      ctx.memory.set("big", "x".repeat(10_000));
      await ctx.step("book", () => "booked", booking(undone));
      await ctx.gate("ask", { choices: ["yes"] });
    });
    const world = setting([program]);
    const choose: FaultPlan["choose"] = (method) =>
      method === "blobs" ? { kind: "delay", ms: 200 } : undefined;
    const engine = world.engine({ store: faulty(world.ledger.store, { choose }, world.clock) });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(5_000);
    await now(world, engine.cancel("r", { compensate: true }));
    await world.clock.advance(30_000);
    expect(await statusOf(engine, "r")).toBe("cancelled");
    expect(undone).toEqual(["booked"]);
  });

  it("lets the body do nothing more while it undoes", async () => {
    const world: Setting = setting([]);
    const late: string[] = [];
    const program = workflow("w", async (ctx) => {
      await ctx.step("book", () => "booked", { effect: "keyed", compensate: () => pass(world.clock, 5_000) });
      await ctx.sleep("nap", 3_000);
      await ctx.step("late", () => void late.push("late"));
    });
    const engine = world.engine({ workflows: [program] });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    await now(world, engine.cancel("r", { compensate: true }));
    await world.clock.advance(30_000);
    expect(late).toEqual([]);
    expect(await violations(world)).toEqual([]);
    expect(await statusOf(engine, "r")).toBe("cancelled");
  });

  it("ends also when a signal comes at the last moment", async () => {
    const program = workflow("w", async (ctx) => ctx.gate("ask", { choices: ["yes"] }));
    const world = setting([program]);
    const { store } = world.ledger;
    const desk = world.engine({ execute: false });
    let signalled = false;
    const append: Store["append"] = async (batch) => {
      if (!signalled && batch.some((append) => writes(append, "run_cancelled"))) {
        signalled = true;
        await desk.signal("r", "late");
      }
      return store.append(batch);
    };
    const engine = world.engine({ store: { ...store, append } });
    await now(world, engine.start(program, undefined, { id: "r" }));
    await world.clock.advance(1_000);
    await now(world, engine.cancel("r", { compensate: true }));
    await world.clock.advance(60_000);
    expect(signalled).toBe(true);
    expect(await statusOf(engine, "r")).toBe("cancelled");
  });
});
