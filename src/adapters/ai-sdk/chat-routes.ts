import { badOption, checkKeys, checkText, isRecord, keysOf } from "../../core/check-options.ts";
import type { Workflow } from "../../core/context.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { digest } from "../../core/hash.ts";
import { ended, type Run } from "../../core/types.ts";
import { uiMessageResponse } from "./ui-stream.ts";

/** What `useChat` sends. */
export interface ChatRequest {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
  /** `regenerate-message` asks for another answer. */
  readonly trigger?: string;
  /** True to get the last answer from its beginning, after a `data-restarted` part. */
  readonly again?: boolean;
}

/** A message of `useChat`, as far as it is read here. */
export interface ChatMessage {
  readonly id: string;
  readonly role: string;
  readonly parts: readonly object[];
}

/** How a chat becomes a run: its input, and the stream that holds the answer. */
export interface ChatRoutesOptions<I> {
  /** The input of the run that answers. May refuse the request by throwing. */
  readonly input: (chat: ChatRequest, request: Request) => I | Promise<I>;
  /** The stream that the workflow writes. Default `answer`. */
  readonly stream?: string;
}

/** Handlers for a chat, of the form that Next.js calls route handlers: `Request` in, `Response` out. */
export interface ChatRoutes {
  /** `POST /api/chat`: starts a run for the last message, once, and streams its answer. */
  readonly POST: (request: Request) => Promise<Response>;
  /** `GET /api/chat/{id}/stream`: the answer that is being made, from its beginning; 204 when there is none. */
  readonly GET: (request: Request) => Promise<Response>;
}

/**
 * The two routes that `useChat` needs to survive a reload. The run continues in whatever process works on it, whether or
 * not somebody reads.
 *
 * @example
 * ```ts
 * import { createEngine, workflow } from "holdfast";
 * import { chatRoutes } from "holdfast/adapters/ai-sdk";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const chat = workflow("chat", async (_, { prompt }: { prompt: string }) => prompt);
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [chat], execute: false });
 * export const { POST, GET } = chatRoutes(engine, chat, {
 *   input: ({ messages }) => ({ prompt: JSON.stringify(messages.at(-1)?.parts) }),
 * });
 * ```
 */
export function chatRoutes<I>(
  engine: Engine,
  workflow: Workflow<I, unknown>,
  options: ChatRoutesOptions<I>,
): ChatRoutes {
  checkKeys(options, keysOf<ChatRoutesOptions<I>>({ input: true, stream: true }));
  const { input, stream = "answer" } = options;
  const lastRun = async (chat: string): Promise<Run | undefined> => {
    const labels = { [LABEL]: labelOf(chat) };
    return (await engine.list({ workflow: workflow.name, labels, limit: 1 })).runs[0];
  };
  return {
    async POST(request) {
      const chat = chatIn(await request.json().catch(() => undefined));
      const { signal } = request;
      const known = chat.again === true ? await lastRun(chat.id) : undefined;
      if (known) return uiMessageResponse(engine, known.id, stream, { signal });
      const id = runOf(workflow.name, chat);
      const labels = { [LABEL]: labelOf(chat.id) };
      await engine.start(workflow, await input(chat, request), { id, labels });
      return uiMessageResponse(engine, id, stream, { signal });
    },
    async GET(request) {
      const [, chat = ""] = /([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname) ?? [];
      const run = await lastRun(decodeURIComponent(chat));
      if (!run || ended(run.status)) return new Response(null, { status: 204 });
      return uiMessageResponse(engine, run.id, stream, { signal: request.signal });
    },
  };
}

const LABEL = "chat";

/** A message is answered by one run, however often it is sent, unless another answer is asked for. */
function runOf(workflow: string, { id, messages, trigger }: ChatRequest): string {
  const anew = trigger === "regenerate-message" ? crypto.randomUUID() : "";
  return `chat-${digest(JSON.stringify([workflow, id, messages.at(-1)?.id ?? "", anew])).slice(0, 32)}`;
}

/** Ids of chats come from browsers; labels are short. */
const labelOf = (id: string): string => (/^[\w-]{1,60}$/.test(id) ? id : digest(id).slice(0, 40));

function chatIn(body: unknown): ChatRequest {
  if (!isRecord(body) || !Array.isArray(body["messages"]))
    throw new HoldfastError("HF-1003", { option: "body", problem: "it must be what useChat sends" });
  checkText("id", body["id"], 1, 200);
  if (body["messages"].length === 0) throw badOption("messages", "there must be one");
  return body as unknown as ChatRequest;
}
