import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { callOf, durable, modelProviders } from "../../src/adapters/ai-sdk/index.ts";
import { type AgentTool, runAgent, type ToolRun } from "../../src/agent/index.ts";
import { type Context, createEngine, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** The configuration of a process that works on the agent's run. */
export interface AgentConfig {
  readonly file: string;
  /** The address of the model's server. */
  readonly model: string;
  /** The address of the witness, where tools have their effects. */
  readonly witness: string;
  /** What drives the agent. */
  readonly via: "runAgent" | "generateText" | "streamText";
}

const { file, model, witness, via } = JSON.parse(process.argv[2] ?? "") as AgentConfig;
const CLAIM_MS = 3_000;

async function tell(path: string, body: unknown): Promise<{ text: string | null }> {
  const response = await fetch(`${witness}${path}`, { method: "POST", body: JSON.stringify(body) });
  return (await response.json()) as { text: string | null };
}

const parameters = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
};
const act =
  (name: string) =>
  async ({ n }: { n: number }, { key }: ToolRun) =>
    (await tell("/do", { name, n, key })).text;

const tools: AgentTool[] = [
  { name: "look", parameters, effect: "repeatable", run: act("look") },
  { name: "charge", parameters, effect: "keyed", run: act("charge") },
  { name: "mail", parameters, run: act("mail") },
  {
    name: "pay",
    parameters,
    run: act("pay"),
    async verify({ key }) {
      const { text } = await tell("/seen", { key });
      return text === null ? { status: "not-done" } : { status: "done", value: text };
    },
  },
];

const system = "be exact";
const prompt = "do your work";

async function own(ctx: Context): Promise<Told> {
  const provider = modelProviders({ local: { baseURL: model } });
  return runAgent(ctx, "clerk", { provider, model: "local/m", system, prompt, tools });
}

/** The same tools as an AI SDK agent would have them. */
const sdkTools = Object.fromEntries(
  tools.map((own) => [
    own.name,
    tool({
      inputSchema: jsonSchema<{ n: number }>(parameters as never),
      execute: (input, options) => own.run(input as never, callOf(options) as ToolRun) as Promise<string>,
    }),
  ]),
);

async function sdk(ctx: Context): Promise<Told> {
  const effects = Object.fromEntries(
    tools.map(({ name, effect, verify }) => [
      name,
      { effect: effect ?? "once", ...(verify ? { verify } : {}) },
    ]),
  );
  const local = createOpenAICompatible({ name: "local", baseURL: model, includeUsage: true });
  const agent = durable(ctx, { model: local("m"), tools: sdkTools }, { name: "clerk", tools: effects });
  const asked = { ...agent, system, prompt, stopWhen: stepCountIs(20) };
  const result = via === "generateText" ? await generateText(asked) : streamText(asked);
  return { text: await result.text, turns: (await result.steps).length };
}

interface Told {
  readonly text: string;
  readonly turns: number;
}

const flow = workflow("agent", async (ctx) => {
  const { text, turns } = await (via === "runAgent" ? own(ctx) : sdk(ctx));
  return { text, turns };
});
const store = await openSqliteStore({ file });
const engine = createEngine({
  store,
  workflows: [flow],
  claimMs: CLAIM_MS,
  sweepMs: 50,
  assumedStepMs: CLAIM_MS,
});
await engine.start(flow, undefined, { id: "r" });
for (;;) {
  const run = await engine.settled("r");
  const doubt = run.waiting.find(({ kind }) => kind === "decision");
  if (!doubt) break;
  // The person who is asked checks the witness's log.
  const { text } = await tell("/looked-up", { step: doubt.step });
  if (text === null) throw new Error(`${doubt.step} was never done`);
  await engine.resolve("r", doubt.step ?? "", { action: "done", value: text, actor: "ada" });
}
process.stdout.write(JSON.stringify(await engine.result("r")));
await engine.close();
await store.close();
