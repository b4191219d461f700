import { checkOneOf, checkWhole } from "../core/check-options.ts";
import type { Context, ReceivedSignal, StepCall } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { RetryOption, RetryPolicy } from "../core/options.ts";
import type { LimitUse } from "../core/rate-limit.ts";
import { retryPolicy } from "../core/run/retry.ts";
import { type Answered, type AnswerRules, refuseCut, takeAnswer } from "./answer.ts";
import { type Acted, callTools } from "./call-tools.ts";
import type { JsonSchema, Message, ModelProvider, ModelReply, ModelRequest, Reasoning } from "./model.ts";
import {
  costOf,
  MODEL_RETRY,
  type ModelPrice,
  modelLimits,
  type ReachedModel,
  refuseUnpriced,
} from "./model-calls.ts";
import { render } from "./render.ts";
import { takenReply, withOwnIds } from "./reply.ts";
import { checkSchema } from "./schema.ts";
import { type AgentTool, checkTools } from "./tool.ts";
import { checkHeldBack, sendable } from "./transcript.ts";

/** The definition of an agent: its model, its prompt, and its tools. */
export interface AgentSpec {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly system?: string;
  readonly prompt: string;
  /** The messages before the prompt. */
  readonly messages?: readonly Message[];
  readonly tools?: readonly AgentTool[];
  /** The JSON Schema of the answer. Without one, the answer is text. */
  readonly output?: JsonSchema;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  /** The maximum number of model calls. Default 50; exceeding it is an error (HF-2141). */
  readonly maxTurns?: number;
  /**
   * How often an answer that doesn't parse or match, is empty or was cut off is sent back with its problems. Default 2.
   */
  readonly reask?: number;
  /** Accepts a text that was cut off by the token limit as an answer; the result's `finish` is then `length`. */
  readonly acceptCut?: boolean;
  /** For model calls. Default: 6 attempts over up to 10 minutes, and never sooner than the provider asks for. */
  readonly retry?: RetryOption;
  /** For one model call. */
  readonly timeoutMs?: number;
  /**
   * The fate of a model call that a crash has interrupted. `rerun` (the default): it is made again. `ask`: its
   * outcome is in doubt, and a person decides whether it is made again or what it answered; a text will do.
   */
  readonly onInterrupt?: "rerun" | "ask";
  /** Counts how often the same agent has started; the first is 1. Lets a scripted provider choose its answer. */
  readonly visit?: number;
  /** Prices by model, for providers that don't report the cost of a call. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

/** What an agent has used: turns, tokens and cost. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Omitted when no price is known. */
  readonly costUsd?: number;
}

/** What an agent returns: its answer, how it ended, and what it used. */
export interface AgentResult<T = unknown> {
  /** The answer: the value that matches `output`, or the text. */
  readonly output: T;
  readonly text: string;
  readonly usage: AgentUsage;
  /** The model that gave the answer, as named by the provider. */
  readonly model: string;
  /** The number of answered model calls. */
  readonly turns: number;
  /** Why the model ended its answer: `stop` when it was complete, `length` when it was cut off (see `acceptCut`). */
  readonly finish: ModelReply["finish"];
}

/** The loop's state: plain data; each turn saves its changes. */
interface Talk {
  messages: Message[];
  usage: AgentUsage;
  turns: number;
  reasks: number;
  answer: Answered | null;
  /** Tool calls that may have taken effect. */
  acted?: Acted[];
  /** The position up to which it has received injected messages. */
  heard?: number;
}

/** A running agent: its spec with defaults applied. */
interface Agent {
  readonly ctx: Context;
  readonly name: string;
  readonly spec: AgentSpec;
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly retry: RetryPolicy;
  readonly maxTurns: number;
  readonly rules: AnswerRules;
}

/**
 * Lets a model work with tools until it answers. A turn is a model call and the tool calls it requests; each is a step.
 * After a crash the agent continues within its current turn: an answered model call isn't repeated, and neither is a
 * finished tool call.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 * import { runAgent, scriptedProvider } from "holdfast/agent";
 *
 * const provider = scriptedProvider({ agents: { greeter: [{ text: "Good morning." }] } });
 * export const greet = workflow("greet", async (ctx) => {
 *   const { text } = await runAgent(ctx, "greeter", { provider, model: "any", prompt: "Say good morning." });
 *   return text;
 * });
 * ```
 */
