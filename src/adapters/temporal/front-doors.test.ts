import { afterAll, describe, expect, it, vi } from "vitest";
import { everyKeyFiles, expectedOf, loadEveryKey } from "../../../test/support/every-key.ts";
import { isExhaustive } from "../../../test/support/exhaustive.ts";
import { sharedTemporal } from "../../../test/support/services/temporal.ts";
import { promptWorkflow, runAgent, scriptedProvider } from "../../agent/index.ts";
import { dagWorkflow } from "../../dag/index.ts";
import { createEngine, type Engine, HoldfastError, type Workflow, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { defineAgent, defineTeam, type SubtaskCall } from "../../team/index.ts";
import { createTemporalEngine, temporalWorker } from "./index.ts";

/** A run of a front door: the same on every engine. */
interface Door {
  readonly flow: Workflow<never, unknown>;
  readonly input: unknown;
  /** A workflow file may come to an error. */
  readonly mayFail?: boolean;
  readonly answers?: readonly { readonly gate: string; readonly choice: string; readonly text?: string }[];
}

const flowOf = (made: unknown): Workflow<never, unknown> => made as Workflow<never, unknown>;

const tool = {
  name: "stock",
  parameters: { type: "object" },
  run: ({ what }: { what: string }) => (what === "bolt" ? 12 : 0),
} as const;

const provider = () =>
  scriptedProvider({
    agents: {
      clerk: [
        {
          calls: [
            { tool: "stock", input: { what: "bolt" } },
            { tool: "stock", input: { what: "nut" } },
          ],
        },
        { text: "12 bolts and no nuts" },
      ],
    },
  });

function team(): Door {
  const agent = (type: string, names: readonly string[], needs: readonly string[] = []) =>
    defineAgent({
      type,
      version: "1.0",
      needs,
      subtasks: names.map((name) => ({
        name,
        deliverable: `${name}_table`,
        target: "PostgreSQL",
        effect: "keyed" as const,
        run: ({ memory, results, team: others, report }: SubtaskCall) => {
          memory.set("calls", (memory.get<number>("calls") ?? 0) + 1);
          report({ confidence: 0.8 });
          return {
            name,
            calls: memory.get("calls"),
            uses: [...Object.keys(results), ...Object.keys(others)],
          };
        },
      })),
    });
  const flow = defineTeam({
    name: "desk",
    agents: [
      agent("analyst", ["parse", "compare", "flag"]),
      agent("risk", ["score"]),
      agent("writer", ["report"], ["analyst"]),
    ],
    concurrency: 2,
    stages: [
      {
        name: "research",
        agents: ["analyst", "risk"],
        gate: { name: "manager", choices: ["approve", "reject"] },
      },
      { name: "report", agents: ["writer"] },
    ],
  });
  const input = { analysis_id: "550e8400-e29b-41d4-a716-446655440000", stock_ticker: "AAPL" };
  return { flow: flowOf(flow), input, answers: [{ gate: "manager", choice: "approve" }] };
}

function dag(): Door {
  const flow = dagWorkflow("plan", {
    tools: {
      search: ({ topic }, { update }) => {
        update({ context: { seen: topic } });
        return `about ${String(topic)}`;
      },
      write: (_, { results, context }) =>
        `${Object.values(results).map(String).join()} ${String(context["seen"])}`,
    },
    ail: ({ layer_index: layer }) => (layer === 1 ? { description: "go on", confidence: 0.9 } : undefined),
    hil: ({ layer_index: layer }) =>
      layer === 1 ? { show: "well?", choices: { yes: [], no: [{ type: "abort" }] } } : undefined,
    dag: {
      tasks: [
        { id: "tides", tool: "search", arguments: { topic: "tides" } },
        { id: "winds", tool: "search", arguments: { topic: "tides" } },
        { id: "text", tool: "write", dependsOn: ["tides", "winds"] },
      ],
    },
  });
  return {
    flow: flowOf(flow),
    input: undefined,
    answers: [{ gate: "layer[0]/human-decision", choice: "yes" }],
  };
}

/** Made anew for each engine: scripts of models are used up. */
const doors: Readonly<Record<string, () => Door | Promise<Door>>> = {
  "an agent": () => ({
    flow: flowOf(
      promptWorkflow("clerk", {
        provider: provider(),
        model: "any",
        tools: [{ ...tool, effect: "repeatable" }],
      }),
    ),
    input: "How many bolts and nuts?",
  }),
  "an agent within a function": () => ({
    flow: flowOf(
      workflow("shop", async (ctx, question: string) => {
        const { text, turns } = await runAgent(ctx, "clerk", {
          provider: provider(),
          model: "any",
          prompt: question,
          tools: [{ ...tool, effect: "once" }],
        });
        return ctx.step("file", () => `${text} (${turns})`, { effect: "keyed" });
      }),
    ),
    input: "How many bolts and nuts?",
  }),
  "a team of agents with a gate between its stages": team,
  "a DAG with decisions of an AI and a person": dag,
};

for (const [n, name] of everyKeyFiles.entries())
  if (isExhaustive || n % 5 === 2)
    Object.assign(doors, {
      [`the workflow file ${name}`]: async () => {
        const expected = expectedOf(name);
        const { workflow: flow, parseInputs } = await loadEveryKey(name, expected);
        return {
          flow,
          input: parseInputs(expected.inputs ?? {}),
          answers: expected.answers ?? [],
          mayFail: expected.error !== undefined,
        };
      },
    });

/** Values that no two runs share. */
const OWN = new Set(["checkpoint_id", "duration", "timestamp"]);

/** Ids of runs differ, also in texts. */
const plain = (outcome: unknown): unknown =>
  outcome instanceof Error
    ? {
        error: outcome.message.replace(/[Rr]un [\w-]+/, "run"),
        code: HoldfastError.is(outcome) && outcome.code,
      }
    : JSON.parse(JSON.stringify(outcome, (key, value) => (OWN.has(key) ? 0 : value)) ?? "null");

async function outcome(engine: Engine, { flow, input, answers = [] }: Door, id: string) {
  await engine.start(flow, input as never, { id });
  for (const { gate, ...answer } of answers) {
    await vi.waitFor(async () => expect((await engine.gates(id)).map((one) => one.gate)).toContain(gate), {
      timeout: 60_000,
      interval: 200,
    });
    await engine.answer(id, gate, answer);
  }
  const result = plain(await engine.result(id).catch((error: unknown) => error));
  const { decisions, progress } = await engine.checkpoints.show(id);
  return { result, decisions: decisions.map(({ description }) => description), progress: progress.text };
}

const { address = "", bundle, missing } = await sharedTemporal();
// Nobody is killed here, so that no busy machine may look like a dead worker.
const where = { address, taskQueue: `doors-${process.pid}`, heartbeatMs: 30_000 };
const embedded = createEngine({ store: createMemoryStore(), workflows: [] });
const worker = missing === undefined ? await temporalWorker({ ...where, bundle, workflows: [] }) : undefined;
const remote = createTemporalEngine({ ...where, workflows: [] });
afterAll(async () => {
  await embedded.close();
  await remote.close();
  await worker?.close();
});

describe.skipIf(missing !== undefined)("S1-23 S1-33: unchanged on Temporal", () => {
  let number = 0;
  for (const [name, make] of Object.entries(doors)) {
    const id = `door-${process.pid}-${number++}`;
    it.concurrent(`${name} comes to what it comes to on the embedded engine`, async ({ expect }) => {
      const [here, there] = [await make(), await make()];
      embedded.register(here.flow);
      worker?.engine.register(there.flow);
      const want = await outcome(embedded, here, id);
      if (!here.mayFail) expect(want.result).not.toHaveProperty("error");
      expect(await outcome(remote, there, id)).toEqual(want);
    });
  }

  it.each([
    { key: "ada", singleton: "join" },
    { key: "ada", debounceMs: 1_000 },
  ] as const)("refuses a start that needs a store to count in: %j", async (options) => {
    const { flow, input } = team();
    await expect(remote.start(flow, input as never, options)).rejects.toMatchObject({ code: "HF-5061" });
  });
});
