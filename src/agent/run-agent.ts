import { checkWhole } from "../core/check-options.ts";
import type { Context, ReceivedSignal, StepCall } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { RetryOption, RetryPolicy } from "../core/options.ts";
import { defaultRetry, retryPolicy } from "../core/run/retry.ts";
import { type Answered, type AnswerRules, refuseCut, takeAnswer } from "./answer.ts";
import { type Acted, callTools } from "./call-tools.ts";
import type { JsonSchema, Message, ModelProvider, ModelReply, ModelRequest, Reasoning } from "./model.ts";
import { render } from "./render.ts";
import { takenReply, withOwnIds } from "./reply.ts";
import { checkSchema } from "./schema.ts";
import { type AgentTool, checkTools } from "./tool.ts";
import { checkHeldBack, sendable } from "./transcript.ts";

/** What an agent is: a model, what it is asked, and what it may use. */
export interface AgentSpec {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly system?: string;
  readonly prompt: string;
  /** What was said before the prompt. */
  readonly messages?: readonly Message[];
  readonly tools?: readonly AgentTool[];
  /** JSON Schema of the answer. Without one the answer is its text. */
  readonly output?: JsonSchema;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  /** Model calls in all. Default 50; reaching it is an error (HF-2141). */
  readonly maxTurns?: number;
  /** How often an answer that does not parse or fit, is empty or was cut off goes back with the problems. Default 2. */
  readonly reask?: number;
  /** Takes a text that was cut off by the limit of tokens for an answer; `finish` of the result is `length` then. */
  readonly acceptCut?: boolean;
  /** Of a model call. Default: 6 attempts over up to 10 minutes, and never sooner than the provider asks for. */
  readonly retry?: RetryOption;
  /** Of one model call. */
  readonly timeoutMs?: number;
  /** The how-many-eth time the same agent is at work; the first is 1. Lets a scripted provider choose its answer. */
  readonly visit?: number;
  /** By model, for providers that do not say what a call cost. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Left out when nothing is known of any price. */
  readonly costUsd?: number;
}

export interface AgentResult<T = unknown> {
  /** The answer: the value that fits `output`, or the text. */
  readonly output: T;
  readonly text: string;
  readonly usage: AgentUsage;
  /** The model that gave the answer, as the provider names it. */
  readonly model: string;
  /** Model calls that were answered. */
  readonly turns: number;
  /** Why the model ended its answer: `stop` when it had said everything, `length` when it was cut off (see `acceptCut`). */
  readonly finish: ModelReply["finish"];
}

/** The loop's state: plain data, of which each turn saves what it changed. */
interface Talk {
  messages: Message[];
  usage: AgentUsage;
  turns: number;
  reasks: number;
  answer: Answered | null;
  /** Tool calls that may have acted. */
  acted?: Acted[];
  /** Position up to which it has heard what people injected. */
  heard?: number;
}

/** An agent at work: what was given, taken and completed. */
interface Agent {
  readonly ctx: Context;
  readonly name: string;
  readonly spec: AgentSpec;
  readonly tools: ReadonlyMap<string, AgentTool>;
  readonly retry: RetryPolicy;
  readonly maxTurns: number;
  readonly rules: AnswerRules;
}

const MODEL_RETRY: RetryPolicy = {
  ...defaultRetry,
  attempts: 6,
  baseMs: 1_000,
  maxMs: 60_000,
  maxWaitMs: 600_000,
};

/**
 * Lets a model work with tools until it answers. A turn is a model call and the tools it asks for; each is a step. After a crash the
 * agent goes on within the turn it was in: what the model has answered is not asked again, what a tool has done is not done again.
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
  const { output, tools = [], maxTurns = 50, reask = 2, acceptCut = false } = spec;
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
  await checkPrice(agent, reply);
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

/** Adds what people have injected since it last looked; answers whether there was anything. */
async function listen({ ctx, name }: Agent, talk: Talk, isLast: boolean): Promise<boolean> {
  const { messages, upTo } = await ctx.injected(name, { after: talk.heard ?? 0, isLast });
  if (upTo > 0) talk.heard = upTo;
  for (const injected of messages) talk.messages.push(fromPerson(injected));
  return messages.length > 0;
}

/** Context that people inject is theirs: it never becomes a system text. */
function fromPerson({ payload }: ReceivedSignal): Message {
  return { role: "user", text: render(payload ?? null), origin: "human" };
}

/** A reply without calls is the answer, unless something was said meanwhile that its model has not seen. */
async function takeLast(agent: Agent, talk: Talk, reply: ModelReply): Promise<void> {
  const { ctx, name, rules } = agent;
  const answer = takeAnswer(rules, talk, reply);
  if (!answer || (await listen(agent, talk, true))) return;
  talk.answer = answer;
  ctx.agent(name, { status: "done", state: { turns: talk.turns } });
}

/** A limit of cost that cannot be kept is not passed over in silence. */
async function checkPrice({ ctx, name }: Agent, { usage, model }: ModelReply): Promise<void> {
  if (usage.costUsd !== undefined) return;
  const limit = (await ctx.limits())?.costUsd;
  if (limit !== undefined) throw new HoldfastError("HF-2201", { agent: name, model, limit });
}

/** What only the provider understands names calls by the ids it gave them: where one was changed, it is left out. */
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
  const { provider, model, timeoutMs, prices } = spec;
  // Out of the draft, which ends with the turn.
  const messages = sendable(name, JSON.parse(JSON.stringify(talk.messages)) as Message[]);
  const work = async ({ attempt, signal }: StepCall): Promise<ModelReply> => {
    const given = await provider.generate({ ...asked(spec), messages, agent: name, turn, attempt, signal });
    const reply = priced(takenReply(given, model), model, prices);
    const { inputTokens, outputTokens, costUsd } = reply.usage;
    ctx.usage({
      tokens: inputTokens + outputTokens,
      model: reply.model,
      ...defined({ costUsd }),
    });
    return reply;
  };
  const reply = await ctx.step("model", work, {
    effect: "repeatable",
    input: { provider: provider.name, model },
    retry,
    ...defined({ timeoutMs }),
  });
  // Prices may have been given since it was asked.
  const now = priced(reply, model, prices);
  if (now.usage.costUsd !== undefined && reply.usage.costUsd === undefined)
    ctx.usage({ costUsd: now.usage.costUsd });
  return now;
}

/** What is the same for every turn. */
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

const MILLION = 1_000_000;

/** The reply with what it cost, as far as that is known. */
function priced(reply: ModelReply, asked: string, prices: AgentSpec["prices"]): ModelReply {
  const { usage, model } = reply;
  const price = prices?.[asked] ?? prices?.[model];
  if (usage.costUsd !== undefined || !price) return reply;
  const costUsd = (usage.inputTokens * price.input + usage.outputTokens * price.output) / MILLION;
  return { ...reply, usage: { ...usage, costUsd } };
}

function added(sum: AgentUsage, { inputTokens, outputTokens, costUsd }: AgentUsage): AgentUsage {
  const cost = costUsd === undefined ? sum.costUsd : (sum.costUsd ?? 0) + costUsd;
  return {
    inputTokens: sum.inputTokens + inputTokens,
    outputTokens: sum.outputTokens + outputTokens,
    ...defined({ costUsd: cost }),
  };
}
