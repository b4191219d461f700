import { HoldfastError } from "../core/errors.ts";
import { isQuarantined } from "../core/guards/content.ts";
import type { Message, ToolCall } from "./model.ts";
import { withOwnIds } from "./reply.ts";
import { isObject } from "./schema-rules.ts";

/** The text fields of each message role; other fields are passed on unchanged. */
const TEXTS: Readonly<Record<Message["role"], readonly string[]>> = {
  user: ["text"],
  assistant: ["text"],
  tool: ["text", "call", "tool"],
};

/**
 * Prepares the conversation for sending. It may have been restored, edited or handed over: whatever it says counts as
 * the words of a user, an assistant or a tool; the system text comes from the code alone. Empty texts and duplicate ids
 * are repaired. What can't be repaired without guessing is refused before anything is sent (HF-2165), because a
 * provider would always refuse it.
 */
export function sendable(agent: string, messages: readonly Message[]): Message[] {
  const refuse = (problem: string) => new HoldfastError("HF-2165", { agent, problem });
  if (!Array.isArray(messages)) throw refuse("there are no messages");
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    if (!isMessage(message)) throw refuse(`message ${index + 1} isn't from a user, an assistant or a tool`);
  }
  const sent = new Conversation(refuse);
  for (const [index, message] of messages.entries()) sent.add(message, index + 1);
  return sent.end();
}

function isMessage(message: unknown): boolean {
  const role = isObject(message) ? message["role"] : undefined;
  if (!isObject(message) || typeof role !== "string" || !Object.hasOwn(TEXTS, role)) return false;
  const hasTexts = TEXTS[role as Message["role"]].every((key) => typeof message[key] === "string");
  return hasTexts && (role !== "assistant" || isCalls(message["calls"]));
}

const isCalls = (calls: unknown): boolean =>
  calls === undefined ||
  (Array.isArray(calls) && calls.every((call) => isObject(call) && typeof call["tool"] === "string"));

type Refuse = (problem: string) => HoldfastError;

/** A call without a result so far. */
interface Open {
  /** The id that its result uses. */
  readonly said: string;
  readonly call: ToolCall;
  readonly at: number;
}

/** Assembles a conversation message by message. */
class Conversation {
  readonly #sent: Message[] = [];
  readonly #refuse: Refuse;
  #open: Open[] = [];

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  add(message: Message, at: number): void {
    if (message.role === "tool") return this.#answer(message, at);
    this.#checkAnswered();
    const isEmpty = message.text.trim() === "";
    if (message.role === "user") {
      if (!isEmpty) this.#sent.push(message);
      return;
    }
    const calls = withOwnIds(message.calls ?? [], this.#sent, at);
    if (isEmpty && calls.length === 0 && message.native === undefined) return;
    const isSame = calls.every((call, index) => call === message.calls?.[index]);
    const { native: _, ...plain } = message;
    this.#sent.push(isSame ? message : { ...plain, calls });
    this.#open = calls.map((call, index) => ({ said: message.calls?.[index]?.id ?? "", call, at }));
  }

  #answer(message: Extract<Message, { role: "tool" }>, at: number): void {
    const index = this.#open.findIndex(
      ({ said, call }) => said === message.call && call.tool === message.tool,
    );
    const [open] = index < 0 ? [] : this.#open.splice(index, 1);
    if (!open) throw this.#refuse(`message ${at} is a result of ${message.tool} that no open call asked for`);
    const text = message.text === "" ? "(no output)" : message.text;
    const isSame = text === message.text && open.call.id === message.call;
    this.#sent.push(isSame ? message : { ...message, call: open.call.id, text });
  }

  #checkAnswered(): void {
    const [open] = this.#open;
    if (open) throw this.#refuse(`message ${open.at} calls ${open.call.tool}, and no result follows`);
  }

  end(): Message[] {
    this.#checkAnswered();
    if (this.#sent.length === 0) throw this.#refuse("there is nothing in it to send");
    return this.#sent;
  }
}

/** Throws HF-2117 when the content check has quarantined the loop's state. */
export function checkHeldBack(agent: string, state: object): void {
  if (isQuarantined(state)) throw new HoldfastError("HF-2117", { step: agent, reason: state.quarantined });
}
