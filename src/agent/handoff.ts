import { badOption, checkKeys, checkObject, keysOf } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkNamed } from "../core/names.ts";
import type { Agent, HandedOver, Handoff, ReadyHandoff, Talk } from "./agent-spec.ts";
import { fitOf, toolMessage } from "./call-tools.ts";
import { readyTool } from "./given-tools.ts";
import type { JsonSchema, Message, ToolCall } from "./model.ts";
import { render } from "./render.ts";
import { checkTools, type ReadyTool } from "./tool.ts";

const REASON: JsonSchema = {
  type: "object",
  properties: { reason: { type: "string" } },
  required: ["reason"],
};

/** Leaves room for the prefix in a tool's name. */
const MOST_IN_NAME = 40;

/** The handoffs by the name of the tool that asks for them. */
export async function checkHandoffs(
  handoffs: Readonly<Record<string, Handoff>> | undefined,
  tools: ReadonlyMap<string, ReadyTool>,
): Promise<ReadonlyMap<string, ReadyHandoff>> {
  const ready = new Map<string, ReadyHandoff>();
  if (handoffs === undefined) return ready;
  checkObject("handoffs", handoffs, "agents by name");
  for (const [to, handoff] of Object.entries(handoffs)) {
    const option = `handoffs.${to}`;
    checkNamed("agent", to, MOST_IN_NAME);
    checkKeys(
      handoff,
      keysOf<Handoff>({ description: true, payload: true, agent: true, child: true, conversation: true }),
      option,
    );
    if (!handoff.agent === !handoff.child) throw badOption(option, "it needs either an agent or a child");
    const name = `transfer_to_${to.replace(/[^a-zA-Z0-9_-]/g, "_")}`;
    const tool = await readyTool({
      name,
      description: handoff.description ?? `Hands the conversation over to ${to}.`,
      parameters: handoff.payload ?? REASON,
      effect: "repeatable",
      run: () => undefined,
    });
    ready.set(name, { to, tool, handoff });
  }
  checkTools([...tools.values(), ...[...ready.values()].map(({ tool }) => tool)]);
  return ready;
}

/** Answers the calls of a reply that ask for a handoff. The first with a payload that fits is taken. */
export async function takeHandoff(agent: Agent, talk: Talk, calls: readonly ToolCall[]): Promise<void> {
  const { ctx, name, handoffs } = agent;
  for (const call of calls) {
    const found = handoffs.get(call.tool);
    if (!found) continue;
    const fit = await fitOf(new Map([[call.tool, found.tool]]), call);
    if ("refusal" in fit || talk.handoff) {
      const why = "refusal" in fit ? fit.refusal : `${talk.handoff?.to} has taken over already.`;
      talk.messages.push(toolMessage(call, why, true));
      continue;
    }
    const { to } = found;
    talk.handoff = { to, payload: call.input };
    talk.messages.push(toolMessage(call, `Handed over to ${to}.`, false));
    ctx.decide({ agent: name, type: "handoff", description: `hands over to ${to}` });
    ctx.agent(name, { status: "handed over", state: { to, turns: talk.turns } });
  }
}

/** What the agent has handed over, and to whom. */
export function handedOver(
  { name, handoffs }: Agent,
  { handoff, messages, memory = [] }: Talk,
): { readonly handoff: Handoff; readonly given: HandedOver } {
  const { to, payload } = handoff as NonNullable<Talk["handoff"]>;
  const found = [...handoffs.values()].find((one) => one.to === to);
  if (!found) throw new HoldfastError("HF-4603", { agent: name, to });
  const carried: readonly Message[] = found.handoff.conversation === false ? [] : messages;
  return { handoff: found.handoff, given: { from: name, to, payload, messages: carried, memory } };
}

/** The payload, in words for the successor. */
export const wordsOf = (from: string, payload: unknown): string =>
  `You take over from ${from}, which hands you this: ${render(payload)}`;
