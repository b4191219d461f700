import { modelProviders } from "../../src/adapters/ai-sdk/index.ts";
import { type AgentTool, runAgent, type ToolRun } from "../../src/agent/index.ts";
import { createEngine, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

/** The configuration of a process that works on the agent's run. */
export interface AgentConfig {
  readonly file: string;
  /** The address of the model's server. */
  readonly model: string;
  /** The address of the witness, where tools have their effects. */
  readonly witness: string;
}

const { file, model, witness } = JSON.parse(process.argv[2] ?? "") as AgentConfig;
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

const provider = modelProviders({ local: { baseURL: model } });
const flow = workflow("agent", (ctx) =>
  runAgent(ctx, "clerk", { provider, model: "local/m", system: "be exact", prompt: "do your work", tools }),
);
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
