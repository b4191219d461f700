import { badOption, checkOneOf, checkWhole } from "../core/check-options.ts";
import type { Context, ReceivedSignal } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { retryPolicy } from "../core/run/retry.ts";
import type { Agent, AgentResult, AgentSpec, Talk } from "./agent-spec.ts";
import { type Answered, refuseCut, takeAnswer } from "./answer.ts";
import { added, askModel, saidBy } from "./ask-model.ts";
import { callTools } from "./call-tools.ts";
import { compactTalk } from "./compact-talk.ts";
import { checkCompaction } from "./compaction.ts";
import { givenSchema } from "./given-schema.ts";
import { givenTools } from "./given-tools.ts";
import { checkHandoffs, handedOver, takeHandoff, wordsOf } from "./handoff.ts";
import { checkMemory, Recall } from "./memory.ts";
import type { Message, ModelReply } from "./model.ts";
import { MODEL_RETRY, refuseUnpriced } from "./model-calls.ts";
import { render } from "./render.ts";
import { withOwnIds } from "./reply.ts";
import { checkHeldBack } from "./transcript.ts";

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
  return (await runChain(ctx, name, spec, [])) as AgentResult<T>;
}

/** Agents that hand over to each other without end would spend without end. */
const MOST_AGENTS = 20;

/** Runs an agent, and those that it hands over to. */
async function runChain(
  ctx: Context,
  name: string,
  spec: AgentSpec,
  before: readonly string[],
): Promise<AgentResult> {
  const agents = [...before, name];
  if (agents.length > MOST_AGENTS)
    throw new HoldfastError("HF-4601", { agent: name, most: MOST_AGENTS, path: agents.join(", ") });
  const agent = await checked(ctx, name, spec);
  const state = await ctx.loop(name, initialTalk(spec), async (talk, turn) => {
    checkHeldBack(name, talk);
    if (turn.index >= agent.maxTurns)
      throw new HoldfastError("HF-2141", { agent: name, limit: agent.maxTurns });
    await takeTurn(agent, talk, turn.index);
    return talk.answer || talk.handoff ? turn.done() : undefined;
  });
  checkHeldBack(name, state);
  if (state.handoff) return takenOver(agent, state, agents);
  const { answer, usage, turns } = state;
  const { output, text, model, finish = "other" } = answer as Answered;
  return { output: await agent.rules.made(output), text, usage, model, turns, finish, agents };
}

const initialTalk = ({ messages = [], prompt, memory }: AgentSpec): Talk => ({
  messages: [...messages, { role: "user", text: prompt }],
  usage: { inputTokens: 0, outputTokens: 0 },
  turns: 0,
  reasks: 0,
  answer: null,
  ...(memory?.ids ? { memory: [...memory.ids] } : {}),
});

/** The successor goes on with what it was handed; what both have used is added up. */
async function takenOver(agent: Agent, state: Talk, agents: readonly string[]): Promise<AgentResult> {
  const { ctx, name, spec } = agent;
  const { handoff, given } = handedOver(agent, state);
  if (handoff.child) {
    const output: unknown = await ctx.child(given.to, handoff.child, given);
    const { usage, turns } = state;
    const text = render(output);
    return { output, text, usage, model: spec.model, turns, finish: "stop", agents: [...agents, given.to] };
  }
  if (!handoff.agent) throw badOption(`handoffs.${given.to}`, "it needs an agent or a child");
  const { agent: next } = handoff;
  const memory = next.memory ?? spec.memory;
  const prompt = [next.prompt, wordsOf(name, given.payload)].filter((part) => part !== undefined);
  const result = await runChain(
    ctx,
    given.to,
    {
      ...next,
      prompt: prompt.join("\n\n"),
      messages: given.messages,
      ...(memory ? { memory: { ...memory, ids: [...(next.memory?.ids ?? []), ...given.memory] } } : {}),
    },
    agents,
  );
  return { ...result, usage: added(state.usage, result.usage), turns: state.turns + result.turns };
}

async function checked(ctx: Context, name: string, spec: AgentSpec): Promise<Agent> {
  const { output, tools = [], maxTurns = 50, reask = 2, acceptCut = false, onInterrupt = "rerun" } = spec;
  checkOneOf("onInterrupt", onInterrupt, ["rerun", "ask"]);
  checkCompaction(spec.compact);
  checkMemory(spec.memory);
  const schema = output && (await givenSchema(output, `the answer of ${name}`));
  const ready = await givenTools(tools, spec.effects);
  return {
    ctx,
    name,
    spec,
    tools: ready,
    handoffs: await checkHandoffs(spec.handoffs, ready),
    recall: spec.memory && new Recall(name, spec.memory),
    retry: retryPolicy(spec.retry, MODEL_RETRY),
    maxTurns: checkWhole("maxTurns", maxTurns, 1),
    rules: {
      agent: name,
      schema: schema?.json,
      fits: schema?.fits,
      made: async (value) => (schema ? schema.made(value) : value),
      acceptCut,
      reask: checkWhole("reask", reask, 0),
    },
  };
}

async function takeTurn(agent: Agent, talk: Talk, turn: number): Promise<void> {
  const { ctx, name, tools, rules } = agent;
  ctx.agent(name, { status: "working", state: { turn } });
  await listen(agent, talk, false);
  await agent.recall?.select(ctx, talk);
  await compactTalk(agent, talk);
  const given = await askModel(agent, talk, turn);
  const reply = { ...given, calls: withOwnIds(given.calls, talk.messages, turn) };
  talk.turns++;
  talk.usage = added(talk.usage, reply.usage);
  const { inputTokens, outputTokens } = reply.usage;
  if (agent.spec.compact && inputTokens > 0) talk.context = inputTokens + outputTokens;
  talk.messages.push(saidBy(reply, given, agent.spec));
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
  const others = reply.calls.filter(({ tool }) => !agent.handoffs.has(tool));
  talk.messages.push(...(await callTools({ ctx, name, tools, turn, acted }, others)));
  await takeHandoff(agent, talk, reply.calls);
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
  const answer = await takeAnswer(rules, talk, reply);
  if (!answer || (await listen(agent, talk, true))) return;
  talk.answer = answer;
  ctx.agent(name, { status: "done", state: { turns: talk.turns } });
}
