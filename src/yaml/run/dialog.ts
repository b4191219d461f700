import type { AgentSpec } from "../../agent/agent-spec.ts";
import type { Message } from "../../agent/model.ts";
import { runAgent } from "../../agent/run-agent.ts";
import type { AgentOf } from "../schema/agents.ts";
import type { FlowRun } from "./machine.ts";

const VERDICT = {
  type: "object",
  properties: { talk: { type: "boolean" }, opening: { type: "string" } },
  required: ["talk", "opening"],
} as const;

/** The choices at the gate of a conversation. */
const SAY = "say";
const PROCEED = "proceed";
const MOST_MESSAGES = 50;

/**
 * When an answer meets the criteria of `dialog.trigger_prompt`, a person may discuss it with the agent: one gate per
 * message, until they let it proceed. Returns the text to add to the prompt for another answer, or nothing when nothing
 * was said.
 */
export async function talkAbout(
  run: FlowRun,
  agent: AgentOf<"agent">,
  spec: AgentSpec,
  criteria: string,
  answer: unknown,
): Promise<string | undefined> {
  const { tools: _, output: __, reasoning: ___, ...same } = spec;
  const text = JSON.stringify(answer, undefined, 2);
  const name = `${agent.name} (dialog)`;
  const verdict = await runAgent<{ talk: boolean; opening: string }>(run.ctx, name, {
    ...same,
    system: `You decide whether an agent should talk with a person before it continues. Open the conversation with one question if so.\n\nCriteria:\n${criteria}`,
    prompt: `The agent ${agent.name} was asked:\n<task>\n${spec.prompt}\n</task>\n\nIt answered:\n<answer>\n${text}\n</answer>`,
    output: VERDICT,
  });
  run.ledger.costUsd += verdict.usage.costUsd ?? 0;
  if (!verdict.output.talk) return undefined;
  const said: Message[] = [
    { role: "user", text: spec.prompt },
    { role: "assistant", text: `${text}\n\n${verdict.output.opening}` },
  ];
  const lines = [`${agent.name}: ${verdict.output.opening}`];
  while (lines.length < MOST_MESSAGES) {
    const show = { answer, conversation: lines };
    const { choice, text: message = "" } = await run.ctx.gate("dialog", {
      show,
      choices: [SAY, PROCEED],
      text: true,
    });
    if (choice === PROCEED || message.trim() === "") break;
    const reply = await runAgent(run.ctx, name, { ...same, prompt: message, messages: said });
    run.ledger.costUsd += reply.usage.costUsd ?? 0;
    said.push({ role: "user", text: message }, { role: "assistant", text: reply.text });
    lines.push(`person: ${message}`, `${agent.name}: ${reply.text}`);
  }
  if (lines.length === 1) return undefined;
  return `\n\n## Conversation with a person about your first answer\n${lines.join("\n")}\n\nAnswer again with this in mind.\n`;
}
