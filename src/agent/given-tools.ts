import { badOption, checkOneOf } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Effect } from "../core/types.ts";
import { givenSchema } from "./given-schema.ts";
import { isObject } from "./schema-rules.ts";
import { type AgentTool, CALL, checkTools, lastOf, type ReadyTool, type ToolRun } from "./tool.ts";

/** A tool of the AI SDK, as far as it is used here. */
export interface SdkTool {
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly execute?: (input: never, options: never) => unknown;
}

/** The tools of an agent: a list, or by name. Tools of the AI SDK have no names of their own. */
export type AgentTools = readonly AgentTool[] | Readonly<Record<string, Omit<AgentTool, "name"> | SdkTool>>;

const EFFECTS: readonly Effect[] = ["repeatable", "keyed", "once"];

/** The tools by name, ready to be called. Wrong ones are refused before anything is asked (HF-4102). */
export async function givenTools(
  tools: AgentTools,
  effects: Readonly<Record<string, Effect>> = {},
): Promise<ReadonlyMap<string, ReadyTool>> {
  if (!isObject(tools) && !Array.isArray(tools)) throw badOption("tools", "they must be a list, or by name");
  const all = Array.isArray(tools) ? (tools as readonly AgentTool[]) : named(tools as Named);
  for (const [name, effect] of Object.entries(effects)) {
    if (!all.some((tool) => tool.name === name))
      throw wrong(name, "effects name it, but there is no such tool");
    checkOneOf(`effects.${name}`, effect, EFFECTS);
  }
  const ready: ReadyTool[] = [];
  for (const tool of all) {
    const effect = effects[tool.name] ?? tool.effect;
    ready.push(await readyTool(effect === undefined ? tool : { ...tool, effect }));
  }
  return checkTools(ready);
}

const wrong = (tool: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4102", { tool, problem });

type Named = Readonly<Record<string, Omit<AgentTool, "name"> | SdkTool>>;

const named = (tools: Named): AgentTool[] =>
  Object.entries(tools).map(([name, tool]) => {
    if (!isObject(tool)) throw wrong(name, "it is not a tool");
    if ("run" in tool) return { ...tool, name } as unknown as AgentTool;
    return fromSdk(name, tool as SdkTool & Approved);
  });

interface Approved {
  readonly needsApproval?: boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>);
  readonly toModelOutput?: (given: object) => unknown;
  readonly title?: unknown;
}

/** A tool of the AI SDK as one of an agent. It gets the durable call through `callOf` of the adapter. */
function fromSdk(name: string, tool: SdkTool & Approved): AgentTool {
  const { description, inputSchema, execute, needsApproval, toModelOutput } = tool;
  if (typeof execute !== "function")
    throw wrong(name, "it has neither run nor execute, so nothing can call it");
  if (inputSchema === undefined) throw wrong(name, "it has no inputSchema");
  const optionsOf = (call: ToolRun) => ({
    toolCallId: `${call.runId}/${call.step}`,
    messages: [],
    abortSignal: call.signal,
    [CALL]: call,
  });
  return {
    name,
    parameters: inputSchema as AgentTool["parameters"],
    ...(typeof description === "string" ? { description } : {}),
    run: async (input: unknown, call: ToolRun) =>
      lastOf(await execute.call(tool, input as never, optionsOf(call) as never)),
    ...(needsApproval === undefined
      ? {}
      : {
          needsApproval: (input: unknown) =>
            typeof needsApproval === "function" ? needsApproval(input, { messages: [] }) : needsApproval,
        }),
    ...(toModelOutput ? { show: (output: unknown) => toModelOutput.call(tool, { output }) } : {}),
  };
}

/** Reads the tool's schema, whatever kind it is. */
export async function readyTool(tool: AgentTool): Promise<ReadyTool> {
  const { parameters } = tool;
  if (tool.checksInput) return tool as ReadyTool;
  // The checks of a tool's form come first: they know better what is wrong.
  checkTools([{ ...tool, checksInput: true }]);
  const schema = await givenSchema(parameters, `tool ${tool.name}`);
  const { json, fits } = schema;
  return fits
    ? { ...tool, parameters: json, checksInput: true, fits, made: (input) => schema.made(input) }
    : { ...tool, parameters: json };
}
