import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { chat, codeOf, rowOf, run, stateAt } from "../../../../test/support/retention.ts";
import { type RetentionPolicy, workflow } from "../../../index.ts";
import { AnswerSchemas } from "../../answer-schemas.ts";
import { systemIds } from "../../ids.ts";
import { Acts } from "../../journal/acts.ts";
import { Folds } from "../../journal/folds.ts";
import { JustRead } from "../../journal/just-read.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { RunLogs } from "../../journal/run-logs.ts";
import { Values } from "../../journal/values.ts";
import { silentLogger } from "../../logger.ts";
import { systemProcesses } from "../../process-proof.ts";
import { CommitQueue } from "../../store/commit.ts";
import type { Store } from "../../store/contract.ts";
import { StoreHealth } from "../../store/health.ts";
import { StoreTime } from "../../store/time.ts";
import { RetentionLoop } from "./loop.ts";

const HOUR = 3_600_000;
const AT_ONCE: RetentionPolicy = { preset: "seed0", onExpiry: "keep-record" };
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));

function partsOf({ clock, store }: Lab, logged: string[] = []): EngineParts {
  const note = (message: string) => void logged.push(message);
  const logger = { ...silentLogger, info: note, warn: note, error: note };
  const ports = { clock, logger, ids: systemIds, probe: () => undefined, processes: systemProcesses };
  const health = new StoreHealth(clock, { failing: () => undefined, recovered: () => undefined });
  const options = { patienceMs: 100, ahead: false, health, onFailure: () => undefined };
  const time = new StoreTime(store, clock);
  const values = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, logger);
  return {
    store,
    acts: new Acts(store, new CommitQueue(store, ports, options), time),
    values,
    folds: new Folds(store, values),
    justRead: new JustRead(),
    ports,
    time,
    workflows: new Map(),
    answerSchemas: new AnswerSchemas(),
    logs: new RunLogs(store.documents, ports),
    written: () => undefined,
  };
}

const prunedAt = async (lab: Lab, id: string): Promise<number | null> =>
  (await rowOf(lab.store, id)).prunedAt;

