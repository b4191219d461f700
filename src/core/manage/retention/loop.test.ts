import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { chat, codeOf, rowOf, run } from "../../../../test/support/retention.ts";
import { workflow } from "../../../index.ts";
import { systemIds } from "../../ids.ts";
import { Acts } from "../../journal/acts.ts";
import { CommitQueue } from "../../journal/commit.ts";
import { StoreTime } from "../../journal/store-time.ts";
import type { EngineParts } from "../../parts.ts";
import { silentLogger } from "../../ports.ts";
import type { Store } from "../../store.ts";
import { Values } from "../../values/values.ts";
import { StoreHealth } from "../../worker/health.ts";
import { RetentionLoop } from "./loop.ts";

const HOUR = 3_600_000;
const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));

function partsOf({ clock, store }: Lab, logged: string[] = []): EngineParts {
  const note = (message: string) => void logged.push(message);
  const logger = { ...silentLogger, info: note, warn: note, error: note };
  const ports = { clock, logger, ids: systemIds, probe: () => undefined };
  const health = new StoreHealth(clock, { failing: () => undefined, recovered: () => undefined });
  const options = { patienceMs: 100, ahead: false, health, onFailure: () => undefined };
  const time = new StoreTime(store, clock);
  return {
    store,
    acts: new Acts(store, new CommitQueue(store, ports, options), time),
    values: new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, logger),
    ports,
    time,
    workflows: new Map(),
    written: () => undefined,
  };
}

const prunedAt = async (lab: Lab, id: string): Promise<number | null> =>
  (await rowOf(lab.store, id)).prunedAt;

describe("retention in the background", () => {
  it("comes again and again until it is stopped", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    const loop = new RetentionLoop(partsOf(lab), { policy: "seed0", sweepMs: HOUR });
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
    const loop = new RetentionLoop(partsOf(lab), { policy: "seed0" });
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
    const loop = new RetentionLoop(partsOf(lab, logged), { policy: "seed0", sweepMs: 1_000 });
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
