import { beforeAll, describe, expect, it } from "vitest";
import { sharedTemporal } from "../../../../test/support/services/temporal.ts";
import { interpreterBundle } from "../../../../test/support/services/temporal-interpreter.ts";
import { promptWorkflow, scriptedProvider } from "../../../agent/index.ts";
import { dagWorkflow } from "../../../dag/index.ts";
import { createEngine, type Workflow } from "../../../index.ts";
import { localKeyring } from "../../../security/keyring.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import {
  connectInterpreter,
  type InterpretedRuns,
  type InterpreterOptions,
  interpreterWorker,
  replayInterpreted,
} from "./index.ts";
import { loadClient } from "./sdk.ts";

const service = await sharedTemporal();

const CANARY = "canary-5f0a1c";
const key = (byte: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + byte) % 256);

describe.skipIf(service.missing !== undefined)("the histories of interpreted runs", () => {
  const address = service.address ?? "";
  let bundle = "";
  let queue = 0;

  beforeAll(async () => {
    bundle = await interpreterBundle();
  });

  async function staged<T>(
    workflows: readonly unknown[],
    options: InterpreterOptions,
    work: (runs: InterpretedRuns, taskQueue: string) => Promise<T>,
  ): Promise<T> {
    const { settings: _, ...place } = options;
    const taskQueue = `history-${process.pid}-${queue++}`;
    const given = {
      ...place,
      address,
      taskQueue,
      bundle,
      workflows: workflows as Workflow<never, unknown>[],
    };
    const worker = await interpreterWorker(given);
    const client = await connectInterpreter({ address, taskQueue, ...options });
    try {
      return await work(client, taskQueue);
    } finally {
      await worker.close();
      await client.close();
    }
  }

  async function rawHistory(id: string): Promise<{ readonly text: string; readonly events: number }> {
    const { Client, Connection } = await loadClient();
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection });
    const history = (await workflow.getHandle(id).fetchHistory()) as { events: readonly unknown[] };
    await connection.close();
    const texts: string[] = [];
    const look = (value: unknown): void => {
      if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString("latin1"));
      else if (typeof value === "string") texts.push(value);
      else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
    };
    look(history);
    return { text: texts.join("\n"), events: history.events.length };
  }

  const keeper = (answer: string) =>
    promptWorkflow("keeper", {
      provider: scriptedProvider({
        agents: { keeper: [{ calls: [{ tool: "look", input: {} }] }, { text: answer }] },
      }),
      model: "any",
      tools: [
        {
          name: "look",
          parameters: { type: "object" },
          effect: "repeatable",
          retry: false,
          run: () => {
            throw Object.assign(new Error(`no ${CANARY} here`), { status: 400 });
          },
        },
      ],
    });

  it("are readable without a codec, and hold nothing but names with one", async () => {
    const agent = keeper(CANARY);
    const run = (options: InterpreterOptions) =>
      staged([agent], options, async (runs) => {
        const id = await runs.start(agent, `Find ${CANARY}.`);
        expect(await runs.result(id)).toMatchObject({ text: CANARY });
        return (await rawHistory(id)).text;
      });
    expect(await run({})).toContain(CANARY);
    const sealed = await run({ codec: { keyring: localKeyring(() => new Map([["k1", key(1)]])) } });
    expect(sealed).not.toContain(CANARY);
    expect(sealed).not.toContain("no ");
    expect(sealed).toContain("holdfast.model");
  });

  it("can be read after a rotation of the keyring, and not without the key (HF-7100)", async () => {
    const agent = keeper("done");
    const keys = new Map([["k1", key(1)]]);
    const codec = { keyring: localKeyring(() => keys) };
    await staged([agent], { codec }, async (runs, taskQueue) => {
      const id = await runs.start(agent, "Look.");
      await runs.result(id);
      const rotated = localKeyring(() => new Map([["k2", key(2)], ...keys]));
      const after = await connectInterpreter({ address, taskQueue, codec: { keyring: rotated } });
      expect(await after.result(id)).toMatchObject({ text: "done" });
      await after.close();
      const other = localKeyring(() => new Map([["k2", key(2)]]));
      const without = await connectInterpreter({ address, taskQueue, codec: { keyring: other } });
      await expect(without.result(id)).rejects.toMatchObject({ code: "HF-7100" });
      await without.close();
    });
  });

  const counted: string[] = [];
  const long = dagWorkflow("long", {
    tools: {
      count: ({ n }) => {
        counted.push(String(n));
        return n;
      },
    },
    dag: {
      tasks: Array.from({ length: 20 }, (_, n) => ({
        id: `t${n}`,
        tool: "count",
        arguments: { n },
        ...(n > 0 ? { dependsOn: [`t${n - 1}`] } : {}),
      })),
    },
  });

  it("stay short: a long run goes on in another execution, and repeats nothing", async () => {
    const settings = { eventsPerExecution: 40 };
    await staged([long], { settings }, async (runs) => {
      const id = await runs.start(long, undefined);
      expect(await runs.result(id)).toMatchObject({ completed: 20, outputs: { t19: 19 } });
      expect(counted).toEqual(Array.from({ length: 20 }, (_, n) => String(n)));
      expect((await rawHistory(id)).events).toBeLessThan(100);
    });
  });

  const asking = dagWorkflow("asking", {
    tools: { one: () => 1 },
    hil: ({ layer_index: layer }) => (layer === 1 ? { show: "?", choices: { yes: [] } } : undefined),
    dag: {
      tasks: [
        { id: "a", tool: "one" },
        { id: "b", tool: "one", dependsOn: ["a"] },
      ],
    },
  });
  const GATE = "layer[0]/human-decision";

  it("are replayed before a deploy, with a report for people", async () => {
    await staged([asking], {}, async (runs, taskQueue) => {
      const id = await runs.start(asking, undefined);
      while ((await runs.gates(id)).length === 0);
      const report = await replayInterpreted({ address, taskQueue, bundle });
      expect(report).toMatchObject({ replayed: 1, changed: [] });
      expect(report.text).toContain("continues every one as it began");
      const other = bundle.replaceAll('"hil"', '"hol"');
      const changed = await replayInterpreted({ address, taskQueue, bundle: other });
      expect(changed.changed.map(({ run }) => run)).toEqual([id]);
      await runs.answer(id, GATE, { choice: "yes" });
      expect(await runs.result(id)).toMatchObject({ completed: 2 });
    });
  });

  it("leave a once call in doubt when its worker falls silent, and never repeat it", async () => {
    const sent: string[] = [];
    const mail = dagWorkflow("mail", {
      tools: {
        send: {
          effect: "once",
          run: (_, { key }) => {
            sent.push(key);
            // Nothing of this process runs meanwhile: for the server it is as good as dead.
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
            return "sent";
          },
        },
      },
      dag: { tasks: [{ id: "letter", tool: "send" }] },
    });
    await staged([mail], { settings: { heartbeatMs: 1_000 } }, async (runs) => {
      const id = await runs.start(mail, undefined);
      const isInDoubt = async () => (await runs.get(id)).waiting.some(({ kind }) => kind === "decision");
      while (!(await isInDoubt()));
      const value = { taskId: "letter", result: "sent", timestamp: 0, duration: 0 };
      await runs.resolve(id, "layer[0]/letter", { action: "done", value });
      expect(await runs.result(id)).toMatchObject({ outputs: { letter: "sent" } });
      expect(sent).toHaveLength(1);
    });
  });

  it("go on from a run of the embedded engine, where it stands, and back", async () => {
    const engine = createEngine({ store: createMemoryStore(), workflows: [asking] });
    await engine.start(asking, undefined, { id: "moved" });
    await engine.settled("moved");
    await engine.pause("moved", { reason: "moving" });
    await engine.settled("moved");
    await staged([asking], {}, async (runs) => {
      await runs.adopt(engine, "moved", asking as Workflow<never, unknown>);
      while ((await runs.gates("moved")).length === 0);
      await runs.pause("moved");
      const home = createEngine({ store: createMemoryStore(), workflows: [asking] });
      const copy = await runs.copy("moved");
      await home.transfer.importRuns(copy.transfer.exportRun("moved"), { accept: { reason: "moved back" } });
      await home.resume("moved");
      await home.settled("moved");
      await home.answer("moved", GATE, { choice: "yes" });
      expect(await home.result("moved")).toMatchObject({ completed: 2 });
      await home.close();
      await runs.resume("moved");
      while ((await runs.gates("moved")).length === 0);
      await runs.answer("moved", GATE, { choice: "yes" });
      expect(await runs.result("moved")).toMatchObject({ completed: 2 });
    });
    await engine.close();
  });
});
