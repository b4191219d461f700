import type { Context, StepCall } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { isFatal } from "../core/run/retry.ts";
import type { Effect } from "../core/types.ts";
import { dataDigest } from "../core/values/codec.ts";
import type { Message, ToolCall } from "./model.ts";
import { cut, render, storable } from "./render.ts";
import { isObject, problemsOf } from "./schema-rules.ts";
import { limitsOf, type ReadyTool, type ToolError, type ToolRun } from "./tool.ts";

export type ToolMessage = Extract<Message, { role: "tool" }>;

/** A call that may have taken effect: if the model repeats it, a person decides. */
export interface Acted {
  readonly tool: string;
  /** The digest of its arguments. */
  readonly args: string;
  /** The turn in which it was made. */
  readonly turn: number;
}

/** The agent that calls tools, and its earlier calls. */
export interface Caller {
  readonly ctx: Context;
  readonly name: string;
  readonly tools: ReadonlyMap<string, ReadyTool>;
  readonly turn: number;
  /** Calls that may have taken effect so far; new ones are added. */
  readonly acted: Acted[];
  /** How its steps and gates are called where the loop gives them no place of their own; default: as they are. */
  readonly nameStep?: (name: string, call: ToolCall) => string;
}

/** Makes the calls of a reply: in order, or in parallel when every call may be repeated. */
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
  // Providers refuse empty results.
  text: text === "" ? "(no output)" : text,
  ...(isError ? { isError } : {}),
});

async function callTool(caller: Caller, call: ToolCall): Promise<ToolMessage> {
  const made = await makeCall(caller, call);
  if ("text" in made) return toolMessage(call, made.text, true);
  const tool = caller.tools.get(call.tool);
  return toolMessage(call, tool?.show ? shownAs(await tool.show(made.value)) : render(made.value), false);
}

/** What came of a call: its value, or the error that the model is told of, in words. */
export type Made = { readonly value: unknown } | { readonly text: string; readonly error?: unknown };

/** Makes one call, or finds out what came of it. Throws only what the model can't handle. */
export async function makeCall(caller: Caller, call: ToolCall): Promise<Made> {
  const { ctx, tools } = caller;
  // A result for other arguments doesn't answer this call.
  const words = { agent: caller.name, tool: call.tool, turn: caller.turn + 1 };
  await ctx.settleArguments(stepName(caller, call), call.input, new HoldfastError("HF-2195", words));
  const fit = await fitOf(tools, call);
  // Recorded results come first: a tool that has since been removed or changed its arguments has still done its work.
  if ("refusal" in fit && !isRecorded(caller, call)) return { text: fit.refusal };
  const tool = tools.get(call.tool);
  const denial = tool && (await deniedBy(caller, tool, call, fit));
  if (denial !== undefined) return { text: denial };
  let value: unknown;
  try {
    value = await step(caller, call, fit);
  } catch (error) {
    if (ctx.abortSignal.aborted || endsAgent(error, tool?.effect)) throw error;
    return { text: errorText(error), error };
  }
  const told = isToolError(value) ? { text: cut(value.text) } : { value };
  if (tool) noteActed(caller, tool, call, "text" in told);
  return told;
}

/** A result in the AI SDK's form, as text. */
function shownAs(output: unknown): string {
  const { type, value } = (isObject(output) ? output : {}) as { type?: unknown; value?: unknown };
  if (type !== "content" || !Array.isArray(value)) return render(type === undefined ? output : value);
  const parts = value.map((part: unknown) =>
    isObject(part) && typeof part["text"] === "string"
      ? part["text"]
      : `[${render(isObject(part) ? part["type"] : part)}]`,
  );
  return cut(parts.join("\n"));
}

/** Asks a person where one must be asked before the call. Returns the reason when it isn't made. */
async function deniedBy(
  caller: Caller,
  tool: ReadyTool,
  call: ToolCall,
  fit: Fit,
): Promise<string | undefined> {
  const denial = isRepeat(caller, tool, call) ? await askAgain(caller, call) : undefined;
  if (denial !== undefined || !tool.needsApproval) return denial;
  const show = {
    question: `Agent ${caller.name} asks for ${call.tool}.`,
    tool: call.tool,
    input: call.input,
  };
  const name = nameOf(caller, "allow", call);
  const isAsked = caller.ctx.isRecorded(name, show);
  const input = "input" in fit ? fit.input : call.input;
  if (!isAsked && (isRecorded(caller, call) || !(await tool.needsApproval(input as never)))) return undefined;
  const answer = await caller.ctx.gate(name, { show, choices: ["approve", "deny"], text: true });
  if (answer.choice === "approve") return undefined;
  return `It was not called: ${answer.actor} said no.${answer.text ? ` ${answer.text}` : ""}`;
}

