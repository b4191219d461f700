import { badOption, checkKeys, checkObject, checkText, keysOf } from "../core/check-options.ts";
import type { Workflow } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { interpretable, type Remote } from "../core/interpretation.ts";
import { workflow } from "../core/workflow.ts";
import type { AgentResult, AgentSpec } from "./agent-spec.ts";
import type { JsonSchema, Message, ModelProvider, ModelReply, ModelRequest } from "./model.ts";
import {
  answerForTool,
  askTool,
  type DescribedTool,
  describeTool,
  remoteTool,
  type ToolRequest,
} from "./remote-tools.ts";
import { runAgent } from "./run-agent.ts";
import type { AgentTool } from "./tool.ts";

/** What isn't plain data, or comes with each run. */
type Elsewhere = "prompt" | "visit" | "messages" | "compact" | "handoffs" | "memory" | "tools" | "output";

/** An agent as a workflow: plain data but for its model and its tools, and without the prompt, which each run brings. */
export interface PromptWorkflowOptions extends Omit<AgentSpec, Elsewhere> {
  readonly version?: string;
  readonly tools?: readonly AgentTool[];
  /** The schema of the answer. Without one, it is text. */
  readonly output?: JsonSchema;
}

/** What a run of an agent begins with. */
export interface PromptInput {
  readonly prompt: string;
  /** The messages before the prompt. */
  readonly messages?: readonly Message[];
}

const OPTIONS = keysOf<PromptWorkflowOptions>({
  provider: true,
  model: true,
  system: true,
  tools: true,
  effects: true,
  output: true,
  temperature: true,
  maxTokens: true,
  reasoning: true,
  maxTurns: true,
  reask: true,
  acceptCut: true,
  retry: true,
  timeoutMs: true,
  onInterrupt: true,
  prices: true,
  version: true,
});

/**
 * A workflow in which one agent answers a prompt. Unlike a function that calls `runAgent`, it is plain data but for its
 * model and its tools, so that it can also be interpreted inside Temporal, where each of their calls is an activity.
 *
 * @example
 * ```ts
 * import { promptWorkflow, scriptedProvider } from "holdfast/agent";
 *
 * export const greeter = promptWorkflow("greeter", {
 *   provider: scriptedProvider({ agents: { greeter: [{ text: "Good morning." }] } }),
 *   model: "any",
 *   system: "You greet people.",
 * });
 * ```
 */
export function promptWorkflow(
  name: string,
  options: PromptWorkflowOptions,
): Workflow<PromptInput | string, AgentResult> {
  checkKeys(options, OPTIONS);
  const { version = "1", ...spec } = options;
  checkObject("provider", spec.provider);
  checkText("model", spec.model, 1);
  const made = workflow(name, { version }, (ctx, input: PromptInput | string) =>
    runAgent(ctx, name, { ...spec, ...inputOf(input) }),
  );
  const { provider, tools = [], ...data } = spec;
  return interpretable(made, {
    kind: "agent",
    describe: (): AgentData => ({
      name,
      version,
      provider: provider.name,
      tools: tools.map(describeTool),
      spec: data,
    }),
    calls: {
      model: (request: Omit<ModelRequest, "signal">, { signal }) => provider.generate({ ...request, signal }),
      tool: (request: ToolRequest, call) => answerForTool(named(tools, request.tool), request, call),
    },
  });
}

function inputOf(input: unknown): PromptInput {
  const given = typeof input === "string" ? { prompt: input } : (input as PromptInput | undefined);
  if (typeof given?.prompt !== "string") throw badOption("prompt", "it must be a text");
  return given;
}

/** An agent as data. */
interface AgentData {
  readonly name: string;
  readonly version: string;
  readonly provider: string;
  readonly tools: readonly DescribedTool[];
  readonly spec: Omit<PromptWorkflowOptions, "provider" | "tools" | "version">;
}

/** The workflow from its description. */
export function interpretAgent(described: unknown, remote: Remote): Workflow<never, unknown> {
  const { name, version, provider, tools, spec } = described as AgentData;
  return promptWorkflow(name, {
    ...spec,
    version,
    provider: remoteProvider(provider, (request) => remote("model", request)),
    tools: tools.map((tool) => remoteTool(tool, askTool(remote))),
  }) as Workflow<never, unknown>;
}

/** A provider whose calls are made elsewhere. */
export const remoteProvider = (
  name: string,
  ask: (request: Omit<ModelRequest, "signal">) => Promise<ModelReply>,
): ModelProvider => ({ name, generate: ({ signal: _, ...request }) => ask(request) });

/** The tool of this name. Throws HF-7103: its description and the code here don't belong together. */
export function named(tools: readonly AgentTool[], name: string): AgentTool {
  const found = tools.find((tool) => tool.name === name);
  if (!found) throw new HoldfastError("HF-7103", { what: `tool ${name.slice(0, 128)}` });
  return found;
}
