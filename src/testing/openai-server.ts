import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The server's reaction to one request. By default it returns an empty text. */
export interface OpenAiAnswer {
  readonly text?: string;
  /** The text is this value as JSON. */
  readonly json?: unknown;
  /** `input` as JSON; a text is sent as it is. */
  readonly calls?: readonly { readonly tool: string; readonly input?: unknown }[];
  readonly finish?: "stop" | "length" | "content_filter";
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** Sends an HTTP error instead. */
  readonly status?: number;
  readonly message?: string;
  /** Seconds, or an HTTP date. */
  readonly retryAfter?: number | string;
  /** Sends exactly this body, well-formed or not. */
  readonly body?: string;
  /** Never answers, until the caller disconnects. */
  readonly hang?: boolean;
  /** Closes the connection. */
  readonly cut?: boolean;
  /** Closes it after so many parts of a stream. */
  readonly cutAfter?: number;
}

/** One received chat completion request. */
export interface OpenAiRequest {
  /** The first is 0. */
  readonly index: number;
  readonly body: OpenAiBody;
  readonly authorization: string | undefined;
}

export interface OpenAiBody {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: unknown;
    readonly tool_calls?: unknown;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: unknown } };
  readonly [more: string]: unknown;
}

/** A server on the loopback address that speaks OpenAI's protocol. */
export interface OpenAiServer {
  /** The client's `baseURL`. */
  readonly url: string;
  /** Every request so far, answered or not. */
  readonly requests: readonly OpenAiRequest[];
  /** The first request that `matches`, including past ones. */
  waitFor(matches: (request: OpenAiRequest) => boolean): Promise<OpenAiRequest>;
  close(): Promise<void>;
}

/**
 * Starts a server on the loopback address that implements enough of OpenAI's chat completions to test agents: texts,
 * tools, JSON answers, rate limits, failures, silence. Answers come from a list in order (the last one repeats), or
 * from a function of the request.
 *
 * @example
 * ```ts
 * import { modelProviders } from "holdfast/adapters/ai-sdk";
 * import { startOpenAiServer } from "holdfast/testing";
 *
 * const server = await startOpenAiServer([{ status: 429, retryAfter: 1 }, { text: "Good morning." }]);
 * export const provider = modelProviders({ local: { baseURL: server.url } });
 * ```
 */
export async function startOpenAiServer(
  answers: readonly OpenAiAnswer[] | ((request: OpenAiRequest) => OpenAiAnswer),
): Promise<OpenAiServer> {
  const requests: OpenAiRequest[] = [];
  const waiting = new Set<(request: OpenAiRequest) => void>();
  const answerTo = (request: OpenAiRequest): OpenAiAnswer =>
    typeof answers === "function" ? answers(request) : (answers[request.index] ?? answers.at(-1) ?? {});
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      if (!incoming.url?.endsWith("/chat/completions"))
        return send(outgoing, 404, error("there is no such path"));
      const request = {
        index: requests.length,
        body: JSON.parse(body) as OpenAiBody,
        authorization: incoming.headers.authorization,
      };
      requests.push(request);
      for (const look of waiting) look(request);
      respond(outgoing, request, answerTo(request));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    waitFor(matches) {
      const past = requests.find(matches);
      if (past) return Promise.resolve(past);
      return new Promise((resolve) => {
        const look = (request: OpenAiRequest) => {
          if (!matches(request)) return;
          waiting.delete(look);
          resolve(request);
        };
        waiting.add(look);
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(
  outgoing: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

const error = (message: string): string => JSON.stringify({ error: { message, type: "error" } });

function respond(outgoing: ServerResponse, request: OpenAiRequest, answer: OpenAiAnswer): void {
  if (answer.hang) return;
  if (answer.cut) return void outgoing.destroy();
  const wait = answer.retryAfter === undefined ? {} : { "retry-after": String(answer.retryAfter) };
  if (answer.status !== undefined && answer.status >= 400)
    return send(
      outgoing,
      answer.status,
      answer.body ?? error(answer.message ?? `status ${answer.status}`),
      wait,
    );
  if (request.body["stream"] === true && answer.body === undefined) return stream(outgoing, request, answer);
  const { message, finish_reason, ...facts } = completion(request, answer);
  const whole = { ...facts, choices: [{ index: 0, message, finish_reason }] };
  send(outgoing, answer.status ?? 200, answer.body ?? JSON.stringify(whole), wait);
}

/** Sends a completion in parts: the text word by word, then each call, then how it ended. */
function stream(outgoing: ServerResponse, request: OpenAiRequest, answer: OpenAiAnswer): void {
  const { message, finish_reason, usage, ...whole } = completion(request, answer);
  const words = message.content?.match(/\S+\s*|\s+/g) ?? [];
  const calls = (message.tool_calls ?? []).map((call, index) => ({ tool_calls: [{ index, ...call }] }));
  const deltas = [{ role: "assistant" }, ...words.map((content) => ({ content })), ...calls];
  const parts = [
    ...deltas.map((delta) => ({ ...whole, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...whole, choices: [{ index: 0, delta: {}, finish_reason }], usage },
  ];
  outgoing.writeHead(200, { "content-type": "text/event-stream" });
  for (const part of parts.slice(0, answer.cutAfter)) outgoing.write(`data: ${JSON.stringify(part)}\n\n`);
  if (answer.cutAfter === undefined) outgoing.end("data: [DONE]\n\n");
  // What was written is sent before the connection ends.
  else outgoing.write("", () => outgoing.destroy());
}

function completion({ index, body }: OpenAiRequest, answer: OpenAiAnswer) {
  const { calls = [], json, usage = { inputTokens: 10, outputTokens: 5 } } = answer;
  const text = answer.text ?? (json === undefined ? "" : JSON.stringify(json));
  const toolCalls = calls.map(({ tool, input = {} }, at) => ({
    id: `call-${index}-${at}`,
    type: "function",
    function: { name: tool, arguments: typeof input === "string" ? input : JSON.stringify(input) },
  }));
  const isCalling = toolCalls.length > 0;
  return {
    id: `completion-${index}`,
    created: 0,
    model: body.model,
    message: { role: "assistant", content: text, ...(isCalling ? { tool_calls: toolCalls } : {}) },
    finish_reason: answer.finish ?? (isCalling ? "tool_calls" : "stop"),
    usage: {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}
