import { afterAll, describe, expect, it } from "vitest";
import {
  all,
  approval,
  calls,
  callsOf,
  large,
  rows,
  sums,
  turns,
} from "../../../test/support/engines/workflows.ts";
import { sharedTemporal } from "../../../test/support/services/temporal.ts";
import { createEngine, type Engine, workflow } from "../../index.ts";
import { localKeyring } from "../../security/keyring.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { accepted, creation, outsideAct, take } from "../../testing/conformance/index.ts";
import { codecOptions } from "./codec.ts";
import { MEMO } from "./contract.ts";
import { Holds } from "./holds.ts";
import { createTemporalEngine, temporalAddress, temporalWorker } from "./index.ts";
import { signalled } from "./life.ts";
import { Link } from "./link.ts";
import { TemporalStore } from "./store.ts";

const { address = "", bundle, missing } = await sharedTemporal();
const taskQueue = `temporal-${process.pid}`;
// A busy machine may be late with its heartbeats.
const HEARTBEAT_MS = 4_000;
const where = { address, taskQueue, heartbeatMs: HEARTBEAT_MS };
const worker =
  missing === undefined
    ? await temporalWorker({ ...where, workflows: all, bundle, appendsPerExecution: 15 })
    : undefined;
const engine = createTemporalEngine({ ...where, workflows: all, appendsPerExecution: 15 });
afterAll(async () => {
  await engine.close();
  await worker?.close();
});

const id = (name: string): string => `${name}-${process.pid}`;

const moving = workflow("moving", async (ctx) => {
  const said = async (name: string) =>
    ctx.step(name, () => {
      calls.set(ctx.runId, [...callsOf(ctx.runId), name]);
      return name;
    });
  const before = await said("one");
  await ctx.gate("first", { choices: ["on"] });
  const between = await said("two");
  await ctx.gate("second", { choices: ["on"] });
  return [before, between, await said("three")];
});

/** Values sealed under a key of this name. */
function sealed(name: string, byte: number) {
  const key = Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + byte) % 256);
  return { dataConverter: codecOptions({ keyring: localKeyring(() => new Map([[name, key]])) }) };
}

const nothing = (): void => undefined;

/** The number of the life that the worker of a queue is in. */
async function lifeIn(link: Link, queue: string): Promise<number> {
  const { client } = await link.raw();
  const query = `WorkflowType = 'holdfastWorker' AND TaskQueue = '${queue}'`;
  for await (const { workflowId } of client.workflow.list({ query })) {
    const { memo } = await client.workflow.getHandle(workflowId).describe();
    return Number(String(memo?.[MEMO.life]).split(".").at(-1));
  }
  return 0;
}

/** The history of a run's newest execution, as Temporal has it. */
async function history(runId: string): Promise<readonly unknown[]> {
  const link = new Link(where);
  const { client } = await link.raw();
  const handle = client.workflow.getHandle(runId) as unknown as {
    fetchHistory(): Promise<{ events: unknown[] }>;
  };
  const { events } = await handle.fetchHistory();
  await link.close();
  return events;
}

