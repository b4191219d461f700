import { Mastra } from "@mastra/core";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Store } from "../../core/store/contract.ts";
import { createEngine } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { mastraStorage } from "./index.ts";

const order = z.object({ cents: z.number() });
const done = z.object({ ok: z.boolean() });
const calls: string[] = [];
afterEach(() => calls.splice(0));

const charge = createStep({
  id: "charge",
  inputSchema: order,
  outputSchema: order,
  execute: async ({ inputData }) => {
    calls.push("charge");
    return inputData;
  },
});
const approve = createStep({
  id: "approve",
  inputSchema: order,
  outputSchema: done,
  resumeSchema: done,
  suspendSchema: z.object({ ask: z.string() }),
  execute: async ({ inputData, resumeData, suspend }) =>
    resumeData ?? suspend({ ask: `Pay ${inputData.cents} cents?` }),
});
const send = createStep({
  id: "send",
  inputSchema: done,
  outputSchema: done,
  execute: async ({ inputData }) => {
    calls.push("send");
    if (!inputData.ok) throw new Error("nobody agreed");
    return inputData;
  },
});

/** A Mastra application as a new process has it: nothing is shared but the store. */
async function application(store: Store) {
  const pay = createWorkflow({ id: "pay", inputSchema: order, outputSchema: done })
    .then(charge)
    .then(approve)
    .then(send)
    .commit();
  const storage = await mastraStorage(store);
  const mastra = new Mastra({ logger: false, storage, workflows: { pay } });
  const runs = await storage.getStore("workflows");
  if (!runs) throw new Error("no workflows");
  return { storage, runs, run: await mastra.getWorkflow("pay").createRun({ runId: "r-1" }) };
}

async function stored(store: Store) {
  const engine = createEngine({ store, execute: false });
  const { runs } = await engine.list();
  return { engine, runs };
}

describe("a Mastra workflow", () => {
  it("waits in the store while it is suspended, and goes on in another process without repeating a step (S1-76)", async () => {
    const store = createMemoryStore();
    const first = await application(store);
    expect(await first.run.start({ inputData: { cents: 7 } })).toMatchObject({ status: "suspended" });
    await first.storage.close();
    const [waiting] = (await stored(store)).runs;
    expect(waiting).toMatchObject({
      workflow: "mastra-workflow",
      name: "pay",
      labels: { mastra_workflow: "pay", mastra_run: "r-1" },
      status: "waiting",
      waiting: [{ step: "resume", detail: "Mastra has suspended it at approve." }],
    });

    const second = await application(store);
    const resumed = await second.run.resume({ step: "approve", resumeData: { ok: true } });
    expect(resumed).toMatchObject({ status: "success", result: { ok: true } });
    expect(calls).toEqual(["charge", "send"]);
    const { engine, runs } = await stored(store);
    expect(runs).toMatchObject([{ status: "completed" }]);
    expect(await engine.checkpoints.validate(runs[0]?.id ?? "")).toMatchObject({ ok: true });
  });

  it("has failed in the list when it has failed, and can be run again from there", async () => {
    const store = createMemoryStore();
    const { run, runs } = await application(store);
    await run.start({ inputData: { cents: 7 } });
    expect(await run.resume({ step: "approve", resumeData: { ok: false } })).toMatchObject({
      status: "failed",
    });
    expect((await stored(store)).runs).toMatchObject([{ status: "failed" }]);
    const args = { workflowName: "pay", runId: "r-1" };
    await runs.updateWorkflowState({ ...args, opts: { status: "running" } });
    expect((await stored(store)).runs).toMatchObject([{ status: "waiting" }]);
  });

  it("that is written again after its end is a new run, and is listed once by Mastra", async () => {
    const store = createMemoryStore();
    const { run, runs } = await application(store);
    await run.start({ inputData: { cents: 7 } });
    await run.resume({ step: "approve", resumeData: { ok: true } });
    const args = { workflowName: "pay", runId: "r-1" };
    await runs.updateWorkflowState({ ...args, opts: { status: "running" } });
    expect((await stored(store)).runs.map(({ status }) => status).sort()).toEqual(["completed", "waiting"]);
    const { runs: listed, total } = await runs.listWorkflowRuns({ workflowName: "pay" });
    expect([total, listed.map(({ snapshot }) => Reflect.get(Object(snapshot), "status"))]).toEqual([
      1,
      ["running"],
    ]);
    await runs.deleteWorkflowRunById(args);
    expect((await stored(store)).runs).toEqual([]);
    expect(await runs.loadWorkflowSnapshot(args)).toBeNull();
  });

  it("that a person has cancelled in Holdfast takes no more snapshots", async () => {
    const store = createMemoryStore();
    const { run, runs } = await application(store);
    await run.start({ inputData: { cents: 7 } });
    const { engine, runs: rows } = await stored(store);
    await engine.cancel(rows[0]?.id ?? "");
    const write = runs.updateWorkflowState({
      workflowName: "pay",
      runId: "r-1",
      opts: { status: "running" },
    });
    await expect(write).rejects.toMatchObject({ code: "HF-4620" });
  });

  it("is told which of two resumes came first", async () => {
    const store = createMemoryStore();
    const [one, other] = [await application(store), await application(store)];
    await one.run.start({ inputData: { cents: 7 } });
    const claim = {
      workflowName: "pay",
      runId: "r-1",
      opts: { status: "running", expectedStatus: "suspended" },
    } as const;
    const claims = await Promise.all([one, other].map(({ runs }) => runs.updateWorkflowState(claim)));
    expect(claims.filter((claimed) => claimed !== undefined)).toHaveLength(1);
  });

  it("costs what a snapshot adds, not what it holds", async () => {
    const store = createMemoryStore();
    const { runs } = await application(store);
    const text = "x".repeat(2_000);
    const context: Record<string, unknown> = {};
    const sizes: number[] = [];
    for (let n = 0; n < 40; n++) {
      context[`step-${n}`] = { status: "success", output: `${n} ${text}` };
      const snapshot = { runId: "long", status: "running", context, value: {} } as never;
      await runs.persistWorkflowSnapshot({ workflowName: "pay", runId: "long", snapshot });
      const { engine, runs: rows } = await stored(store);
      if (n !== 19 && n !== 39) continue;
      let size = 0;
      for await (const line of engine.transfer.exportRun(rows[0]?.id ?? "")) size += line.length;
      sizes.push(size);
    }
    const [half = 0, whole = 0] = sizes;
    expect(whole / half).toBeLessThan(2.2);
  });

  it("keeps what steps return as JSON would, whatever its keys, and leaves out what never ends", async () => {
    const { runs } = await application(createMemoryStore());
    const odd: Record<string, unknown> = {
      big: 12n,
      at: new Date(0),
      none: undefined,
      run: () => 1,
      bad: new Error("lost"),
    };
    odd["self"] = odd;
    const named = JSON.parse('{ "constructor": { "prototype": 2 }, "~": 3 }') as object;
    const context = { odd: { status: "success", output: odd }, named: { status: "success", output: named } };
    const args = { workflowName: "pay", runId: "odd" };
    await runs.persistWorkflowSnapshot({ ...args, snapshot: { status: "running", context } as never });
    const loaded = await runs.loadWorkflowSnapshot(args);
    expect(loaded?.context["odd"]).toEqual({
      status: "success",
      output: { big: "12", at: "1970-01-01T00:00:00.000Z", bad: { name: "Error", message: "lost" } },
    });
    expect(JSON.stringify(loaded?.context["named"])).toBe(
      JSON.stringify({ status: "success", output: named }),
    );
  });
});
