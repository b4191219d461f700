import type { Context, StepCall } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { isFatal } from "../core/run/retry.ts";
import type { Effect } from "../core/types.ts";
import { dataDigest } from "../core/values/codec.ts";
import type { Message, ToolCall } from "./model.ts";
import { cut, render, storable } from "./render.ts";
import { isObject, problemsOf } from "./schema-rules.ts";
import { type AgentTool, limitsOf, type ToolError, type ToolRun } from "./tool.ts";

export type ToolMessage = Extract<Message, { role: "tool" }>;

/** A call that may have acted: asked for once more, a person decides. */
export interface Acted {
  readonly tool: string;
  /** Digest of its arguments. */
  readonly args: string;
  /** The turn it was made in. */
  readonly turn: number;
}

/** Who has tools called, and what it has had done before. */
export interface Caller {
  readonly ctx: Context;
  readonly name: string;
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly turn: number;
  /** Calls that may have acted so far; further ones are added. */
  readonly acted: Acted[];
}

/** Does what a reply asks for: in order, or side by side when every call may be made again. */
export async function callTools(caller: Caller, calls: readonly ToolCall[]): Promise<ToolMessage[]> {
  const { tools } = caller;
  if (calls.every(({ tool }) => tools.get(tool)?.effect === "repeatable")) {
    const ended = await Promise.allSettled(calls.map((call) => callTool(caller, call)));
    return ended.map((end) => {
      if (end.status === "rejected") throw end.reason;
      return end.value;
    });
  }
  const messages: ToolMessage[] = [];
  for (const call of calls) messages.push(await callTool(caller, call));
  return messages;
}

export const toolMessage = ({ id, tool }: ToolCall, text: string, isError: boolean): ToolMessage => ({
  role: "tool",
  call: id,
  tool,
  // Providers refuse results without a word.
  text: text === "" ? "(no output)" : text,
  ...(isError ? { isError } : {}),
});

async function callTool(caller: Caller, call: ToolCall): Promise<ToolMessage> {
  const { ctx, tools } = caller;
  // What was done for other arguments is no answer to these.
  const words = { agent: caller.name, tool: call.tool, turn: caller.turn + 1 };
  await ctx.settleArguments(stepName(call), call.input, new HoldfastError("HF-2195", words));
  const refusal = refusalOf(tools, call);
  // What is recorded comes first: that a tool is gone, or takes other arguments now, does not undo what it did.
  if (refusal !== undefined && !isRecorded(ctx, call)) return toolMessage(call, refusal, true);
  const tool = tools.get(call.tool);
  const denial = tool && isRepeat(caller, tool, call) ? await askAgain(caller, call) : undefined;
  if (denial !== undefined) return toolMessage(call, denial, true);
  let value: unknown;
  try {
    value = await step(caller, call, refusal);
  } catch (error) {
    if (ctx.abortSignal.aborted || endsAgent(error, tool?.effect)) throw error;
    return toolMessage(call, errorText(error), true);
  }
  const result = isToolError(value)
    ? { text: cut(value.text), isError: true }
    : { text: render(value), isError: false };
  if (tool) noteActed(caller, tool, call, result.isError);
  return toolMessage(call, result.text, result.isError);
}

/** Why a call is not made, in words for the model. */
function refusalOf(
  tools: ReadonlyMap<string, AgentTool>,
  { tool: name, input, problem }: ToolCall,
): string | undefined {
  if (problem !== undefined) return `The arguments cannot be taken: ${problem}.`;
  const tool = tools.get(name);
  if (!tool) return `There is no tool ${name}. There are: ${[...tools.keys()].join(", ")}.`;
  const problems = tool.checksInput ? [] : problemsOf(tool.parameters, input);
  return problems.length > 0 ? `The arguments do not fit: ${problems.join("; ")}.` : undefined;
}

const stepName = ({ tool }: ToolCall): string => `tool:${tool}`;

const isRecorded = (ctx: Context, call: ToolCall): boolean => ctx.isRecorded(stepName(call), call.input);

