import type { StepCall, StepOptions } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Effect } from "../core/types.ts";
import type { ToolSpec } from "./model.ts";
import { checkSchema } from "./schema.ts";

/** Something that an agent's model can ask for. Every call is a step of its own: done once, never called again. */
export interface AgentTool extends ToolSpec, ToolLimits {
  /** What may happen when the outcome of a call is unknown. Default `once`: a person is asked. */
  readonly effect?: Effect;
  /**
   * Does it. What it answers goes to the model: text as it is, anything else as JSON, {@link toolError} as an error. What a `repeatable`
   * tool throws goes to the model as an error, too. What any other one throws does only if it proves that nothing was done: a refusal
   * (a status of 4xx), a connection that was never made, or `notDone: true`. Everything else leaves the outcome unknown. An error that
   * says `fatal: true` ends the agent.
   */
  run(input: never, call: ToolRun): unknown;
  /** The tool checks its arguments itself; its schema is only shown to the model. */
  readonly checksInput?: boolean;
  /**
   * What to do when the model asks a second time for a call that may have acted: the same arguments for a `once` tool, or for a `keyed`
   * one that has answered with an error. `ask` (the default): a person decides. `allow`: it is called.
   */
  readonly onRepeat?: "ask" | "allow";
}

/** What a tool may bring along for its steps. */
type ToolLimits = Pick<
  StepOptions<unknown>,
  "timeoutMs" | "retry" | "keyWindowMs" | "onKeyRejected" | "verify" | "simulate" | "compensate"
>;

/** What a tool is told about its call: see `StepCall`. `key` is the idempotency key to hand on. */
export interface ToolRun extends StepCall {
  readonly agent: string;
}

/** An answer that the model is shown as an error. The call itself was made, and is not made again. */
export interface ToolError {
  readonly isError: true;
  readonly text: string;
}

/**
 * What a tool answers when it was not able to do what was asked.
 *
 * @example
 * ```ts
 * import { type AgentTool, toolError } from "holdfast/agent";
 *
 * export const stock: AgentTool = {
 *   name: "stock",
 *   description: "How many of an article are there",
 *   parameters: { type: "object", properties: { article: { type: "string" } }, required: ["article"] },
 *   effect: "repeatable",
 *   run: ({ article }: { article: string }) => (article === "bolt" ? 12 : toolError(`There is no ${article}.`)),
 * };
 * ```
 */
export const toolError = (text: string): ToolError => ({ isError: true, text });

/** What every provider takes as the name of a tool, and a step can be called by. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const REPEATS: readonly unknown[] = [undefined, "ask", "allow"];

/** The tools by name. Refuses names that models cannot be given or that are there twice (HF-4102), and schemas that cannot be checked. */
export function checkTools(tools: readonly AgentTool[]): ReadonlyMap<string, AgentTool> {
  const byName = new Map<string, AgentTool>();
  for (const tool of tools) {
    const refuse = (problem: string) => new HoldfastError("HF-4102", { tool: String(tool.name), problem });
    if (!NAME.test(tool.name)) throw refuse("its name must be 1 to 64 letters, digits, _ or -");
    if (byName.has(tool.name)) throw refuse("there are two of that name");
    if (typeof tool.run !== "function") throw refuse("it has no run function");
    if (!REPEATS.includes(tool.onRepeat)) throw refuse("its onRepeat must be ask or allow");
    if (!tool.checksInput) checkSchema(tool.parameters, `tool ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** What a tool's step is given of it. */
export function limitsOf(tool: AgentTool): ToolLimits {
  const { timeoutMs, retry, keyWindowMs, onKeyRejected, verify, simulate, compensate } = tool;
  return defined({ onKeyRejected, timeoutMs, retry, keyWindowMs, verify, simulate, compensate });
}
