import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { Workflow } from "../context.ts";
import { servedBy } from "./registry.ts";

const clock = { time: 1_800_000_000_000, now: () => clock.time };

const told = (owner: string, workflows: readonly Workflow[], isStopping = false) => ({
  owner,
  host: "box",
  pid: 7,
  workflows: workflows.map(servedBy),
  concurrency: 10,
  running: 0,
  isStopping,
  since: clock.time,
});

const versioned = (version: string): Workflow =>
  workflow("pay", { version, budget: { tokens: 9 } }, async (ctx, n: number) =>
    ctx.step("double", () => n * 2),
  ) as Workflow;

describe("a run that is started by its workflow's name", () => {
  it("is advanced by a worker that has the code, with the limits that it registered", async () => {
    const store = createMemoryStore();
    const other = workflow("other", async () => 1);
    // This one may advance runs, but it doesn't have the code of pay.
    const here = createEngine({ store, workflows: [other] });
    await here.workers.beat(told("w", [versioned("3")]));
    const run = await here.startNamed("pay", 21, { id: "r", labels: { team: "a" } });
    expect(await here.get("r")).toMatchObject({
      workflow: "pay",
      version: "3",
      labels: { team: "a" },
      claim: { owner: null },
    });
    const worker = createEngine({ store, workflows: [versioned("3")] });
    await worker.work();
    expect(await run.result()).toBe(42);
    expect((await here.get("r"))?.budget).toEqual({ tokens: 9 });
    await Promise.all([here.close(), worker.close()]);
  });

  it("uses the code here, and the same id is the same run", async () => {
    const engine = createEngine({ store: createMemoryStore(), workflows: [versioned("1")] });
    const run = await engine.startNamed("pay", 4, { id: "r" });
    expect(await run.result()).toBe(8);
    expect((await engine.startNamed("pay", 4, { id: "r" })).id).toBe("r");
    await expect(engine.startNamed("pay", 5, { id: "r" })).rejects.toMatchObject({ code: "HF-1041" });
    await engine.close();
  });

  it("gets the version of the worker that started last, unless that one stops or is stale", async () => {
    const engine = createEngine({ store: createMemoryStore({ clock }), execute: false });
    const version = async (id: string) => (await starts(engine, id))?.version;
    await engine.workers.beat(told("z", [versioned("1")]));
    const old = told("z", [versioned("1")]);
    clock.time += 1_000;
    await engine.workers.beat(told("a", [versioned("2")]));
    expect(await version("r1")).toBe("2");
    await engine.workers.beat(told("a", [versioned("2")], true));
    expect(await version("r2")).toBe("1");
    clock.time += 30_000;
    await expect(engine.startNamed("pay", 1)).rejects.toMatchObject({ code: "HF-5001" });
    await engine.workers.beat(old);
    expect(await version("r3")).toBe("1");
    await engine.close();
  });

  it("is refused when no worker knows it (HF-5001), or its code must see the input first (HF-5002)", async () => {
    const engine = createEngine({ store: createMemoryStore(), execute: false });
    const strict = workflow("strict", { input: z.number() }, async (_, n) => n);
    const inTurn = { ...workflow("in-turn", async () => 1), starts: () => ({ queue: "mail" }) };
    await engine.workers.beat(told("w", [strict as Workflow, inTurn]));
    await expect(engine.startNamed("in-turn", 1, { id: "r" })).rejects.toMatchObject({ code: "HF-5002" });
    await expect(engine.startNamed("pay", 1, { id: "r" })).rejects.toMatchObject({ code: "HF-5001" });
    await expect(engine.startNamed("strict", 1, { id: "r" })).rejects.toMatchObject({ code: "HF-5002" });
    expect(await engine.get("r")).toBeNull();
    await engine.close();
  });

  it("checks the input of a workflow that is known here, and creates nothing if it doesn't fit", async () => {
    const strict = workflow("strict", { input: z.number() }, async (_, n) => n);
    const engine = createEngine({ store: createMemoryStore(), workflows: [strict], execute: false });
    await expect(engine.startNamed("strict", "one", { id: "r" })).rejects.toMatchObject({ code: "HF-1042" });
    expect(await engine.get("r")).toBeNull();
    expect((await engine.startNamed("strict", 1, { id: "r" })).id).toBe("r");
    await engine.close();
  });
});

const starts = async (engine: Engine, id: string) =>
  engine.get((await engine.startNamed("pay", 1, { id })).id);
