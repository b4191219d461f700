import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab, signalled } from "../../../test/support/lab.ts";
import { createEngine, type Engine, type EngineEvent, type EngineOptions, workflow } from "../../index.ts";
import type { Entry, Store } from "../store/contract.ts";

type Flow = Parameters<Lab["engine"]>[0][number];

/** Starts a run whose step hangs, and kills its worker again and again; answers the last engine. */
async function killed(
  lab: Lab,
  flow: Flow,
  times: number,
  options: Partial<EngineOptions> = {},
): Promise<Engine> {
  let engine = lab.engine([flow], options);
  await lab.drive(engine.start(flow as never, undefined, { id: "r" }));
  await lab.clock.advance(100);
  for (let n = 0; n < times; n++) {
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    engine = lab.engine([flow], options);
    await lab.drive(engine.recover());
    await lab.clock.advance(200);
  }
  return engine;
}

describe("recovery", () => {
  it("refuses options it does not know, and values that make no sense", () => {
    const { store } = createLab();
    const make = (recovery: object) => () => createEngine({ store, recovery });
    expect(make({ retries: 3 })).toThrow(/recovery\.retries.*no such option/);
    expect(make({ maxAttempts: -1 })).toThrow("recovery.maxAttempts");
    expect(make({ timeoutMs: 0 })).toThrow("recovery.timeoutMs");
    expect(make({ timeoutMs: "60" })).toThrow("recovery.timeoutMs");
    expect(make({ alarmAfter: 0 })).toThrow("recovery.alarmAfter");
    expect(make({ maxAttempts: 0, auto: undefined })).not.toThrow();
  });

  it("that is not automatic leaves a run whose worker died to a person, and calls nothing", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("s", () => (++calls === 1 ? hangs() : calls)));
    const engine = await killed(lab, flow, 1, { recovery: { auto: false } });
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]).toMatchObject({ kind: "review", detail: expect.stringContaining("HF-2122") });
    expect(calls).toBe(1);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(2);
  });

  it("that is not automatic keeps timers, answers, pauses and orderly hand-overs going", async () => {
    const lab = createLab();
    const options = { recovery: { auto: false } };
    const flow = workflow("flow", async (ctx) => {
      await ctx.sleep("nap", 60_000);
      await ctx.gate("ok", { choices: ["yes"] });
      await ctx.step("slow", () => new Promise<void>((resolve) => lab.clock.setTimer(resolve, 1_000)));
      return "end";
    });
    let engine = lab.engine([flow], options);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(engine);
    engine = lab.engine([flow], options);
    await lab.drive(engine.work());
    await lab.clock.advance(70_000);
    await lab.crash(engine);
    engine = lab.engine([flow], options);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(100);
    await lab.drive(engine.close());
    engine = lab.engine([flow], options);
    expect(await lab.drive(engine.result("r"))).toBe("end");
  });

  it("that is not automatic still pauses a run that was told to before its worker died", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.pause("r"));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow], { recovery: { auto: false } });
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("r"))).status).toBe("paused");
  });

  it("ends after as many attempts as allowed, which are counted where the run is, not in a process (S1-46)", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    const engine = await killed(lab, flow, 2, { recovery: { maxAttempts: 1 } });
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]?.detail).toContain("HF-2108");
    expect(run.waiting[0]?.detail).toContain("recovered 1 times");
    expect(run.recoveries).toBe(1);
  });

  it("is given up in the same write that finds the limit reached, so that no crash comes in between", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const before = await lab.store.read("r");
    const points: string[] = [];
    const options = { recovery: { maxAttempts: 0 }, probe: (point: string) => void points.push(point) };
    const next = lab.engine([flow], options);
    const told: string[] = [];
    next.on("recovered", ({ type }) => told.push(type));
    expect(await lab.drive(next.recover())).toEqual([]);
    const entries = await lab.store.entries("r", { from: (before?.seq ?? 0) + 1, limit: 10 });
    expect(entries).toHaveLength(1);
    expect([points, told]).toEqual([[], []]);
    await lab.drive(next.resume("r"));
    await lab.clock.advance(2_000);
    expect(await next.get("r")).toMatchObject({ status: "running", recoveries: 0 });
  });

  it("counts no hand-over, however often and however slow: workers may be deployed all day", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("flow", (ctx) => ctx.step("s", () => (++calls < 8 ? hangs() : "done")));
    let engine = lab.engine([flow], { recovery: { maxAttempts: 1 } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    for (let deploy = 0; deploy < 7; deploy++) {
      await lab.clock.advance(1_000);
      await lab.drive(engine.close({ drainMs: 5_000 }));
      expect(await lab.store.read("r")).toMatchObject({ status: "queued", recoveries: 0 });
      engine = lab.engine([flow], { recovery: { maxAttempts: 1 } });
      await lab.drive(engine.work());
      await lab.clock.advance(20_000);
    }
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });

  it("of a call that is left at a hand-over waits until its claim has run out, and goes by its effect", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("pay", hangs, { effect: "once" }));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.close({ drainMs: 100 }));
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect(await next.get("r")).toMatchObject({ status: "queued", claim: { owner: expect.any(String) } });
    await lab.clock.advance(20_000);
    expect(await lab.drive(next.settled("r"))).toMatchObject({
      waiting: [{ kind: "decision" }],
      recoveries: 0,
    });
  });

  it("of a run that was told to pause is no hand-over: it is paused by whoever takes it, and can be resumed", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.drive(engine.pause("r"));
    await lab.drive(engine.close({ drainMs: 100 }));
    expect(await lab.store.read("r")).toMatchObject({ status: "running", control: "pausing" });
    await lab.clock.advance(20_000);
    const next = lab.engine([flow]);
    await lab.drive(next.recover());
    expect((await lab.drive(next.settled("r"))).status).toBe("paused");
  });

  it("starts counting anew with every step that ends, so that a run that gets on is never given up", async () => {
    const lab = createLab();
    const calls = new Map<number, number>();
    // Each step takes its worker down twice.
    const call = (n: number) => {
      calls.set(n, (calls.get(n) ?? 0) + 1);
      return (calls.get(n) ?? 0) <= 2 ? hangs() : n;
    };
    const flow = workflow("flow", async (ctx) => {
      for (let n = 0; n < 6; n++) await ctx.step(`s${n}`, () => call(n));
      return "end";
    });
    let engine = lab.engine([flow], { recovery: { maxAttempts: 2 } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const counted: (number | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      await lab.clock.advance(1_000);
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      engine = lab.engine([flow], { recovery: { maxAttempts: 2 } });
      await lab.drive(engine.recover());
      counted.push((await engine.get("r"))?.recoveries);
    }
    expect(await lab.drive(engine.result("r"))).toBe("end");
    expect(Math.max(...counted.map((count) => count ?? 0))).toBeLessThanOrEqual(2);
  });

  it("raises an alarm for every attempt from the given one on (S1-46)", async () => {
    const lab = createLab();
    const alarms: EngineEvent[] = [];
    const logged: string[] = [];
    const quiet = (): void => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (text: string) => void logged.push(text),
    };
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    let engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    for (let n = 0; n < 4; n++) {
      await lab.crash(engine);
      await lab.clock.advance(20_000);
      engine = lab.engine([flow], { logger, recovery: { alarmAfter: 2, maxAttempts: 3 } });
      engine.on("recovery_alarm", (event) => alarms.push(event));
      await lab.drive(engine.recover());
      await lab.clock.advance(100);
    }
    expect(alarms).toMatchObject(
      [2, 3, 4].map((recovery) => ({ type: "recovery_alarm", runId: "r", recovery, limit: 3 })),
    );
    expect(logged.filter((text) => text.includes("keeps losing its worker"))).toHaveLength(3);
  });

  it("that gets nowhere in the time allowed is left to a person", async () => {
    const lab = createLab();
    let stuck = false;
    const flow = workflow("flow", async (ctx) => {
      if (stuck) await hangs();
      return ctx.step("s", ({ attempt }) => (attempt === 1 ? hangs() : "through"));
    });
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(first);
    await lab.clock.advance(20_000);
    stuck = true;
    const engine = lab.engine([flow], { recovery: { timeoutMs: 60_000 } });
    await lab.drive(engine.recover());
    await lab.clock.advance(59_000);
    expect((await engine.get("r"))?.status).toBe("running");
    await lab.clock.advance(2_000);
    const run = await engine.get("r");
    expect(run?.waiting[0]?.detail).toContain("HF-2118");
    expect(engine.health().worker.running).toBe(0);
    stuck = false;
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("through");
  });

  it("that has written anything, or waits, has all the time it needs", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("s", ({ attempt }) =>
        attempt === 1 ? hangs() : new Promise<void>((resolve) => lab.clock.setTimer(resolve, 200_000)),
      );
      return "slow";
    });
    const engine = await killed(lab, flow, 1, { recovery: { timeoutMs: 60_000 } });
    expect(await lab.drive(engine.result("r"))).toBe("slow");
  });
});

