import { checkText } from "../core/check-options.ts";
import type { StepCall, StepOptions } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { StandardSchema } from "../core/standard-schema.ts";
import type { Effect } from "../core/types.ts";
import type { JsonSchema, ToolSpec } from "./model.ts";
import { checkSchema } from "./schema.ts";

/** A tool that an agent's model can call. Each call is its own step: once it has completed, it is never repeated. */
export interface AgentTool extends Omit<ToolSpec, "parameters">, ToolLimits {
  /** The schema of the arguments: JSON Schema, or any Standard Schema such as zod's. */
  readonly parameters: JsonSchema | StandardSchema;
  /** What may happen when the outcome of a call is unknown. Default `once`: a person is asked. */
  readonly effect?: Effect;
  /**
   * Runs the tool. Its result goes to the model: text as it is, anything else as JSON, {@link toolError} as an error.
   * An error thrown by a `repeatable` tool also goes to the model. An error thrown by any other tool does so only if it
   * proves that nothing was done: a refusal (a 4xx status), a connection that was never made, or `notDone: true`.
   * Everything else leaves the outcome unknown. An error with `fatal: true` ends the agent.
   */
  run(input: never, call: ToolRun): unknown;
  /** Set when the tool checks its own arguments; its schema is then only shown to the model. */
  readonly checksInput?: boolean;
  /**
   * What to do when the model repeats a call that may have taken effect: the same arguments for a `once` tool, or for a
   * `keyed` one that has returned an error. `ask` (the default): a person decides. `allow`: the call is made.
   */
  readonly onRepeat?: "ask" | "allow";
  /** Returns true for arguments that a person must approve before the call (gate `allow:<tool>`). */
  needsApproval?(input: never): boolean | PromiseLike<boolean>;
  /** Makes what the model is shown of a result, in the AI SDK's form (`toModelOutput`). */
  show?(output: unknown): unknown;
}

/** A tool whose schema was read. */
export interface ReadyTool extends AgentTool {
  readonly parameters: JsonSchema;
  /** The problems of arguments, and what the tool gets of them, where its own schema decides. */
  readonly fits?: (input: unknown) => Promise<readonly string[]>;
  readonly made?: (input: unknown) => Promise<unknown>;
}

/** Where the second argument of an AI SDK tool holds the durable call. */
export const CALL = Symbol.for("holdfast.tool-call");

/** Step options that a tool may set. */
type ToolLimits = Pick<
  StepOptions<unknown>,
  "timeoutMs" | "retry" | "keyWindowMs" | "onKeyRejected" | "verify" | "simulate" | "compensate"
>;

/** Describes the call to the tool: see `StepCall`. `key` is the idempotency key to pass on. */
export interface ToolRun extends StepCall {
  readonly agent: string;
}

/** A result that the model sees as an error. The call itself was made and isn't repeated. */
export interface ToolError {
  readonly isError: true;
  readonly text: string;
}

/**
 * Creates the result of a tool that couldn't do what was asked.
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
export const toolError = (text: string): ToolError => ({ isError: true, text: checkText("text", text) });

/** Names that every provider accepts for a tool and that are valid step names. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const REPEATS: readonly unknown[] = [undefined, "ask", "allow"];

/**
 * The tools by name. Refuses duplicate names and names that models don't accept (HF-4102), and schemas that can't be
 * checked.
 */
export function checkTools<T extends AgentTool>(tools: readonly T[]): ReadonlyMap<string, T> {
  const byName = new Map<string, T>();
  for (const tool of tools) {
    const refuse = (problem: string) => new HoldfastError("HF-4102", { tool: String(tool.name), problem });
    if (typeof tool.name !== "string")
      throw refuse("it has no name; tools of the AI SDK have none, so give them as { name: tool }");
    if (!NAME.test(tool.name)) throw refuse("its name must be 1 to 64 letters, digits, _ or -");
    if (byName.has(tool.name)) throw refuse("there are two of that name");
    if (typeof tool.run !== "function") throw refuse("it has no run function");
    if (!REPEATS.includes(tool.onRepeat)) throw refuse("its onRepeat must be ask or allow");
    if (!tool.checksInput) checkSchema(tool.parameters, `tool ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** The step options of a tool. */
export function limitsOf(tool: AgentTool): ToolLimits {
  const { timeoutMs, retry, keyWindowMs, onKeyRejected, verify, simulate, compensate } = tool;
  return defined({ onKeyRejected, timeoutMs, retry, keyWindowMs, verify, simulate, compensate });
}

/** The last value of a tool that streams its result; the ones before it are only on the way. */
export async function lastOf(given: unknown): Promise<unknown> {
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given)) return given;
  let last: unknown;
  for await (const value of given as AsyncIterable<unknown>) last = value;
  return last;
}
