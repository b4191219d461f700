import { HoldfastError } from "../core/errors.ts";
import { isQuarantined } from "../core/guards/content.ts";
import type { Message } from "./model.ts";
import { isObject } from "./schema-rules.ts";

/** What each role of a message consists of; everything else is left to what the model itself is given. */
const TEXTS: Readonly<Record<Message["role"], readonly string[]>> = {
  user: ["text"],
  assistant: ["text"],
  tool: ["text", "call", "tool"],
};

/**
 * Refuses a conversation that is not one (HF-2165). It may have been restored, edited or handed on: whatever it says, it is the words of
 * a user, an assistant or a tool. The system text comes from the code alone.
 */
export function checkTranscript(agent: string, messages: readonly Message[]): void {
  const refuse = (problem: string) => new HoldfastError("HF-2165", { agent, problem });
  if (!Array.isArray(messages)) throw refuse("there are no messages");
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    const role = isObject(message) ? message["role"] : undefined;
    const texts =
      typeof role === "string" && Object.hasOwn(TEXTS, role) ? TEXTS[role as Message["role"]] : [];
    const isWhole =
      texts.length > 0 && texts.every((key) => typeof (message as Record<string, unknown>)[key] === "string");
    if (!isWhole) throw refuse(`message ${index + 1} is none of a user, an assistant or a tool`);
  }
}

/** The state of an agent's loop that the content check has held back is of no use (HF-2117). */
export function checkHeldBack(agent: string, state: object): void {
  if (isQuarantined(state)) throw new HoldfastError("HF-2117", { step: agent, reason: state.quarantined });
}