export async function runAgent<T = unknown>(
  ctx: Context,
  name: string,
  spec: AgentSpec,
): Promise<AgentResult<T>> {
  const agent = checked(ctx, name, spec);
  const initial: Talk = {
    messages: [...(spec.messages ?? []), { role: "user", text: spec.prompt }],
    usage: { inputTokens: 0, outputTokens: 0 },
    turns: 0,
    reasks: 0,
    answer: null,
  };
  const state = await ctx.loop(name, initial, async (talk, turn) => {
    checkHeldBack(name, talk);
    if (turn.index >= agent.maxTurns)
      throw new HoldfastError("HF-2141", { agent: name, limit: agent.maxTurns });
    await takeTurn(agent, talk, turn.index);
    return talk.answer ? turn.done() : undefined;
  });
  checkHeldBack(name, state);
  const { answer, usage, turns } = state;
  const { output, text, model, finish = "other" } = answer as Answered;
  return { output: output as T, text, usage, model, turns, finish };
}

function checked(ctx: Context, name: string, spec: AgentSpec): Agent {
  const { output, tools = [], maxTurns = 50, reask = 2, acceptCut = false, onInterrupt = "rerun" } = spec;
  checkOneOf("onInterrupt", onInterrupt, ["rerun", "ask"]);
  if (output) checkSchema(output, `the answer of ${name}`);
  return {
    ctx,
    name,
    spec,
    tools: checkTools(tools),
    retry: retryPolicy(spec.retry, MODEL_RETRY),
    maxTurns: checkWhole("maxTurns", maxTurns, 1),
    rules: { agent: name, schema: output, acceptCut, reask: checkWhole("reask", reask, 0) },
  };
}

async function takeTurn(agent: Agent, talk: Talk, turn: number): Promise<void> {
  const { ctx, name, tools, rules } = agent;
  ctx.agent(name, { status: "working", state: { turn } });
  await listen(agent, talk, false);
  const given = await askModel(agent, talk, turn);
  const reply = { ...given, calls: withOwnIds(given.calls, talk.messages, turn) };
  talk.turns++;
  talk.usage = added(talk.usage, reply.usage);
  talk.messages.push(saidBy(reply, given));
  await refuseUnpriced(ctx, name, reply.model, reply.usage.costUsd);
  if (reply.finish === "content-filter")
    throw new HoldfastError("HF-2143", { agent: name, model: reply.model });
  if (reply.calls.length === 0) return takeLast(agent, talk, reply);
  if (reply.finish === "length") return refuseCut(rules, talk, reply);
  ctx.decide({
    agent: name,
    type: "tool-calls",
    description: `calls ${reply.calls.map(({ tool }) => tool).join(", ")}`,
    ...(reply.text === "" ? {} : { rationale: reply.text.slice(0, RATIONALE_CHARS) }),
  });
  const acted = (talk.acted ??= []);
  talk.messages.push(...(await callTools({ ctx, name, tools, turn, acted }, reply.calls)));
}

const RATIONALE_CHARS = 500;

/** Adds messages that people have injected since the last call; returns true if there were any. */
async function listen({ ctx, name }: Agent, talk: Talk, isLast: boolean): Promise<boolean> {
  const { messages, upTo } = await ctx.injected(name, { after: talk.heard ?? 0, isLast });
  if (upTo > 0) talk.heard = upTo;
  for (const injected of messages) talk.messages.push(fromPerson(injected));
  return messages.length > 0;
}

/** Injected context comes from people, so it never becomes system text. */
function fromPerson({ payload }: ReceivedSignal): Message {
  return { role: "user", text: render(payload ?? null), origin: "human" };
}

/** A reply without calls is the answer, unless a message has arrived that the model hasn't seen. */
async function takeLast(agent: Agent, talk: Talk, reply: ModelReply): Promise<void> {
  const { ctx, name, rules } = agent;
  const answer = takeAnswer(rules, talk, reply);
  if (!answer || (await listen(agent, talk, true))) return;
  talk.answer = answer;
  ctx.agent(name, { status: "done", state: { turns: talk.turns } });
}

/** Native data refers to calls by the provider's ids, so it is left out when an id was changed. */
function saidBy({ text, calls, native }: ModelReply, given: ModelReply): Message {
  const isSame = calls.every(({ id }, index) => id === given.calls[index]?.id);
  return {
    role: "assistant",
    text,
    ...(calls.length > 0 ? { calls } : {}),
    ...(native === undefined || !isSame ? {} : { native }),
  };
}

