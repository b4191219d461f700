import { beforeAll, describe, expect, it } from "vitest";
import {
  type Expected,
  everyKeyFiles,
  expectedOf,
  loadEveryKey,
} from "../../../../test/support/every-key.ts";
import { isExhaustive } from "../../../../test/support/exhaustive.ts";
import { sharedTemporal } from "../../../../test/support/services/temporal.ts";
import { interpreterBundle } from "../../../../test/support/services/temporal-interpreter.ts";
import { promptWorkflow, scriptedProvider } from "../../../agent/index.ts";
import { dagWorkflow } from "../../../dag/index.ts";
import { createEngine, HoldfastError, type Workflow, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { connectInterpreter, type InterpretedRuns, interpreterWorker } from "./index.ts";

type AnyWorkflow = Workflow<never, unknown>;

const service = await sharedTemporal();

describe.skipIf(service.missing !== undefined)(
  "S1-33: workflows that are interpreted inside Temporal",
  () => {
    const address = service.address ?? "";
    let bundle = "";
    let queue = 0;

    beforeAll(async () => {
      bundle = await interpreterBundle();
    });

    /** A worker for these workflows and a client, on a task queue of their own. */
    async function staged<T>(
      workflows: readonly unknown[],
      work: (runs: InterpretedRuns) => Promise<T>,
      settings: Parameters<typeof connectInterpreter>[0] = {},
    ): Promise<T> {
      const taskQueue = `interpreter-${process.pid}-${queue++}`;
      const worker = await interpreterWorker({
        address,
        taskQueue,
        bundle,
        workflows: workflows as readonly AnyWorkflow[],
      });
      const client = await connectInterpreter({ address, taskQueue, ...settings });
      try {
        return await work(client);
      } finally {
        await worker.close();
        await client.close();
      }
    }

    async function onTemporal(name: string, expected: Expected): Promise<unknown> {
      const { workflow: flow, parseInputs } = await loadEveryKey(name, expected);
      return staged([flow], async (client) => {
        const id = await client.start(flow, parseInputs(expected.inputs ?? {}));
        for (const { gate, ...answer } of expected.answers ?? []) {
          await openGate(client, id, gate);
          await client.answer(id, gate, answer);
        }
        return client.result(id).catch((error: unknown) => error);
      });
    }

    async function openGate(client: InterpretedRuns, id: string, gate: string): Promise<void> {
      for (;;) if ((await client.gates(id)).some((one) => one.gate === gate)) return;
    }

    async function embedded(name: string, expected: Expected): Promise<unknown> {
      const { workflow: flow, parseInputs } = await loadEveryKey(name, expected);
      const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
      try {
        await engine.start(flow, parseInputs(expected.inputs ?? {}), { id: "r" });
        for (const { gate, ...answer } of expected.answers ?? []) {
          await engine.settled("r");
          await engine.answer("r", gate, answer);
        }
        return await engine.result("r").catch((error: unknown) => error);
      } finally {
        await engine.close();
      }
    }

    /** Ids of runs differ, also in the texts of errors. */
    const plain = (outcome: unknown): unknown =>
      outcome instanceof Error
        ? {
            error: outcome.message.replace(/[Rr]un \w+/, "run"),
            code: HoldfastError.is(outcome) && outcome.code,
          }
        : outcome;

    it.each(everyKeyFiles.filter((_, n) => isExhaustive || n % 4 === 1))(
      "%s comes to the same on the embedded engine and on Temporal",
      async (name) => {
        const expected = expectedOf(name);
        expect(plain(await onTemporal(name, expected))).toEqual(plain(await embedded(name, expected)));
      },
    );

    const report = dagWorkflow("report", {
      tools: {
        search: ({ topic }, { update }) => {
          update({ context: { seen: topic } });
          return `about ${String(topic)}`;
        },
        write: (_, { results, context }) => `${Object.values(results).join()} ${String(context["seen"])}`,
      },
      ail: ({ layer_index: layer }) => (layer === 1 ? { description: "go on", confidence: 0.9 } : undefined),
      hil: ({ layer_index: layer }) =>
        layer === 1 ? { show: "well?", choices: { yes: [], no: [{ type: "abort" }] } } : undefined,
      dag: {
        tasks: [
          { id: "tides", tool: "search", arguments: { topic: "tides" } },
          { id: "text", tool: "write", dependsOn: ["tides"] },
        ],
      },
    });

    it("executes a DAG with its decisions by an AI and a person", async () => {
      const outcome = await staged([report], async (client) => {
        const id = await client.start(report, undefined);
        const gate = "layer[0]/human-decision";
        await openGate(client, id, gate);
        await client.answer(id, gate, { choice: "yes" });
        return client.result(id);
      });
      expect(outcome).toMatchObject({ status: "completed", outputs: { text: "about tides tides" } });
    });

    const agent = promptWorkflow("clerk", {
      provider: scriptedProvider({
        agents: { clerk: [{ calls: [{ tool: "stock", input: { what: "bolt" } }] }, { text: "12 bolts" }] },
      }),
      model: "any",
      tools: [
        {
          name: "stock",
          parameters: { type: "object" },
          effect: "repeatable",
          run: ({ what }: { what: string }) => (what === "bolt" ? 12 : 0),
        },
      ],
    });

    it("lets an agent work with its tools, and shows its journal to an engine outside", async () => {
      await staged([agent], async (client) => {
        const id = await client.start(agent, "How many bolts?");
        expect(await client.result(id)).toMatchObject({ text: "12 bolts", turns: 2 });
        const copy = await client.copy(id);
        expect((await copy.checkpoints.list(id)).length).toBeGreaterThan(0);
        await copy.close();
      });
    });

    it("refuses a function with closures by name, and an id that no run has", async () => {
      const plainFunction = workflow("plain", async () => 1);
      await staged([agent], async (client) => {
        await expect(client.start(plainFunction, undefined)).rejects.toMatchObject({ code: "HF-7102" });
        await expect(client.get("nobody")).rejects.toMatchObject({ code: "HF-7104" });
      });
    });

    it("takes the same id twice for the same run, and refuses it with another input", async () => {
      await staged([agent], async (client) => {
        const id = await client.start(agent, "How many bolts?", { id: `twice-${process.pid}` });
        expect(await client.start(agent, "How many bolts?", { id })).toBe(id);
        await expect(client.start(agent, "How many nuts?", { id })).rejects.toMatchObject({
          code: "HF-1041",
        });
        await client.result(id);
      });
    });

    it("waits for a worker that has the workflow", async () => {
      const taskQueue = `interpreter-${process.pid}-late`;
      const place = { address, taskQueue, bundle };
      const without = await interpreterWorker({ ...place, workflows: [report] });
      const client = await connectInterpreter({ address, taskQueue });
      const id = await client.start(agent, "How many bolts?");
      await expect.poll(async () => (await client.get(id)).status, { timeout: 60_000 }).toBe("running");
      const late = await interpreterWorker({ ...place, workflows: [agent, report] });
      await without.close();
      expect(await client.result(id)).toMatchObject({ text: "12 bolts" });
      await late.close();
      await client.close();
    });

    it("names a value that is too large, a namespace that is missing and a server that is away", async () => {
      await staged([agent], async (client) => {
        await expect(client.start(agent, "x".repeat(3_000_000))).rejects.toMatchObject({ code: "HF-7004" });
      });
      const nowhere = await connectInterpreter({ address, namespace: "nowhere" });
      await expect(nowhere.start(agent, "?")).rejects.toMatchObject({ code: "HF-7002" });
      await nowhere.close();
      await expect(connectInterpreter({ address: "127.0.0.1:9" })).rejects.toMatchObject({ code: "HF-7001" });
    });
  },
);
