import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import { setTimeout as later } from "node:timers/promises";
import { callOf, durable } from "../../src/adapters/ai-sdk/index.ts";
import { callOf as openAiCallOf, run as runOpenAi } from "../../src/adapters/openai-agents/index.ts";
import { type AgentTool, type ModelProvider, runAgent, type ToolRun } from "../../src/agent/index.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { type Context, createEngine, HoldfastError, type Resolution, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/**
 * An agent of 45 turns with a tool of each effect class, driven by one of three fronts. It kills itself at the first
 * boundary that no process before it has died at: before and after each append, during each model call, before and
 * after each effect. A file outside holds what happened, line by line.
 */
const [folder = "", front = "", only = ""] = process.argv.slice(2);
const TURNS = 45;
const [witness, deaths] = [`${folder}/witness`, `${folder}/deaths`];
const used = new Set(existsSync(deaths) ? readFileSync(deaths, "utf8").split("\n") : []);
/** The turns whose boundaries are deadly; all, where none are named. */
const deadly = only === "" ? undefined : new Set(only.split(",").map(Number));

/** The turns that a boundary belongs to, from its name. */
const turnsIn = (name: string): number[] => [
  ...[...name.matchAll(/^\w+ (\d+) |clerk\[(\d+)\]/g)].map(([, a, b]) => Number(a ?? b)),
  ...[...name.matchAll(/clerk\.(\d+)\./g)].map(([, nth]) => Number(nth) - 1),
];