describe.skipIf(missing !== undefined)("S1-74: runs on Temporal's open-source server", () => {
  it("S1-67: a long loop is continued as new, with a bounded history", async () => {
    const run = await engine.start(turns, { turns: 50 }, { id: id("long") });
    expect(await run.result()).toMatchObject({ sum: 1225 });
    expect(new Set(callsOf(run.id)).size).toBe(50);
    expect(callsOf(run.id)).toHaveLength(50);
    expect((await history(run.id)).length).toBeLessThan(200);
    const { events: first } = await engine.reports.events(run.id, { limit: 3 });
    expect(first[0]).toMatchObject({ kind: "run_created", seq: 1 });
    expect(await engine.checkpoints.validate(run.id)).toMatchObject({ ok: true });
  });

  it("the history grows by at most six events with each turn of a loop", async () => {
    const many = createTemporalEngine({ ...where, workflows: all });
    const counts = [];
    for (const turnsOf of [5, 25]) {
      const run = await many.start(turns, { turns: turnsOf }, { id: id(`events-${turnsOf}`) });
      await run.result();
      counts.push((await history(run.id)).length);
    }
    await many.close();
    expect(((counts[1] as number) - (counts[0] as number)) / 20).toBeLessThanOrEqual(6);
  });

  it("a value that is too large is refused with its size, and the run fails or waits with the reason", async () => {
    const run = await engine.start(large, 100_000, { id: id("fits") });
    expect(await run.result()).toBe(100_000);
    await expect(engine.start(large, "x".repeat(3_000_000) as never, { id: id("huge") })).rejects.toThrow(
      /too large|HF-7004|HF-20/,
    );
  });

  it("a transaction is refused with a reason: there is no database of one's own", async () => {
    const run = await engine.start(rows, undefined, { id: id("rows") });
    await expect(run.result()).rejects.toMatchObject({ code: "HF-2101" });
    expect((await run.row())?.error).toMatch(/transaction/i);
  });

  it("an answer to a gate that isn't open is refused", async () => {
    const run = await engine.start(approval, 1, { id: id("closed-gate") });
    await run.settled();
    await expect(run.answer("other", { choice: "yes" })).rejects.toMatchObject({ code: "HF-1013" });
    await run.cancel();
    await expect(run.answer("approve", { choice: "yes" })).rejects.toMatchObject({
      code: expect.stringMatching(/^HF-10/),
    });
  });

  it("a run whose code no worker has waits until one has it", async () => {
    const late = workflow("late", async (ctx) => ctx.step("say", () => "at last"));
    const client = createTemporalEngine({ ...where, workflows: [late] });
    const run = await client.start(late, undefined, { id: id("late") });
    await expect.poll(async () => (await run.row())?.status, { timeout: 10_000 }).toBe("queued");
    worker?.engine.register(late as never);
    expect(await run.result()).toBe("at last");
    await client.close();
  });

  it("a blocked event loop is not taken for a crash", async () => {
    const blocks = workflow("blocks", async (ctx) => {
      const epochs = await ctx.step("compute", ({ epoch, attempt }) => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * HEARTBEAT_MS);
        return [epoch, attempt];
      });
      return epochs;
    });
    worker?.engine.register(blocks as never);
    const run = await engine.start(blocks, undefined, { id: id("blocks") });
    expect(await run.result()).toEqual([1, 1]);
    expect(await run.row()).toMatchObject({ recoveries: 0, claim: { epoch: 1 } });
  });

  it("S1-64: a process that is silent for too long keeps what nobody else has taken, in another life", async () => {
    // What a heartbeat names is sealed like everything else.
    const apart = { ...sealed("k1", 1), address, taskQueue: `${taskQueue}-silent`, heartbeatMs: 1_000 };
    let goOn = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const silent = workflow("silent", async (ctx) => {
      await ctx.step("block", () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
      });
      return ctx.step("wait", async ({ epoch }) => {
        await released;
        return epoch;
      });
    });
    const own = await temporalWorker({ ...apart, workflows: [silent], bundle, blockedMs: 300 });
    const run = await own.engine.start(silent, undefined, { id: id("silent") });
    const link = new Link(apart);
    await expect.poll(() => lifeIn(link, apart.taskQueue), { timeout: 60_000 }).toBeGreaterThan(1);
    goOn();
    expect(await run.result()).toBe(1);
    expect(await run.row()).toMatchObject({ recoveries: 0 });
    await link.close();
    await own.close();
  });

  it("S1-64: a claim that comes after the end of its worker's life is refused", async () => {
    const link = new Link(where);
    const settings = { heartbeatMs: HEARTBEAT_MS, appendsPerExecution: 15 };
    const late = {
      join: async () => "w#e.1",
      leave: nothing,
      giveUp: nothing,
      beat: nothing,
      quiet: nothing,
    };
    const holds = new Holds(late, () => true);
    const store = new TemporalStore({ link, settings, holds, isWorking: () => true });
    const begun = creation({ run: { id: id("late-claim"), wakeAt: null }, claim: { kind: "release" } });
    const row = await accepted(store, begun);
    await signalled(link, row.id, { life: "w#e.1" });
    const claim = outsideAct(row, { claim: take("ada") });
    expect(await store.append([claim])).toMatchObject([{ ok: false, reason: "conflict", row: { seq: 1 } }]);
    await store.close();
  });

  it("a result is waited for while no worker is there", async () => {
    const warned: string[] = [];
    const quiet = (): void => undefined;
    const logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (text: string) => void warned.push(text),
    };
    const apart = { ...where, taskQueue: `${taskQueue}-apart`, workflows: all };
    const client = createTemporalEngine({ ...apart, logger, storePatienceMs: 1 });
    const run = await client.start(sums, 3, { id: id("apart") });
    const result = run.result();
    await expect.poll(() => warned.join(" "), { timeout: 40_000 }).toContain("no worker answers");
    const late = await temporalWorker({ ...apart, bundle });
    await result;
    expect(callsOf(run.id)).toHaveLength(4);
    await client.close();
    await late.close();
  });

  it("a client without the key of sealed histories says which key is missing", async () => {
    const apart = { ...where, taskQueue: `${taskQueue}-sealed`, workflows: all };
    const mine = createTemporalEngine({ ...apart, ...sealed("k1", 1) });
    const run = await mine.start(approval, 1, { id: id("sealed") });
    const other = createTemporalEngine({ ...apart, ...sealed("k2", 2), storePatienceMs: 1 });
    await expect(other.start(approval, 1, { id: run.id })).rejects.toThrow(/HF-7100|key k1/);
    await other.close({ drainMs: 0 });
    await mine.close({ drainMs: 0 });
  });

  it("a run of a store goes on here where it stands, and back in a store, and repeats nothing", async () => {
    const home = createEngine({ store: createMemoryStore(), workflows: [moving] });
    const away = createEngine({ store: createMemoryStore(), workflows: [moving] });
    worker?.engine.register(moving as never);
    const there = createTemporalEngine({ ...where, workflows: [moving] });
    const runId = id("moves");
    const accept = { actor: "ada", reason: "moved" };
    const hand = async (from: Engine, to: Engine): Promise<void> => {
      await from.pause(runId, { reason: "moving" });
      await from.settled(runId);
      await to.transfer.importRuns(from.transfer.exportRun(runId), { accept });
      await to.resume(runId);
      await to.settled(runId);
    };
    await home.start(moving, undefined, { id: runId });
    await home.settled(runId);
    await hand(home, there);
    await there.answer(runId, "first", { choice: "on" });
    await there.settled(runId);
    expect(await there.checkpoints.validate(runId)).toMatchObject({ ok: true });
    await hand(there, away);
    await away.answer(runId, "second", { choice: "on" });
    expect(await away.result(runId)).toEqual(["one", "two", "three"]);
    expect(callsOf(runId)).toEqual(["one", "two", "three"]);
    for (const engine of [home, away, there]) await engine.close({ drainMs: 0 });
  });

  it("two engines that start the same id get the same run", async () => {
    const other = createTemporalEngine({ ...where, workflows: all });
    const both = await Promise.all([engine, other].map((one) => one.start(sums, 3, { id: id("twice") })));
    expect(await Promise.all(both.map((run) => run.result()))).toHaveLength(2);
    expect(callsOf(id("twice"))).toHaveLength(4);
    await other.close();
  });
});

describe.skipIf(missing !== undefined)("a Temporal that isn't there", () => {
  it("a server that is away has a name", async () => {
    const away = createTemporalEngine({ address: "127.0.0.1:9", workflows: all });
    await expect(away.start(sums, 1)).rejects.toThrow(/127\.0\.0\.1:9|store/i);
    await away.close({ drainMs: 0 });
  });

  it("a namespace that is missing has a name", async () => {
    const link = new Link({ address, namespace: "nowhere" });
    await expect(link.raw()).rejects.toMatchObject({ code: "HF-7002" });
    await expect(new Link({ address: "127.0.0.1:9" }).raw()).rejects.toMatchObject({ code: "HF-7001" });
  });

  it("an address is refused with what is wrong with it", () => {
    expect(temporalAddress("temporal://host:7233/team?queue=q")).toEqual({
      address: "host:7233",
      namespace: "team",
      taskQueue: "q",
    });
    for (const url of ["temporal:", "temporal://host", "temporal://host:7233/x?size=1"])
      expect(() => temporalAddress(url)).toThrow(expect.objectContaining({ code: "HF-7007" }));
  });
});
