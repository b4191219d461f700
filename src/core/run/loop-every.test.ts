import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { createEngine, workflow } from "../../index.ts";
import type { SaveEvery } from "../../manage.ts";
import { parseEntry } from "../journal/journal.ts";
import { loadRun } from "../journal/load.ts";
import { takeSnapshot } from "../journal/snapshot.ts";
import { Values } from "../journal/values.ts";
import { silentLogger } from "../logger.ts";
import type { Append, Store } from "../store/contract.ts";
import type { RunRow } from "../types.ts";

const valuesOf = (lab: Lab): Values =>
  new Values(lab.store, { valueBytes: 1e8, warnBytes: 1e8 }, silentLogger);

const advances = async (store: Store, runId: string) => {
  const entries = await store.entries(runId, { from: 1, limit: 10_000 });
  return entries
    .flatMap((entry) => parseEntry(runId, entry).events)
    .flatMap((event) => (event.kind === "loop_advanced" ? [event.meta] : []));
};

/** Counts and sums up; each turn has a step, a memory entry and a list that grows. */
function counting(
  turns: number,
  every: SaveEvery | undefined,
  log: { bodies: number[]; steps: number[] },
  during: (index: number) => Promise<unknown> = () => Promise.resolve(),
) {
  return workflow("count", async (ctx) => {
    const state = await ctx.loop(
      "turn",
      { sum: 0, list: [] as number[] },
      async (draft, turn) => {
        log.bodies.push(turn.index);
        const before = ctx.memory.get<number>("last") ?? -1;
        const value = await ctx.step("s", async () => {
          log.steps.push(turn.index);
          await during(turn.index);
          return turn.index;
        });
        ctx.memory.set("last", turn.index);
        draft.sum += value + (before - turn.index + 1);
        draft.list.push(value);
        if (draft.list.length > 3) draft.list.shift();
        return turn.index === turns - 1 ? turn.done() : undefined;
      },
      every === undefined ? {} : { every },
    );
    return { ...state, last: ctx.memory.get("last") };
  });
}

const result = (turns: number) => {
  const all = Array.from({ length: turns }, (_, n) => n);
  return { sum: all.reduce((sum, n) => sum + n, 0), list: all.slice(-3), last: turns - 1 };
};

/** The lab's store, which takes `most` appends of the run and then nothing any more. */
function dying(lab: Lab, most: number): Store {
  let left = most;
  return {
    ...lab.store,
    append: async (batch: readonly Append[]) => (left-- > 0 ? lab.store.append(batch) : hangs()),
    renew: () => hangs(),
  };
}