/** The arguments as the tool takes them, or why the call isn't made, worded for the model. */
type Fit = { readonly input: unknown } | { readonly refusal: string };

export async function fitOf(
  tools: ReadonlyMap<string, ReadyTool>,
  { tool: name, input, problem }: ToolCall,
): Promise<Fit> {
  if (problem !== undefined) return { refusal: `The arguments cannot be taken: ${problem}.` };
  const tool = tools.get(name);
  if (!tool) return { refusal: `There is no tool ${name}. There are: ${[...tools.keys()].join(", ")}.` };
  const own = tool.checksInput ? [] : problemsOf(tool.parameters, input);
  const problems = tool.fits ? await tool.fits(input) : own;
  if (problems.length > 0) return { refusal: `The arguments do not fit: ${problems.join("; ")}.` };
  return { input: tool.made ? await tool.made(input) : input };
}

const stepName = (caller: Caller, call: ToolCall): string => nameOf(caller, "tool", call);

const nameOf = ({ nameStep }: Caller, kind: string, call: ToolCall): string => {
  const name = `${kind}:${call.tool}`;
  return nameStep ? nameStep(name, call) : name;
};

const isRecorded = (caller: Caller, call: ToolCall): boolean =>
  caller.ctx.isRecorded(stepName(caller, call), call.input);

/** If the tool is gone or no longer accepts the arguments, it can't be called: only a recorded result counts. */
function step(caller: Caller, call: ToolCall, fit: Fit): Promise<unknown> {
  const { ctx, name, tools } = caller;
  const tool = tools.get(call.tool);
  const { input } = call;
  if (!tool || "refusal" in fit) {
    const why = "refusal" in fit ? fit.refusal : "";
    const refuse = () => Promise.reject(Object.assign(new Error(why), { notDone: true, retryable: false }));
    return ctx.step(stepName(caller, call), refuse, { effect: tool?.effect ?? "once", input });
  }
  return ctx.step(stepName(caller, call), (made) => work(tool, fit.input, toolRun(made, name)), {
    ...limitsOf(tool),
    effect: tool.effect ?? "once",
    input,
  });
}

async function work(tool: ReadyTool, input: unknown, call: ToolRun): Promise<unknown> {
  const value: unknown = await tool.run(input as never, call);
  return isToolError(value) ? { isError: true, text: cut(value.text) } : storable(value);
}

const toolRun = (call: StepCall, agent: string): ToolRun => {
  const { runId, step: key, attempt, epoch, signal } = call;
  return { runId, step: key, attempt, epoch, key: call.key, signal, agent };
};

/** Also matches results supplied by a person or found by a hook. */
const isToolError = (value: unknown): value is ToolError =>
  isObject(value) && value["isError"] === true && typeof value["text"] === "string";

function errorText(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : render(error);
}

/**
 * True for errors that the model can't handle: those marked fatal, and the engine's own. The model is told of a
 * policy's refusal, and of a lost answer only if repeating the call is harmless.
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

/** True when the model repeats a call that may have taken effect. A call that has already begun continues. */
function isRepeat(caller: Caller, { effect, onRepeat }: ReadyTool, call: ToolCall): boolean {
  if (effect === "repeatable" || onRepeat === "allow" || !earlier(caller, call)) return false;
  return (
    caller.ctx.isRecorded(nameOf(caller, "repeat", call), shown(caller, call)) || !isRecorded(caller, call)
  );
}

const shown = (caller: Caller, call: ToolCall) => {
  const { turn = 0 } = earlier(caller, call) ?? {};
  const question = `Agent ${caller.name} asks for ${call.tool} a second time with the same arguments. Turn ${turn + 1} has called it already.`;
  return { question, tool: call.tool, input: call.input };
};

/** Asks a person. Returns the reason when the call isn't made. */
async function askAgain(caller: Caller, call: ToolCall): Promise<string | undefined> {
  const show = shown(caller, call);
  const answer = await caller.ctx.gate(nameOf(caller, "repeat", call), {
    show,
    choices: ["approve", "deny"],
    text: true,
  });
  if (answer.choice === "approve") return undefined;
  const words = answer.text ? ` ${answer.text}` : "";
  return `It was not called again: it was called with the same arguments before, and ${answer.actor} said no.${words}`;
}

/**
 * A `once` call that returned may have taken effect, even if it returned an error; repeating a `keyed` one would use a
 * new key.
 */
function noteActed(caller: Caller, { effect = "once" }: ReadyTool, call: ToolCall, isError: boolean): void {
  const mayHaveActed = effect === "once" || (effect === "keyed" && isError);
  if (mayHaveActed && !earlier(caller, call))
    caller.acted.push({ tool: call.tool, args: argsOf(call), turn: caller.turn });
}