async function askModel({ ctx, name, spec, retry }: Agent, talk: Talk, turn: number): Promise<ModelReply> {
  const { provider, model, timeoutMs, prices, onInterrupt = "rerun" } = spec;
  const isAsked = onInterrupt === "ask";
  // Copied out of the draft, which ends with the turn.
  const messages = sendable(name, JSON.parse(JSON.stringify(talk.messages)) as Message[]);
  const work = async ({ attempt, signal }: StepCall): Promise<ModelReply> => {
    const request = { ...asked(spec), messages, agent: name, turn, attempt, signal };
    const given = await (isAsked ? generated(provider, request) : provider.generate(request));
    const reply = priced(takenReply(given, model), model, prices);
    const { inputTokens, outputTokens, costUsd } = reply.usage;
    ctx.usage({
      tokens: inputTokens + outputTokens,
      model: reply.model,
      ...defined({ costUsd }),
    });
    return reply;
  };
  const recorded: ModelReply | string = await ctx.step<ModelReply | string>("model", work, {
    effect: isAsked ? "once" : "repeatable",
    input: { provider: provider.name, model },
    limit: limitsOf(spec, messages),
    retry,
    ...defined({ timeoutMs }),
  });
  // A person who was asked may have answered with a text.
  const reply = typeof recorded === "string" ? takenReply(saying(recorded), model) : recorded;
  // Prices may have been added since the call.
  const now = priced(reply, model, prices);
  if (now.usage.costUsd !== undefined && reply.usage.costUsd === undefined)
    ctx.usage({ costUsd: now.usage.costUsd });
  return now;
}

/** The rate limits of its provider and of its model. */
function limitsOf(spec: AgentSpec, messages: readonly Message[]): readonly LimitUse[] {
  const { system = "", maxTokens } = spec;
  const characters = system.length + JSON.stringify(messages).length;
  return modelLimits(reached(spec), { characters, maxTokens });
}

/** The provider that a call goes to. One that can't say it refuses the call, which is then recorded. */
function reached({ provider, model }: AgentSpec): ReachedModel {
  const own = { provider: provider.name, model };
  try {
    return provider.resolve?.(model) ?? own;
  } catch {
    return own;
  }
}

const saying = (text: string): ModelReply => ({
  text,
  calls: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  model: "",
  finish: "stop",
});

async function generated(provider: ModelProvider, request: ModelRequest): Promise<ModelReply> {
  try {
    return await provider.generate(request);
  } catch (error) {
    throw known(error);
  }
}

/** An error that the provider gave is an outcome: only a crash leaves a call in doubt. */
function known(error: unknown): unknown {
  if (error instanceof Error && Object.isExtensible(error)) return Object.assign(error, { notDone: true });
  return Object.assign(new Error(String(error), { cause: error }), { notDone: true });
}

/** The part of a request that is the same for every turn. */
function asked(
  spec: AgentSpec,
): Pick<
  ModelRequest,
  "model" | "system" | "tools" | "schema" | "temperature" | "maxTokens" | "reasoning" | "visit"
> {
  const { model, system, tools = [], output, temperature, maxTokens, reasoning, visit } = spec;
  const specs = tools.map(({ name, description, parameters }) => ({
    name,
    parameters,
    ...defined({ description }),
  }));
  return {
    model,
    ...defined({ system }),
    ...(specs.length === 0 ? {} : { tools: specs }),
    ...defined({ schema: output, temperature, maxTokens, reasoning, visit }),
  };
}

/** The reply with its cost, as far as that is known. */
function priced(reply: ModelReply, asked: string, prices: AgentSpec["prices"]): ModelReply {
  const { usage, model } = reply;
  return {
    ...reply,
    usage: { ...usage, ...defined({ costUsd: usage.costUsd ?? costOf(usage, [asked, model], prices) }) },
  };
}

function added(sum: AgentUsage, { inputTokens, outputTokens, costUsd }: AgentUsage): AgentUsage {
  const cost = costUsd === undefined ? sum.costUsd : (sum.costUsd ?? 0) + costUsd;
  return {
    inputTokens: sum.inputTokens + inputTokens,
    outputTokens: sum.outputTokens + outputTokens,
    ...defined({ costUsd: cost }),
  };
}