describe("a loop that saves every few iterations", () => {
  it("writes its state only then and at the end, and counts every iteration (S1-65)", async () => {
    const lab = createLab();
    const flow = counting(10, 4, { bodies: [], steps: [] });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toEqual(result(10));
    expect(await advances(lab.store, "r")).toEqual([
      { iteration: 3, count: 4 },
      { iteration: 7, count: 4 },
      { iteration: 9, count: 2, done: true },
    ]);
    expect(engine.flushes).toBeLessThanOrEqual(13);
    const row = (await lab.store.read("r")) as RunRow;
    expect(row.turns).toBe(10);
    // Nothing of a finished iteration is kept in mind.
    expect([...(await loadRun(lab.store, valuesOf(lab), row)).steps()]).toEqual([]);
  });

  it("goes on as if nothing had happened after a crash behind any of its writes", async () => {
    for (let most = 1; most <= 12; most++) {
      const lab = createLab();
      const log = { bodies: [] as number[], steps: [] as number[] };
      const flow = counting(9, 3, log);
      const engine = lab.engine([flow], { store: dying(lab, most) });
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      await lab.clock.advance(1_000);
      const saved = (await lab.store.read("r"))?.stepsDone ?? 0;
      const written = (await advances(lab.store, "r")).at(-1)?.iteration ?? -1;
      log.bodies.length = log.steps.length = 0;
      const after = await lab.afterCrash(engine, [flow], "r");
      expect(await lab.drive(after.engine.result("r")), `after ${most}`).toEqual(result(9));
      // Bodies run again behind the last saved iteration; their finished steps do not.
      expect(log.bodies[0] ?? written + 1).toBe(written + 1);
      expect(log.steps).toEqual(range(saved, 9));
      expect(after.run.turns).toBe(9);
    }
  });

  it("does not flush iterations without a step one by one", async () => {
    const lab = createLab();
    const flush = async (every: number): Promise<number> => {
      const flow = workflow(`flow${every}`, (ctx) =>
        ctx.loop(
          "turn",
          { n: 0 },
          (state, turn) => {
            state.n++;
            return turn.index === 99 ? turn.done() : undefined;
          },
          { every },
        ),
      );
      const engine = lab.engine([flow]);
      const { id } = await lab.drive(engine.start(flow, undefined));
      expect(await lab.drive(engine.result(id))).toEqual({ n: 100 });
      return engine.flushes;
    };
    expect(await flush(1)).toBeGreaterThan(100);
    expect(await flush(25)).toBeLessThanOrEqual(6);
  });

  it("is in a snapshot as it was last written, with what later iterations have done beside it", async () => {
    const lab = createLab();
    const values = valuesOf(lab);
    let calls = 0;
    let hung = false;
    const flow = workflow("flow", (ctx) =>
      ctx.loop(
        "turn",
        { n: 0, calls: 0 },
        async (state, turn) => {
          await ctx.step("bulk", () => Array.from({ length: 7 }, () => "x".repeat(1000)));
          state.calls = await ctx.step("count", () => ++calls);
          state.n++;
          if (turn.index === 13) await ctx.step("hang", () => (hung ? undefined : ((hung = true), hangs())));
          return turn.index === 15 ? turn.done() : undefined;
        },
        { every: 5 },
      ),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    const row = await lab.store.read("r");
    if (!row) throw new Error("there is no run");
    expect(row.snapshotSeq).toBeGreaterThan(0);
    // The newest snapshot lies between two advances, and says the same as the whole journal up to it.
    const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
    const events = entries.flatMap((entry) => parseEntry("r", entry).events);
    const behind = events.filter(({ kind, seq }) => kind === "loop_advanced" && seq < row.snapshotSeq);
    const loop = (await loadRun(lab.store, values, row, row.snapshotSeq)).loop("turn");
    expect([loop.iteration, loop.state]).toEqual([
      behind.length * 5,
      { value: { n: behind.length * 5, calls: behind.length * 5 } },
    ]);
    expect(takeSnapshot(await loadRun(lab.store, values, row))).toBeUndefined();
    const after = await lab.afterCrash(engine, [flow], "r");
    expect(await lab.drive(after.engine.result("r"))).toEqual({ n: 16, calls: 16 });
    expect(calls).toBe(16);
  });

  it("can be paused between two writes, and goes on without doing anything twice", async () => {
    const lab = createLab();
    const log = { bodies: [] as number[], steps: [] as number[] };
    const flow = counting(9, 4, log, (index) => (index === 5 ? engine.pause("r") : Promise.resolve()));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toEqual(result(9));
    expect(log.steps).toEqual(range(0, 9));
    expect(log.bodies).toEqual([...range(0, 7), ...range(4, 9)]);
  });

  it("is held to a budget of turns exactly, written or not", async () => {
    const lab = createLab();
    const log = { bodies: [] as number[], steps: [] as number[] };
    const flow = counting(9, 4, log);
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r", budget: { turns: 6 } }));
    expect((await lab.drive(engine.settled("r"))).waiting[0]?.kind).toBe("budget");
    expect(log.steps).toEqual(range(0, 6));
    await lab.crash(engine);
    const next = lab.engine([flow]);
    await lab.drive(next.resume("r", { budget: { turns: 20 } }));
    expect(await lab.drive(next.result("r"))).toEqual(result(9));
    expect(log.steps).toEqual(range(0, 9));
  });

  it("may hold another one, and be tried again after a failure", async () => {
    const lab = createLab();
    let failures = 0;
    const calls: string[] = [];
    const flow = workflow("flow", (ctx) =>
      ctx.loop(
        "outer",
        { sums: [] as number[] },
        async (outer, turn) => {
          const inner = await ctx.loop(
            "inner",
            { sum: 0 },
            async (state, one) => {
              state.sum += await ctx.step(
                "add",
                ({ step }) => {
                  if (step === "outer[2]/inner[3]/add" && failures++ === 0) throw new Error("once");
                  calls.push(step);
                  return one.index;
                },
                { retry: false },
              );
              return one.index === 4 ? one.done() : undefined;
            },
            { every: 2 },
          );
          outer.sums.push(inner.sum);
          return turn.index === 3 ? turn.done() : undefined;
        },
        { every: 3 },
      ),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toThrow("once");
    await lab.crash(engine);
    const next = lab.engine([flow]);
    await lab.drive(next.resume("r"));
    expect(await lab.drive(next.result("r"))).toEqual({ sums: [10, 10, 10, 10] });
    expect(calls).toHaveLength(20);
  });

  it("refuses a number that makes no sense", async () => {
    const lab = createLab();
    for (const every of [0, 1.5, -1, Number.NaN]) {
      const flow = workflow("flow", (ctx) => ctx.loop("turn", {}, (_, turn) => turn.done(), { every }));
      const engine = lab.engine([flow]);
      const { id } = await lab.drive(engine.start(flow, undefined));
      await expect(lab.drive(engine.result(id))).rejects.toThrow("Invalid every");
    }
  });
});

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, n) => from + n);