/** Without the tool, or with arguments that it does not take any more, nothing can be called: what is recorded is all there is. */
function step({ ctx, name, tools }: Caller, call: ToolCall, refusal: string | undefined): Promise<unknown> {
  const tool = tools.get(call.tool);
  const { input } = call;
  if (!tool || refusal !== undefined) {
    const refuse = () =>
      Promise.reject(Object.assign(new Error(refusal), { notDone: true, retryable: false }));
    return ctx.step(stepName(call), refuse, { effect: tool?.effect ?? "once", input });
  }
  return ctx.step(stepName(call), (made) => work(tool, input, toolRun(made, name)), {
    ...limitsOf(tool),
    effect: tool.effect ?? "once",
    input,
  });
}

async function work(tool: AgentTool, input: unknown, call: ToolRun): Promise<unknown> {
  const value: unknown = await tool.run(input as never, call);
  return isToolError(value) ? { isError: true, text: cut(value.text) } : storable(value);
}

const toolRun = (call: StepCall, agent: string): ToolRun => {
  const { runId, step: key, attempt, epoch, signal } = call;
  return { runId, step: key, attempt, epoch, key: call.key, signal, agent };
};

/** Also what a person said a call had answered, or a hook found. */
const isToolError = (value: unknown): value is ToolError =>
  isObject(value) && value["isError"] === true && typeof value["text"] === "string";

function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : render(error);
}

/**
 * Not for the model to deal with: what says so itself, and the engine's own errors. It is told of a policy's no, and of a lost answer
 * only where another call does no harm.
 */
function endsAgent(error: unknown, effect: Effect | undefined): boolean {
  if (isFatal(error)) return true;
  if (!HoldfastError.is(error) || error.code === "HF-2116" || error.code === "HF-2203") return false;
  return effect !== "repeatable" || (error.code !== "HF-2102" && error.code !== "HF-2140");
}

const argsOf = ({ input }: ToolCall): string => dataDigest(input ?? null);

const earlier = ({ acted }: Caller, call: ToolCall): Acted | undefined => {
  const args = argsOf(call);
  return acted.find((one) => one.tool === call.tool && one.args === args);
};

/** Whether a call that may have acted is asked for once more. One that has begun is gone on with. */
function isRepeat(caller: Caller, { effect, onRepeat }: AgentTool, call: ToolCall): boolean {
  if (effect === "repeatable" || onRepeat === "allow" || !earlier(caller, call)) return false;
  return caller.ctx.isRecorded(gateName(call), shown(caller, call)) || !isRecorded(caller.ctx, call);
}

const gateName = ({ tool }: ToolCall): string => `repeat:${tool}`;

const shown = (caller: Caller, call: ToolCall) => {
  const { turn = 0 } = earlier(caller, call) ?? {};
  const question = `Agent ${caller.name} asks for ${call.tool} a second time with the same arguments. Turn ${turn + 1} has called it already.`;
  return { question, tool: call.tool, input: call.input };
};

/** Asks a person; answers why the call is not made, if it is not. */
async function askAgain(caller: Caller, call: ToolCall): Promise<string | undefined> {
  const show = shown(caller, call);
  const answer = await caller.ctx.gate(gateName(call), { show, choices: ["approve", "deny"], text: true });
  if (answer.choice === "approve") return undefined;
  const words = answer.text ? ` ${answer.text}` : "";
  return `It was not called again: it was called with the same arguments before, and ${answer.actor} said no.${words}`;
}

/** A `once` call that has answered may have acted, also where it answered with an error; a `keyed` one would come under a new key. */
function noteActed(caller: Caller, { effect = "once" }: AgentTool, call: ToolCall, isError: boolean): void {
  const mayHaveActed = effect === "once" || (effect === "keyed" && isError);
  if (mayHaveActed && !earlier(caller, call))
    caller.acted.push({ tool: call.tool, args: argsOf(call), turn: caller.turn });
}