/** Dies here, unless a process has died here before. */
function boundary(name: string): void {
  if (used.has(name) || (deadly && !turnsIn(name).some((turn) => deadly.has(turn)))) return;
  appendFileSync(deaths, `${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

const seen = (): string[] => (existsSync(witness) ? readFileSync(witness, "utf8").split("\n") : []);

const callsOf = (turn: number): readonly (readonly [tool: string, n: number])[] =>
  turn % 2 === 0
    ? [
        ["look", turn],
        ["charge", turn],
      ]
    : [["mail", turn]];

/** The model: asked for a turn, it says which tools it wants, or that it is done. */
function asked(turn: number): void {
  boundary(`model ${turn} before`);
  appendFileSync(witness, `model ${turn}\n`);
  boundary(`model ${turn} asked`);
}

async function act(name: string, { n }: { n: number }, call: ToolRun | undefined): Promise<string> {
  const line = `${name} ${n} ${name === "charge" ? call?.key : ""}`.trim();
  boundary(`${name} ${n} begun`);
  // The receiver of payments remembers keys.
  if (name !== "charge" || !seen().includes(line)) appendFileSync(witness, `${line}\n`);
  boundary(`${name} ${n} done`);
  return `${name} ${n}`;
}

const parameters = {
  type: "object" as const,
  properties: { n: { type: "integer" as const } },
  required: ["n"],
  additionalProperties: false as const,
};
const EFFECTS = { look: "repeatable", charge: "keyed", mail: "once" } as const;
const NAMES = Object.keys(EFFECTS) as (keyof typeof EFFECTS)[];
const usage = { inputTokens: 1, outputTokens: 1 };

async function own(ctx: Context): Promise<string> {
  const provider: ModelProvider = {
    name: "local",
    async generate({ turn, model }) {
      asked(turn);
      const calls = turn < TURNS ? callsOf(turn) : [];
      return {
        text: calls.length > 0 ? "" : "done",
        calls: calls.map(([name, n]) => ({ id: `${name}-${n}`, tool: name, input: { n } })),
        usage,
        model,
        finish: "stop",
      };
    },
  };
  const tools = NAMES.map(
    (name): AgentTool => ({
      name,
      parameters,
      effect: EFFECTS[name],
      run: (input: { n: number }, call) => act(name, input, call),
    }),
  );
  const spec = { provider, model: "m", prompt: "work", tools, maxTurns: TURNS + 1 };
  return (await runAgent(ctx, "clerk", spec)).text;
}

// Each front loads only what it needs: hundreds of processes start.
async function aiSdk(ctx: Context): Promise<string> {
  const { generateText, jsonSchema, stepCountIs, tool } = await import("ai");
  const model = {
    specificationVersion: "v3" as const,
    provider: "local",
    modelId: "m",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: readonly { role: string }[] }) {
      const turn = prompt.filter(({ role }) => role === "assistant").length;
      asked(turn);
      const calls = turn < TURNS ? callsOf(turn) : [];
      return {
        content:
          calls.length === 0
            ? [{ type: "text", text: "done" }]
            : calls.map(([name, n]) => ({
                type: "tool-call",
                toolCallId: `${name}-${n}`,
                toolName: name,
                input: JSON.stringify({ n }),
              })),
        finishReason: { unified: calls.length > 0 ? "tool-calls" : "stop", raw: undefined },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        warnings: [],
      };
    },
  };
  const tools = Object.fromEntries(
    NAMES.map((name) => [
      name,
      tool({
        inputSchema: jsonSchema<{ n: number }>(parameters),
        execute: (input, options) => act(name, input, callOf(options)),
      }),
    ]),
  );
  const agent = durable(ctx, { model: model as never, tools }, { name: "clerk", tools: EFFECTS });
  return (await generateText({ ...agent, prompt: "work", stopWhen: stepCountIs(TURNS + 1) })).text;
}

async function openAi(ctx: Context): Promise<string> {
  const { Agent, tool, Usage } = await import("@openai/agents");
  const model = {
    async getResponse({ input }: { input: string | readonly { type?: string; name?: string }[] }) {
      // Every turn ends with a call of charge or mail.
      const ended =
        typeof input === "string"
          ? []
          : input.filter(({ type, name }) => type === "function_call" && name !== "look");
      const turn = ended.length;
      asked(turn);
      const calls = turn < TURNS ? callsOf(turn) : [];
      const output = calls.map(([name, n]) => ({
        type: "function_call" as const,
        callId: `${name}-${n}`,
        name,
        status: "completed" as const,
        arguments: JSON.stringify({ n }),
      }));
      const content = [{ type: "output_text" as const, text: "done" }];
      const said = {
        type: "message" as const,
        role: "assistant" as const,
        status: "completed" as const,
        content,
      };
      return { usage: new Usage(usage), output: output.length > 0 ? output : [said] };
    },
    getStreamedResponse(): never {
      throw new Error("not streamed");
    },
  };
  const tools = NAMES.map((name) =>
    tool({
      name,
      description: name,
      parameters,
      strict: true,
      errorFunction: null,
      execute: (input, _, details) => act(name, input as { n: number }, openAiCallOf(details)),
    }),
  );
  const agent = new Agent({ name: "Clerk", model: model as never, tools });
  const how = { name: "clerk", tools: EFFECTS, runner: { tracingDisabled: true } };
  return String((await runOpenAi(ctx, agent, "work", { maxTurns: TURNS + 1 }, how)).finalOutput);
}

const inner = await openSqliteStore({ file: `${folder}/runs.db` });
/** The steps that an append begins or ends, as one name. */
const stepsIn = (batch: Parameters<Store["append"]>[0]): string =>
  batch
    .flatMap(({ entries }) =>
      entries.flatMap(({ head }) => (JSON.parse(head) as { v: [string, string][] }).v),
    )
    .filter(([kind]) => kind.startsWith("step_"))
    .map(([kind, step]) => `${kind} ${step}`)
    .join(" ");
const append: Store["append"] = async (batch) => {
  const steps = stepsIn(batch);
  if (steps !== "") boundary(`append before ${steps}`);
  const results = await inner.append(batch);
  if (steps !== "") boundary(`append after ${steps}`);
  return results;
};
const store: Store = new Proxy(inner, {
  get: (target, name) => {
    const value: unknown = name === "append" ? append : Reflect.get(target, name);
    return typeof value === "function" && name !== "append" ? value.bind(target) : value;
  },
});

const fronts: Readonly<Record<string, (ctx: Context) => Promise<string>>> = { runAgent: own, aiSdk, openAi };
const flow = workflow("agent", async (ctx) => (await fronts[front]?.(ctx)) ?? "no such front");
const engine = createEngine({
  store,
  workflows: [flow],
  claimMs: 3_000,
  sweepMs: 20,
  recovery: { maxAttempts: 1_000 },
  // A process that is dead calls nothing any more, so a person needn't wait.
  assumedStepMs: 1,
});
await engine.start(flow, undefined, { id: "r" });
/** Decides, as soon as a call of the dead process can't be under way any more (HF-1012 says when). */
async function decide(step: string, resolution: Resolution & { readonly actor: string }): Promise<void> {
  try {
    await engine.resolve("r", step, resolution);
  } catch (error) {
    if (!HoldfastError.is(error) || error.code !== "HF-1012") throw error;
    await later(Math.max(0, Date.parse(String(error.detail["after"])) - Date.now()) + 1);
    await decide(step, resolution);
  }
}

for (;;) {
  const run = await engine.settled("r");
  const doubt = run.waiting.find(({ kind }) => kind === "decision");
  if (!doubt) {
    if (run.status !== "completed")
      throw new Error(`${run.status}: ${JSON.stringify(run.waiting)} ${JSON.stringify(run.error ?? null)}`);
    break;
  }
  // A person looks up what happened, and says so.
  const step = doubt.step ?? "";
  appendFileSync(witness, `parked ${step}\n`);
  const turn = Number(/(?:\[|\.)(\d+)(?:\]|\.)/.exec(step)?.[1]) - (front === "runAgent" ? 0 : 1);
  const isDone = seen().includes(`mail ${turn}`);
  await decide(
    step,
    isDone ? { action: "done", value: `mail ${turn}`, actor: "ada" } : { action: "rerun", actor: "ada" },
  );
}
writeSync(1, String(await engine.result("r")));
await engine.close();
await inner.close();
