import type { Context, StepCall } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import type { LimitUse } from "../core/rate-limit.ts";
import type { Agent, AgentSpec, AgentUsage, Talk } from "./agent-spec.ts";
import type { Message, ModelProvider, ModelReply, ModelRequest } from "./model.ts";
import { costOf, modelLimits, type ReachedModel } from "./model-calls.ts";
import { takenReply } from "./reply.ts";
import { transcript } from "./transcript.ts";

/** Asks the model in a step: what it has answered isn't asked again. */
export async function askModel(agent: Agent, talk: Talk, turn: number): Promise<ModelReply> {
  const { ctx, name, spec, retry } = agent;
  const { provider, model, timeoutMs, prices, onInterrupt = "rerun" } = spec;
  const isAsked = onInterrupt === "ask";
  // Copied out of the draft, which ends with the turn.
  const own = JSON.parse(JSON.stringify(talk.messages)) as Message[];
  const messages = transcript(own, { agent: name, to: addressOf(reached(spec)) });
  const ids = [...(talk.memory ?? [])];
  const work = async (call: StepCall): Promise<ModelReply> => {
    const { attempt, signal } = call;
    const recalled = (await agent.recall?.messages(ids, call)) ?? [];
    const all = [...recalled, ...messages];
    const request = { ...asked(agent), messages: all, agent: name, turn, attempt, signal };
    const given = await (isAsked ? generated(provider, request) : provider.generate(request));
    return counted(ctx, await priced(ctx, takenReply(given, model), model, prices));
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
  const now = await priced(ctx, reply, model, prices);
  if (now.usage.costUsd !== undefined && reply.usage.costUsd === undefined)
    ctx.usage({ costUsd: now.usage.costUsd });
  return now;
}

/** Adds what a reply cost to the step that it came in. */
export function counted(ctx: Context, reply: ModelReply): ModelReply {
  const { inputTokens, outputTokens, costUsd } = reply.usage;
  ctx.usage({ tokens: inputTokens + outputTokens, model: reply.model, ...defined({ costUsd }) });
  return reply;
}

/** Native data refers to calls by the provider's ids, so it is left out when an id was changed. */
export function saidBy({ text, calls, native }: ModelReply, given: ModelReply, spec: AgentSpec): Message {
  const isSame = calls.every(({ id }, index) => id === given.calls[index]?.id);
  return {
    role: "assistant",
    text,
    ...(calls.length > 0 ? { calls } : {}),
    ...(native === undefined || !isSame ? {} : { native, from: addressOf(reached(spec)) }),
  };
}

/** The rate limits of its provider and of its model. */
export function limitsOf(spec: AgentSpec, messages: readonly Message[]): readonly LimitUse[] {
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

const addressOf = ({ provider, model }: ReachedModel): string => `${provider}/${model}`;

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
function asked({
  spec,
  tools,
  handoffs,
  rules,
}: Agent): Pick<
  ModelRequest,
  "model" | "system" | "tools" | "schema" | "temperature" | "maxTokens" | "reasoning" | "visit"
> {
  const { model, system, temperature, maxTokens, reasoning, visit } = spec;
  const all = [...tools.values(), ...[...handoffs.values()].map(({ tool }) => tool)];
  const specs = all.map(({ name, description, parameters }) => ({
    name,
    parameters,
    ...defined({ description }),
  }));
  return {
    model,
    ...defined({ system }),
    ...(specs.length === 0 ? {} : { tools: specs }),
    ...defined({ schema: rules.schema, temperature, maxTokens, reasoning, visit }),
  };
}

/** The reply with its cost, as far as that is known. */
export async function priced(
  ctx: Context,
  reply: ModelReply,
  asked: string,
  prices: AgentSpec["prices"],
): Promise<ModelReply> {
  const { usage, model } = reply;
  return {
    ...reply,
    usage: {
      ...usage,
      ...defined({ costUsd: usage.costUsd ?? (await costOf(ctx, usage, [asked, model], prices)) }),
    },
  };
}

export function added(sum: AgentUsage, { inputTokens, outputTokens, costUsd }: AgentUsage): AgentUsage {
  const cost = costUsd === undefined ? sum.costUsd : (sum.costUsd ?? 0) + costUsd;
  return {
    inputTokens: sum.inputTokens + inputTokens,
    outputTokens: sum.outputTokens + outputTokens,
    ...defined({ costUsd: cost }),
  };
}
