import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentTool, type Script, scriptedProvider } from "../src/agent/index.ts";
import { createEngine, type Engine, HoldfastError, type OpenGate } from "../src/index.ts";
import { createMemoryStore } from "../src/stores/memory.ts";
import { type LoadOptions, loadWorkflow, type YamlWorkflow } from "../src/yaml/index.ts";

/**
 * The examples of Microsoft Conductor, unchanged, from a checkout of it. They aren't part of this repository: without
 * the folder in HOLDFAST_CONDUCTOR_EXAMPLES there is nothing to run.
 */
const folder = process.env["HOLDFAST_CONDUCTOR_EXAMPLES"];

/** Features that need a vendor's own runtime, and the words with which they must be refused. */
const REFUSED: Readonly<Record<string, string>> = {
  "aca-coding-agent.yaml": "sandbox is not supported",
  "claude-agent-sdk-mcp.yaml": "the provider claude-agent-sdk, which is not given",
  "claude-agent-sdk-repo-qa.yaml": "the provider claude-agent-sdk, which is not given",
  "claude-agent-sdk-session-key.yaml": "the provider claude-agent-sdk, which is not given",
  "copilot-existing-runtime.yaml": "runtime_url is not supported",
  "experimental-claude-agent-sdk.yaml": "the provider claude-agent-sdk, which is not given",
  "hermes-features.yaml": "the provider hermes, which is not given",
  "hermes-simple.yaml": "the provider hermes, which is not given",
  "hermes-toolsets.yaml": "hermes_toolsets is not supported",
  "plugin-sources.yaml": "plugin_sources is not supported",
  "plugins.yaml": "plugins is not supported",
  "skills-discovery.yaml": "skill_discovery is not supported",
  "skills-self-improving-workflow.yaml": "The skill conductor comes with Conductor",
  "test-claude-agent-sdk.yaml": "the provider claude-agent-sdk, which is not given",
};

/** Answers that lead somewhere; everything else is generated to match the schema. */
const SCRIPT: Script = {
  agents: {
    validation_summary: [
      {
        json: {
          overall_status: "ok",
          approval: "approved",
          total_issues: 0,
          critical_issues: 0,
          summary: "s",
          recommendations: [],
        },
      },
    ],
    audit_evaluator: [
      {
        json: {
          verdict: "passed",
          ticket_ref: "TICK-1234",
          score: 90,
          summary: "all well",
          notes: null,
          details: { reviewer: "a" },
        },
      },
    ],
  },
};

const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "wait-step.yaml": { poll_interval_seconds: 0.01 },
  "script-stdin.yaml": { topic: "bolts" },
};

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: "bolts",
  number: 1,
  boolean: true,
  array: [],
  object: {},
};

const search = (name: string): AgentTool => ({
  name,
  parameters: { type: "object" },
  effect: "repeatable",
  run: () => "nothing found",
});

function load(file: string): Promise<YamlWorkflow> {
  const provider = scriptedProvider(SCRIPT);
  const options: LoadOptions = {
    providers: { model: () => provider },
    aliases: { copilot: "model", claude: "model", openai: "model" },
    tools: ["web_search", "document_retrieval", "citation_lookup"].map(search),
    mcp: async () => [search("search"), search("fetch")],
  };
  return loadWorkflow(join(folder as string, file), options);
}

function inputsFor(file: string, { inputs, parseInputs }: YamlWorkflow): Readonly<Record<string, unknown>> {
  const needed = inputs.filter((one) => one.required && one.default === undefined);
  return parseInputs({
    ...Object.fromEntries(needed.map(({ name, type }) => [name, SAMPLES[type]])),
    ...INPUTS[file],
  });
}

const answerTo = ({ choices, text }: OpenGate): { choice: string; text?: string } => ({
  choice: choices.includes("answer") ? "answer" : (choices[0] as string),
  ...(text ? { text: "as you like" } : {}),
});

async function complete(engine: Engine, runId: string): Promise<string> {
  for (;;) {
    const { status, error } = await engine.settled(runId);
    const gates = status === "waiting" ? await engine.gates(runId) : [];
    for (const gate of gates) await engine.answer(runId, gate.gate, answerTo(gate));
    if (status !== "waiting") return error ?? status;
    if (gates.length === 0) return engine.result(runId).then(() => "completed", String);
  }
}

describe.skipIf(folder === undefined)(
  "the examples of Conductor (HOLDFAST_CONDUCTOR_EXAMPLES names their folder)",
  () => {
    const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".yaml"));

    it.skipIf(folder === undefined)("are all there that are known to be refused", () => {
      expect(files).toEqual(expect.arrayContaining(Object.keys(REFUSED)));
    });

    it.each(files.filter((file) => !Object.hasOwn(REFUSED, file)))(
      "%s is valid and runs as it is",
      async (file) => {
        const loaded = await load(file);
        const engine = createEngine({ store: createMemoryStore(), workflows: [loaded.workflow] });
        try {
          const { id } = await engine.start(loaded.workflow, inputsFor(file, loaded));
          expect(await complete(engine, id)).toBe("completed");
        } finally {
          await engine.close();
        }
      },
    );

    it.each(files.filter((file) => Object.hasOwn(REFUSED, file)))("%s is refused by name", async (file) => {
      const error: unknown = await load(file).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(HoldfastError.is(error) ? error.message : error).toContain(REFUSED[file]);
    });
  },
);