describe("the strategy of a workflow or an engine", () => {
  const turns = (strategy: { every: SaveEvery } | undefined, own?: SaveEvery) =>
    workflow("flow", strategy ? { checkpoint: strategy } : {}, (ctx) =>
      ctx.loop(
        "turn",
        { n: 0 },
        (state, turn) => {
          state.n++;
          return turn.index === 11 ? turn.done() : undefined;
        },
        own === undefined ? {} : { every: own },
      ),
    );
  const counts = async (
    engineSays: { every: SaveEvery } | undefined,
    workflowSays?: { every: SaveEvery },
    loopSays?: SaveEvery,
  ) => {
    const lab = createLab();
    const flow = turns(workflowSays, loopSays);
    const engine = lab.engine([flow], engineSays ? { checkpoint: engineSays } : {});
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toEqual({ n: 12 });
    return (await advances(lab.store, "r")).length;
  };

  it("counts where nothing nearer says otherwise", async () => {
    expect(await counts(undefined)).toBe(12);
    expect(await counts({ every: 4 })).toBe(3);
    expect(await counts({ every: 4 }, { every: 6 })).toBe(2);
    expect(await counts({ every: 4 }, { every: 6 }, 3)).toBe(4);
  });

  it("is checked where it is given", () => {
    const { store } = createLab();
    expect(() => createEngine({ store, checkpoint: { every: 0 } })).toThrow("checkpoint.every");
    expect(() => createEngine({ store, checkpoint: { each: 1 } as never })).toThrow("checkpoint.each");
    expect(() => turns({ every: "often" as never })).toThrow("checkpoint.every");
  });
});

describe("a loop that adapts how often it saves", () => {
  /** Turns that take so long, some of which have an effect. */
  const run = async (turns: number, ms: number, isCritical: (index: number) => boolean = () => false) => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.loop(
        "turn",
        { n: 0 },
        async (state, turn) => {
          if (isCritical(turn.index)) await ctx.step("act", () => 1, { effect: "keyed" });
          if (ms > 0) await new Promise<void>((resolve) => lab.clock.setTimer(resolve, ms));
          state.n++;
          return turn.index === turns - 1 ? turn.done() : undefined;
        },
        { every: "adaptive" },
      ),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toEqual({ n: turns });
    return (await advances(lab.store, "r")).map(({ iteration }) => iteration);
  };

  it("saves quick turns in hundreds, and slow ones each second (S4-22)", async () => {
    expect(await run(250, 0)).toEqual([99, 199, 249]);
    expect(await run(5, 1_000)).toEqual([0, 1, 2, 3, 4]);
    expect(await run(9, 400)).toEqual([2, 5, 8]);
  });

  it("saves behind every turn that began something with an effect (S4-22)", async () => {
    expect(await run(30, 0, (index) => index === 7 || index === 12)).toEqual([7, 12, 29]);
  });

  it("loses no step that has ended to a crash, wherever that is", async () => {
    const log = { bodies: [] as number[], steps: [] as number[] };
    for (let most = 1; most <= 14; most++) {
      const lab = createLab();
      const flow = counting(9, "adaptive", log);
      const engine = lab.engine([flow], { store: dying(lab, most) });
      void engine.start(flow, undefined, { id: "r" });
      await lab.clock.advance(2_000);
      const saved = (await lab.store.read("r"))?.stepsDone ?? 0;
      log.bodies.length = log.steps.length = 0;
      const after = await lab.afterCrash(engine, [flow], "r");
      expect(await lab.drive(after.engine.result("r")), `after ${most}`).toEqual(result(9));
      expect(log.steps).toEqual(range(saved, 9));
    }
  });
});
