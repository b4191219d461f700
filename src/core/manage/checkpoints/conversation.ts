import { badOption, checkKeys, checkText, checkWhole, isRecord, keysOf } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import { encode } from "../../values/codec.ts";

/** A message of a conversation with a model, as it is shown. Long texts are cut. */
export interface ConversationMessage {
  /** Its place in the conversation. */
  readonly index: number;
  readonly role: string;
  readonly text: string;
  /** The length of the whole text. */
  readonly length: number;
  /** The tools that the model asked for. */
  readonly calls?: readonly { readonly id: string; readonly tool: string; readonly arguments: string }[];
  /** A tool's answer: which tool, to which call, and whether it failed. */
  readonly tool?: string;
  readonly call?: string;
  readonly isError?: boolean;
  /** Who wrote a user's message, if it wasn't the workflow. */
  readonly origin?: string;
}

export interface ConversationQuery {
  /** The key of the agent's loop. Default: the only one, or the last that has begun. */
  readonly agent?: string;
  readonly from?: number;
  /** The most messages to return. Default 100. */
  readonly limit?: number;
}

/** The conversation of an agent at a checkpoint. */
export interface Conversation {
  /** Every loop of the run that keeps a conversation. */
  readonly agents: readonly string[];
  readonly agent: string | null;
  readonly messages: readonly ConversationMessage[];
  readonly total: number;
  /** Where the next page begins; `null` on the last one. */
  readonly next: number | null;
  readonly turns: number | null;
}

const LIMIT = 100;
const MOST = 500;
const MOST_TEXT = 16_384;

/** Finds conversations by their shape: the state of a loop with a list of messages, as agents keep it. */
export function conversationIn(
  loops: Readonly<Record<string, unknown>>,
  query: ConversationQuery = {},
): Conversation {
  checkKeys(query, keysOf<ConversationQuery>({ agent: true, from: true, limit: true }));
  const from = checkWhole("from", query.from ?? 0, 0);
  const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
  const agents = Object.keys(loops).filter((key) => messagesOf(loops[key]) !== undefined);
  const agent = query.agent === undefined ? agents.at(-1) : checkText("agent", query.agent, 1);
  if (agent === undefined) return { agents, agent: null, messages: [], total: 0, next: null, turns: null };
  const all = Object.hasOwn(loops, agent) ? messagesOf(loops[agent]) : undefined;
  if (all === undefined) throw badOption("agent", "no loop of this name keeps a conversation");
  const page = all.slice(from, from + limit);
  const { turns } = loops[agent] as { readonly turns?: unknown };
  return {
    agents,
    agent,
    messages: page.map((message, index) => shown(message, from + index)),
    total: all.length,
    next: from + limit < all.length ? from + limit : null,
    turns: typeof turns === "number" ? turns : null,
  };
}

type Fields = Readonly<Record<string, unknown>>;

function messagesOf(state: unknown): readonly Fields[] | undefined {
  const messages: unknown = isRecord(state) ? state["messages"] : undefined;
  const isTalk =
    Array.isArray(messages) && messages.every((one) => isRecord(one) && typeof one["role"] === "string");
  return isTalk ? (messages as Fields[]) : undefined;
}

function shown(message: Fields, index: number): ConversationMessage {
  const { role, text, content, calls, tool, call, isError, origin } = message;
  const said = textOf(text ?? content ?? "");
  return {
    index,
    role: String(role),
    text: said.slice(0, MOST_TEXT),
    length: said.length,
    ...defined({
      calls: Array.isArray(calls) ? calls.filter(isRecord).map(callOf) : undefined,
      tool: typeof tool === "string" ? tool : undefined,
      call: typeof call === "string" ? call : undefined,
      isError: typeof isError === "boolean" ? isError : undefined,
      origin: typeof origin === "string" ? origin : undefined,
    }),
  };
}

const callOf = ({ id, tool, arguments: given, input }: Fields) => ({
  id: textOf(id ?? ""),
  tool: textOf(tool ?? ""),
  arguments: textOf(given ?? input ?? {}).slice(0, MOST_TEXT),
});

const textOf = (value: unknown): string => (typeof value === "string" ? value : encode(value));