describe("retention in the background", () => {
  it("comes again and again until it is stopped", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const loop = new RetentionLoop(partsOf(lab), { policy: AT_ONCE, sweepMs: HOUR });
    loop.start();
    loop.start();
    await run(lab, engine, greet, "a", "Ada");
    await lab.crash(engine);
    expect(await prunedAt(lab, "a")).toBeNull();
    await lab.clock.advance(10_000);
    expect(await prunedAt(lab, "a")).not.toBeNull();
    const next = lab.engine([greet]);
    await run(lab, next, greet, "b", "Ben");
    await lab.crash(next);
    await lab.clock.advance(HOUR);
    expect(await prunedAt(lab, "b")).not.toBeNull();
    const last = lab.engine([greet]);
    await run(lab, last, greet, "c", "Cid");
    await lab.crash(last);
    await loop.stop();
    loop.start();
    await lab.clock.advance(2 * HOUR);
    expect(await prunedAt(lab, "c")).toBeNull();
  });

  it("stops between two writes, and not before the one under way is done", async () => {
    const lab = createLab();
    const flow = chat(350, 5_000);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    await lab.drive(engine.cancel("a"));
    await lab.crash(engine);
    const loop = new RetentionLoop(partsOf(lab), { policy: AT_ONCE });
    let stopped: Promise<void> | undefined;
    const append = lab.store.append.bind(lab.store);
    const writes: number[] = [];
    Object.assign(lab.store, {
      append: async (batch: Parameters<Store["append"]>[0]) => {
        stopped ??= loop.stop();
        writes.push(batch.length);
        return append(batch);
      },
    });
    loop.start();
    await lab.clock.advance(10_000);
    await stopped;
    expect(writes).toHaveLength(1);
    expect(await prunedAt(lab, "a")).toBeNull();
  });

  it("does not read runs again that have not changed", async () => {
    const lab = createLab();
    const flow = chat(90);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    await lab.crash(engine);
    let reads = 0;
    const entries = lab.store.entries.bind(lab.store);
    Object.assign(lab.store, {
      entries: (...args: Parameters<Store["entries"]>) => (reads++, entries(...args)),
    });
    const loop = new RetentionLoop(partsOf(lab), { policy: "dag", sweepMs: 1_000 });
    loop.start();
    await lab.clock.advance(1_000);
    expect(reads).toBeGreaterThan(0);
    reads = 0;
    await lab.clock.advance(5_000);
    expect(reads).toBe(0);
    await loop.stop();
  });

  it("is there by itself in an engine that works, and drops what its time has come for (S4-07)", async () => {
    const lab = createLab();
    const engine = lab.engine([greet], { sweepMs: HOUR });
    await run(lab, engine, greet, "a", "Ada");
    await lab.clock.advance((7 * 24 - 1) * HOUR);
    expect(await prunedAt(lab, "a")).toBeNull();
    await lab.clock.advance(2 * HOUR);
    expect(await prunedAt(lab, "a")).not.toBeNull();
    await lab.crash(engine);
  });

  it("asks the store for next to nothing when there is nothing to do", async () => {
    const lab = createLab();
    const wait = workflow("wait", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
    const engine = lab.engine([wait, greet]);
    for (let n = 0; n < 450; n++) await lab.drive(engine.start(wait, undefined, { id: `w${n}` }));
    for (let n = 0; n < 5; n++) await run(lab, engine, greet, `g${n}`, "Ada");
    await lab.drive(engine.settled("w449"));
    await lab.crash(engine);
    const calls: Record<string, number> = {};
    const counted = new Proxy(lab.store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          calls[String(name)] = (calls[String(name)] ?? 0) + 1;
          return (value as (...given: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const sweeps = async (policy: RetentionPolicy): Promise<Record<string, number>> => {
      const loop = new RetentionLoop(partsOf({ ...lab, store: counted }), { policy, sweepMs: HOUR });
      loop.start();
      await lab.clock.advance(HOUR);
      for (const name of Object.keys(calls)) delete calls[name];
      await lab.clock.advance(HOUR);
      await loop.stop();
      return { ...calls };
    };
    expect(await sweeps("default")).toEqual({ now: 1, list: 1 });
    expect(await sweeps("forever")).toEqual({});
    expect(await sweeps({ keepLast: 5 })).toEqual({ now: 1, list: 3 });
    expect(await sweeps({ maxAge: "90d", keepSuccessful: 1 })).toEqual({ now: 1, list: 1 });
  });

  it("leaves N checkpoints whenever one is added, in a run that goes on and by any reader (S2-05, S2-22, S2-27)", async () => {
    const lab = createLab();
    const flow = workflow("steps", async (ctx) => {
      for (let n = 0; n < 12; n++) await ctx.step(`s${n}`, () => "x".repeat(100));
      await ctx.gate("ok", { choices: ["yes"] });
      for (let n = 12; n < 300; n++) await ctx.step(`s${n}`, () => "x");
      return "done";
    });
    const engine = lab.engine([flow], { retention: { keepLast: 5 } });
    const reader = lab.engine([], { execute: false });
    const kept = async () =>
      (await lab.drive(reader.checkpoints.list("a"))).map(({ step }) => step).reverse();
    await run(lab, engine, flow, "a");
    expect(await kept()).toEqual(["s7", "s8", "s9", "s10", "s11"]);
    expect(await codeOf(lab.drive(reader.fork("a@s6")))).toBe("HF-1023");
    await lab.drive(engine.answer("a", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("a"))).toBe("done");
    expect(await kept()).toEqual(["s296", "s297", "s298", "s299", ""]);
    for (const { id } of await lab.drive(reader.checkpoints.list("a")))
      expect(await lab.drive(reader.checkpoints.show(id))).toMatchObject({ id });
    expect(await lab.drive(reader.checkpoints.validate("a"))).toMatchObject({ ok: true, checkpoints: 5 });
    // Nobody had to write that down besides: the claim says it.
    expect(await lab.drive(reader.retention.preview({ keepLast: 5 }))).toMatchObject({ runs: [] });
  });

  it("drops what a long loop has outgrown while it goes on (S2-05)", async () => {
    const lab = createLab();
    const flow = chat(400);
    const engine = lab.engine([flow], { retention: { keepLast: 2 } });
    let drops = 0;
    engine.on("values_dropped", () => void drops++);
    await lab.drive(engine.start(flow, "", { id: "a" }));
    await lab.drive(engine.settled("a"));
    await lab.clock.advance(1_000);
    expect(drops).toBeGreaterThan(0);
    expect(await codeOf(stateAt(lab.store, "a", 100))).toBe("HF-1023");
    expect(await lab.drive(engine.checkpoints.list("a"))).toHaveLength(2);
  });

  it("deletes a run when it ends, or when the engine is closed right after, and a failed one after 30 days (S0-37, S0-39, S0-47)", async () => {
    const lab = createLab();
    const fails = workflow("fails", (ctx) =>
      ctx.step("no", () => Promise.reject(new Error("no")), { retry: false }),
    );
    const engine = lab.engine([greet, fails], { retention: "seed0" });
    await run(lab, engine, greet, "a", "Ada");
    expect(await lab.drive(engine.result("a"))).toBe("Hello Ada");
    await lab.clock.advance(1_000);
    expect(await lab.store.read("a")).toBeNull();
    expect(await lab.store.entries("a", { from: 1, limit: 10 })).toEqual([]);
    await run(lab, engine, fails, "failed");
    await run(lab, engine, greet, "b", "Ben");
    await lab.drive(engine.close());
    expect(await lab.store.read("b")).toBeNull();
    expect(await prunedAt(lab, "failed")).toBeNull();
    const later = async (days: number) => {
      lab.clock.jump(days * 24 * HOUR);
      const short = lab.engine([greet], { retention: "seed0" });
      await lab.drive(short.recover());
      await lab.drive(short.close());
      return lab.store.read("failed");
    };
    expect(await later(29)).toMatchObject({ status: "failed" });
    expect(await later(2)).toBeNull();
  });

  it("goes on at the next time when the store has failed, and says so", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "Ada");
    await lab.crash(engine);
    const list = lab.store.list.bind(lab.store);
    let fails = true;
    Object.assign(lab.store, {
      list: (query: Parameters<Store["list"]>[0]) =>
        fails ? Promise.reject(new Error("away")) : list(query),
    });
    const logged: string[] = [];
    const loop = new RetentionLoop(partsOf(lab, logged), { policy: { maxAge: 0 }, sweepMs: 1_000 });
    loop.start();
    await lab.clock.advance(1_000);
    expect(logged).toEqual(["retention failed"]);
    fails = false;
    await lab.clock.advance(1_000);
    expect(logged).toEqual(["retention failed", "values dropped"]);
    await loop.stop();
  });

  it("refuses a policy or a time that is not valid", async () => {
    const parts = partsOf(createLab());
    const made = async (options: object) => new RetentionLoop(parts, options as { policy: "default" });
    expect(await codeOf(made({ policy: { maxage: 1 } }))).toBe("HF-1003");
    for (const sweepMs of [0, -1, Number.NaN])
      expect(await codeOf(made({ policy: "default", sweepMs }))).toBe("HF-1003");
  });
});