describe("a run that is given up", () => {
  it("leaves no step begun behind its last word", async () => {
    const lab = createLab();
    let isStuck = false;
    const stuck = signalled();
    const flow = workflow("flow", async (ctx) => {
      if (isStuck) await stuck.promise;
      await ctx.step("pay", ({ attempt }) => (attempt === 1 ? hangs() : undefined));
    });
    const first = lab.engine([flow]);
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(first);
    await lab.clock.advance(20_000);
    isStuck = true;
    // The body comes round in the very moment in which the time is up.
    const setTimer: typeof lab.clock.setTimer = (callback, ms, options) =>
      lab.clock.setTimer(() => (callback(), ms === 60_000 && stuck.resolve()), ms, options);
    const clock = { ...lab.clock, setTimer };
    const recovery = { timeoutMs: 60_000 };
    const engine = createEngine({ store: lab.store, workflows: [flow], clock, recovery });
    await lab.drive(engine.recover());
    await lab.clock.advance(61_000);
    expect((await engine.get("r"))?.waiting[0]?.detail).toContain("HF-2118");
    const last = (await lab.store.entries("r", { from: 1, limit: 100 })).at(-1);
    expect(last?.head).toContain("run_waiting");
    expect(last?.count).toBe(1);
  });
});

describe("a damaged run", () => {
  let calls = 0;
  const bulk = (): string[] => Array.from({ length: 7 }, () => "x".repeat(1000));
  const turns = workflow("flow", (ctx) =>
    ctx.loop("turn", { n: 0, calls: 0 }, async (state, turn) => {
      await ctx.step("bulk", bulk);
      state.calls = await ctx.step("count", () => ++calls);
      state.n++;
      await ctx.step("hang", ({ attempt }) => (turn.index === 17 && attempt === 1 ? hangs() : undefined));
      return turn.index === 20 ? turn.done() : undefined;
    }),
  );

  /** A run that died in its loop with some snapshots behind it. */
  async function died(): Promise<{ lab: Lab; entries: readonly Entry[]; snapshots: number[] }> {
    const lab = createLab();
    calls = 0;
    const engine = lab.engine([turns]);
    await lab.drive(engine.start(turns, undefined, { id: "r" }));
    await lab.clock.advance(1_000);
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
    const snapshots = entries.filter(({ head }) => head.includes('["snapshot_taken"'));
    return { lab, entries, snapshots: snapshots.map(({ seq }) => seq) };
  }

  /** The store with these snapshots changed. */
  const withoutSnapshots = (store: Store, broken: readonly number[]): Store => ({
    ...store,
    blobs: async (runId, hashes) => {
      const entries = await store.entries(runId, { from: 1, limit: 1_000 });
      const heads = entries.filter(({ seq }) => broken.includes(seq)).map(({ head }) => head);
      const isBroken = (hash: string) => heads.some((head) => head.includes(hash));
      const found = await store.blobs(runId, hashes);
      return new Map([...found].map(([hash, text]) => [hash, isBroken(hash) ? `${text} ` : text]));
    },
  });

  /** The store with one entry changed, or without it. */
  const withEntry = (store: Store, at: number, change: (entry: Entry) => Entry[]): Store => ({
    ...store,
    entries: async (runId, range) =>
      (await store.entries(runId, range)).flatMap((entry) => (entry.seq === at ? change(entry) : [entry])),
  });

  const review = async (
    lab: Lab,
    store: Store,
    recovery: EngineOptions["recovery"] = {},
  ): Promise<string> => {
    const engine = lab.engine([turns], { store, recovery });
    await lab.drive(engine.recover());
    const run = await lab.drive(engine.settled("r"));
    expect(run.waiting[0]?.kind).toBe("review");
    expect(calls).toBe(18);
    return run.waiting[0]?.detail ?? "";
  };

  it("goes on from an older snapshot, or from the whole journal, as from the newest (S4-08)", async () => {
    for (const left of [3, 2, 1, 0]) {
      const { lab, snapshots } = await died();
      expect(snapshots).toHaveLength(3);
      const engine = lab.engine([turns], { store: withoutSnapshots(lab.store, snapshots.slice(left)) });
      await lab.drive(engine.recover());
      expect(await lab.drive(engine.result("r"))).toEqual({ n: 21, calls: 21 });
      expect(calls).toBe(21);
    }
  });

  it("waits for review at the first damage where falling back is off", async () => {
    const { lab, snapshots, entries } = await died();
    const newest = snapshots.at(-1) as number;
    const store = withoutSnapshots(lab.store, [newest]);
    const detail = await review(lab, store, { fallbackToPrevious: false });
    expect(detail).toMatch(new RegExp(`HF-3010 .* damaged at #${newest}\\. Blob .* missing or changed`));
    // The journal is whole, so a fork can still start from its end: the claim that found the damage.
    const last = entries.at(-1) as Entry;
    expect(detail).toContain(`The last good checkpoint is r@${last.seq + last.count}.`);
  });

  const lastGood = (detail: string): string | undefined =>
    /The last good checkpoint is (\S+)\./.exec(detail)?.[1];

  /** The newest one that can be forked from, of those the damage at `seq` leaves alone. */
  const checkpointBefore = async (lab: Lab, seq: number): Promise<string | undefined> => {
    const newestFirst = await lab
      .engine([], { execute: false })
      .checkpoints.list("r", { limit: 1_000, all: true });
    return newestFirst.find((one) => one.seq < seq)?.id;
  };

  it("names the last good checkpoint when nothing loads", async () => {
    const changes: [string, (entry: Entry) => Entry[]][] = [
      ["a value", (entry) => [{ ...entry, data: `${entry.data?.slice(0, -1)}~` }]],
      ["a missing entry", () => []],
      // Only the next entry tells, and neither of the two is believed.
      ["a head", (entry) => [{ ...entry, head: entry.head.replace('"e":1', '"e":2') }]],
    ];
    for (const [what, change] of changes) {
      for (const where of ["before the snapshots", "after them"]) {
        const { lab, snapshots, entries } = await died();
        const from = where === "after them" ? (snapshots.at(-1) as number) + 4 : 12;
        const { seq } = entries.find((entry) => entry.seq >= from && entry.data !== null) as Entry;
        const store = withEntry(lab.store, seq, change);
        if (where === "after them") {
          const detail = await review(lab, store);
          expect(detail, what).toContain("HF-3010");
          expect(lastGood(detail), what).toBe(await checkpointBefore(lab, seq));
        } else {
          // What lies before the newest snapshot is not needed to go on, and is when it is damaged too.
          const detail = await review(lab, withoutSnapshots(store, snapshots));
          expect(lastGood(detail), what).toBe(await checkpointBefore(lab, seq));
        }
      }
    }
  });

  it("says so when no checkpoint can be read at all", async () => {
    const { lab } = await died();
    const store = withEntry(lab.store, 1, (entry) => [{ ...entry, data: "~" }]);
    const detail = await review(lab, withoutSnapshots(store, (await died()).snapshots));
    expect(detail).toContain("No checkpoint of it can be read.");
  });
});
