import type { Context, StepCall, StepOptions } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Effect } from "../core/types.ts";
import type { Message, ToolCall, ToolSpec } from "./model.ts";
import { checkSchema } from "./schema.ts";
import { isObject, problemsOf } from "./schema-rules.ts";

/** Something that an agent's model can ask for. Every call is a step of its own: done once, never called again. */
export interface AgentTool extends ToolSpec, ToolLimits {
  /** What may happen when the outcome of a call is unknown after a crash. Default `once`: a person is asked. */
  readonly effect?: Effect;
  /**
   * Does it. What it answers goes to the model: text as it is, anything else as JSON, {@link toolError} as an error. What it throws
   * goes to the model as an error too, unless the error says `fatal: true`: that ends the agent.
   */
  run(input: never, call: ToolRun): unknown;
  /** The tool checks its arguments itself; its schema is only shown to the model. */
  readonly checksInput?: boolean;
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

/** The tools by name. Refuses names that models cannot be given or that are there twice (HF-4102), and schemas that cannot be checked. */
export function checkTools(tools: readonly AgentTool[]): ReadonlyMap<string, AgentTool> {
  const byName = new Map<string, AgentTool>();
  for (const tool of tools) {
    const refuse = (problem: string) => new HoldfastError("HF-4102", { tool: String(tool.name), problem });
    if (!NAME.test(tool.name)) throw refuse("its name must be 1 to 64 letters, digits, _ or -");
    if (byName.has(tool.name)) throw refuse("there are two of that name");
    if (typeof tool.run !== "function") throw refuse("it has no run function");
    if (!tool.checksInput) checkSchema(tool.parameters, `tool ${tool.name}`);
    byName.set(tool.name, tool);
  }
  return byName;
}

type ToolMessage = Extract<Message, { role: "tool" }>;

/** Longer results are cut: one of them must not fill a model's context. */
const RESULT_CHARS = 200_000;

/** Does what a reply asks for: in order, or side by side when every call may be made again. */
export async function callTools(
  ctx: Context,
  agent: string,
  tools: ReadonlyMap<string, AgentTool>,
  calls: readonly ToolCall[],
): Promise<ToolMessage[]> {
  const one = (call: ToolCall) => callTool(ctx, agent, tools, call);
  if (calls.every(({ tool }) => tools.get(tool)?.effect === "repeatable")) {
    const ended = await Promise.allSettled(calls.map(one));
    return ended.map((end) => {
      if (end.status === "rejected") throw end.reason;
      return end.value;
    });
  }
  const messages: ToolMessage[] = [];
  for (const call of calls) messages.push(await one(call));
  return messages;
}

async function callTool(
  ctx: Context,
  agent: string,
  tools: ReadonlyMap<string, AgentTool>,
  { id, tool: name, input }: ToolCall,
): Promise<ToolMessage> {
  const message = (text: string, isError: boolean): ToolMessage => ({
    role: "tool",
    call: id,
    tool: name,
    text,
    ...(isError ? { isError } : {}),
  });
  const tool = tools.get(name);
  if (!tool) return message(`There is no tool ${name}. There are: ${[...tools.keys()].join(", ")}.`, true);
  const problems = tool.checksInput ? [] : problemsOf(tool.parameters, input);
  if (problems.length > 0) return message(`The arguments do not fit: ${problems.join("; ")}.`, true);
  try {
    const value = await ctx.step(`tool:${name}`, (call) => work(tool, input, toolRun(call, agent)), {
      ...limits(tool),
      effect: tool.effect ?? "once",
      input,
    });
    const { text, isError } = resultOf(value);
    return message(text, isError);
  } catch (error) {
    if (ctx.abortSignal.aborted || isFatal(error, tool.effect)) throw error;
    return message(error instanceof Error ? error.message : String(error), true);
  }
}

async function work(tool: AgentTool, input: unknown, call: ToolRun): Promise<unknown> {
  const value: unknown = await answered(tool, () => tool.run(input as never, call));
  if (isToolError(value)) return { isError: true, text: cut(value.text) };
  return typeof value === "string" ? cut(value) : value;
}

/** A connection that broke after something was sent says nothing about what was done. */
const LOST = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

/**
 * A lost answer is not a failure that the model may try again after: it is unknown (HF-2140). A `once` call is in doubt then, and a
 * `keyed` one is made again under its own key, which another call of the model would not have.
 */
async function answered({ name, effect = "once" }: AgentTool, run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null };
    const isLost = [code, cause?.code].some((one) => typeof one === "string" && LOST.has(one));
    if (effect === "repeatable" || !isLost) throw error;
    const message = `tool ${name}: ${error instanceof Error ? error.message : String(error)}`;
    throw new HoldfastError("HF-2140", { message }, { cause: error });
  }
}

const toolRun = (call: StepCall, agent: string): ToolRun => {
  const { runId, step, attempt, epoch, key, signal } = call;
  return { runId, step, attempt, epoch, key, signal, agent };
};

function limits(tool: AgentTool): ToolLimits {
  const { timeoutMs, retry, keyWindowMs, onKeyRejected, verify, simulate, compensate } = tool;
  return {
    ...(onKeyRejected === undefined ? {} : { onKeyRejected }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
    ...(keyWindowMs === undefined ? {} : { keyWindowMs }),
    ...(verify ? { verify } : {}),
    ...(simulate ? { simulate } : {}),
    ...(compensate ? { compensate } : {}),
  };
}

const isToolError = (value: unknown): value is ToolError =>
  isObject(value) && value["isError"] === true && typeof value["text"] === "string";

/** Also what a person said a call had answered, or a hook found. */
function resultOf(value: unknown): { readonly text: string; readonly isError: boolean } {
  if (isToolError(value)) return { text: value.text, isError: true };
  if (typeof value === "string") return { text: value, isError: false };
  // What JSON has no word for was done all the same.
  const text = JSON.stringify(value) as string | undefined;
  return { text: cut(text ?? "Done."), isError: false };
}

const cut = (text: string): string =>
  text.length <= RESULT_CHARS
    ? text
    : `${text.slice(0, RESULT_CHARS)}\n[The rest of ${text.length} characters is left out.]`;

/**
 * Not for the model to deal with: what says so itself, and the engine's own errors. It is told of a policy's no, and of a lost answer
 * only where another call does no harm.
 */
function isFatal(error: unknown, effect: Effect | undefined): boolean {
  if (isObject(error) && error["fatal"] === true) return true;
  if (!HoldfastError.is(error) || error.code === "HF-2116") return false;
  return effect !== "repeatable" || (error.code !== "HF-2102" && error.code !== "HF-2140");
}
