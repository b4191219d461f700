import { checkKeys } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { isQuarantined } from "../core/guards/content.ts";
import { wellFormed } from "../core/values/well-formed.ts";
import type { Message, ToolCall } from "./model.ts";
import { withOwnIds } from "./reply.ts";
import { isObject } from "./schema-rules.ts";

/** The text fields of each message role; other fields are passed on unchanged. */
const TEXTS: Readonly<Record<Message["role"], readonly string[]>> = {
  user: ["text"],
  assistant: ["text"],
  tool: ["text", "call", "tool"],
};

/** The result of a call that has none: neither success nor failure is claimed. */
const UNKNOWN =
  "The outcome of this call is unknown: it was interrupted before a result was recorded. It may or may not have taken effect.";
const OMITTED = "(The conversation before this is not included.)";
const GO_ON = "Go on.";

/** Options of {@link transcript}. */
export interface TranscriptOptions {
  /** The agent's name, for errors. */
  readonly agent?: string;
  /** The model that it goes to, as `provider/model`. Data that another model alone understands is left out. */
  readonly to?: string;
}

/**
 * The conversation as every provider accepts it, from whatever is left of one: after a crash, an edit, a fork, a
 * compaction or a change of model. Each call is directly followed by exactly one result; a missing one says that the
 * outcome is unknown. It begins and ends with a user or a tool, no assistant follows another, and ids, names and texts
 * have a form that all providers take. System text comes from the code alone. What can't be repaired without guessing
 * is refused (HF-2165): a result of no call, a second result of one.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { messagesAt, transcript } from "holdfast/agent";
 *
 * export const sentAt = async (engine: Engine, checkpoint: string) =>
 *   transcript(messagesAt(await engine.checkpoints.state(checkpoint), "clerk"), { to: "anthropic/claude-opus-5-5" });
 * ```
 */
export function transcript(messages: readonly Message[], options: TranscriptOptions = {}): Message[] {
  checkKeys(options, ["agent", "to"]);
  const { agent = "agent", to } = options;
  const refuse = (problem: string) => new HoldfastError("HF-2165", { agent, problem });
  if (!Array.isArray(messages)) throw refuse("there are no messages");
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    if (!isMessage(message)) throw refuse(`message ${index + 1} isn't from a user, an assistant or a tool`);
  }
  return framed(new Conversation(to).of(paired(messages, refuse)), refuse);
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

type User = Extract<Message, { role: "user" }>;
type Assistant = Extract<Message, { role: "assistant" }>;
type Result = Extract<Message, { role: "tool" }>;

/** An assistant's message with the results of its calls, in the order of the calls. */
interface Asked {
  readonly message: Assistant;
  readonly at: number;
  readonly results: (Result | undefined)[];
}

type Part = User | Asked;

const isAsked = (part: Part): part is Asked => "results" in part;

/** Gives each result to the latest call without one that it answers, wherever it stands. */
function paired(messages: readonly Message[], refuse: (problem: string) => HoldfastError): Part[] {
  const parts: Part[] = [];
  for (const [index, message] of messages.entries()) {
    const at = index + 1;
    if (message.role === "user") parts.push(message);
    else if (message.role === "assistant")
      parts.push({ message, at, results: (message.calls ?? []).map(() => undefined) });
    else if (!take(parts, message))
      throw refuse(`message ${at} is a result of ${message.tool} that no open call asked for`);
  }
  return parts;
}

/** Calls that were edited may have none. */
const idOf = (id: unknown): string => (typeof id === "string" ? id : "");

function take(parts: readonly Part[], result: Result): boolean {
  for (const part of [...parts].reverse()) {
    if (!isAsked(part)) continue;
    const place = (part.message.calls ?? []).findIndex(
      ({ id, tool }, index) => !part.results[index] && idOf(id) === result.call && tool === result.tool,
    );
    if (place < 0) continue;
    part.results[place] = result;
    return true;
  }
  return false;
}

/** Ids that every provider takes. Native data refers to the model's own, whatever they are. */
const ID = /^[a-zA-Z0-9_-]{1,40}$/;
/** Names that every provider takes. A model may ask for a tool of any name. */
const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

const toolName = (name: string): string => {
  if (NAME.test(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 63);
  return NAME.test(plain) ? plain : `_${plain}`;
};

/** Writes a conversation for one model, message by message. */
class Conversation {
  readonly #to: string | undefined;
  readonly #sent: Message[] = [];

  constructor(to: string | undefined) {
    this.#to = to;
  }

  of(parts: readonly Part[]): Message[] {
    for (const part of parts) {
      if (isAsked(part)) this.#assistant(part);
      else if (part.text.trim() !== "") this.#sent.push({ ...part, text: wellFormed(part.text) });
    }
    return this.#sent;
  }

  #assistant({ message, at, results }: Asked): void {
    const { native, from, calls: asked = [], ...plain } = message;
    const isOwn = from === undefined || this.#to === undefined || from === this.#to;
    const calls = withOwnIds(
      asked.map((call) => portable(call, isOwn && native !== undefined)),
      this.#sent,
      at,
    );
    const isSame = calls.every((call, index) => call.id === asked[index]?.id);
    const text = plain.text.trim() === "" ? "" : wellFormed(plain.text);
    const kept = native !== undefined && isOwn && isSame ? { native: wellFormed(native) } : {};
    // Reasoning alone is no message either: providers want it before what it led to.
    if (text === "" && calls.length === 0) return;
    this.#say({
      ...plain,
      text,
      ...(calls.length > 0 ? { calls } : {}),
      ...kept,
      ...(from === undefined ? {} : { from }),
    });
    for (const [index, call] of calls.entries()) this.#sent.push(resultOf(call, results[index]));
  }

  /** An assistant's message that follows another becomes one with it: providers want them to alternate. */
  #say(message: Assistant): void {
    const last = this.#sent.at(-1);
    if (last?.role !== "assistant") {
      this.#sent.push(message);
      return;
    }
    const { native: _, ...plain } = message;
    const text = [last.text, plain.text].filter((said) => said !== "").join("\n\n");
    this.#sent[this.#sent.length - 1] = { ...plain, text };
  }
}

function portable(call: ToolCall, isOwn: boolean): ToolCall {
  const { tool, input } = call;
  const id = idOf(call.id);
  return {
    ...call,
    id: isOwn || ID.test(id) ? id : "",
    tool: toolName(tool),
    input: wellFormed(input),
  };
}

function resultOf({ id, tool }: ToolCall, result: Result | undefined): Result {
  if (!result) return { role: "tool", call: id, tool, text: UNKNOWN, isError: true };
  // Providers refuse empty results.
  const text = result.text.trim() === "" ? "(no output)" : wellFormed(result.text);
  return { ...result, call: id, tool, text };
}

/** Begins with a user, and ends with what a model can answer. */
function framed(sent: Message[], refuse: (problem: string) => HoldfastError): Message[] {
  const [first, last] = [sent[0], sent.at(-1)];
  if (!first || !last) throw refuse("there is nothing in it to send");
  return [
    ...(first.role === "user" ? [] : [{ role: "user", text: OMITTED, origin: "engine" } as const]),
    ...sent,
    ...(last.role === "assistant" ? [{ role: "user", text: GO_ON, origin: "engine" } as const] : []),
  ];
}

/** Throws HF-2117 when the content check has quarantined the loop's state. */
export function checkHeldBack(agent: string, state: object): void {
  if (isQuarantined(state)) throw new HoldfastError("HF-2117", { step: agent, reason: state.quarantined });
}
