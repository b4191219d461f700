import { checkObject } from "../../core/check-options.ts";
import type { Context } from "../../core/context.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { StreamPart } from "../../core/manage/streams/streams.ts";
import { earlierItems } from "../../core/run/streams.ts";
import type { StreamOptions } from "../../core/streams.ts";
import { ended } from "../../core/types.ts";
import { SaidAgain, type UIChunk } from "./said-again.ts";

/**
 * Writes the AI SDK's UI message stream into a stream of the run, so that a chat in any browser follows the answer and
 * finds it again after a reload. It is closed when the answer is complete; one that failed stays open, so that a resume
 * continues it.
 *
 * @example
 * ```ts
 * import { streamText, type LanguageModel } from "ai";
 * import { workflow } from "holdfast";
 * import { durable, saveUIMessages } from "holdfast/adapters/ai-sdk";
 *
 * declare const model: Exclude<LanguageModel, string>;
 *
 * export const chat = workflow("chat", async (ctx, { prompt }: { prompt: string }) => {
 *   const result = streamText({ ...durable(ctx, { model }), prompt });
 *   await saveUIMessages(ctx, "answer", result.toUIMessageStream());
 *   return result.text;
 * });
 * ```
 */
export async function saveUIMessages(
  ctx: Context,
  name: string,
  chunks: AsyncIterable<object>,
  options?: StreamOptions,
): Promise<void> {
  checkObject("chunks", chunks, "the result of toUIMessageStream()");
  const stream = ctx.stream<object>(name, options);
  const again = new SaidAgain((await earlierItems(stream)) as UIChunk[]);
  let isWhole = true;
  for await (const given of chunks) {
    // Undefined parts aren't sent, and so aren't kept.
    const chunk = JSON.parse(JSON.stringify(given)) as UIChunk;
    if (chunk.type === "error") isWhole = false;
    else for (const one of again.take(chunk)) await stream.append(one);
  }
  if (isWhole) for (const one of again.rest()) await stream.append(one);
  if (isWhole) await stream.close();
  else await stream.flush();
}

const HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no",
} as const;

/**
 * The answer of a run as the response that `useChat` reads: what there is, and what follows while the run continues.
 * When a part of the message that was sent is void, because the run was interrupted and answers anew, the response ends
 * with a `data-restarted` part; the page drops the message and asks again.
 */
export function uiMessageResponse(
  engine: Engine,
  runId: string,
  name: string,
  options: { readonly signal?: AbortSignal } = {},
): Response {
  const left = new AbortController();
  const leave = (): void => left.abort();
  options.signal?.addEventListener("abort", leave, { once: true });
  const events = told(engine, runId, name, left.signal);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: leave,
  });
  return new Response(body, { headers: HEADERS });
}

const event = (chunk: unknown): string => `data: ${JSON.stringify(chunk)}\n\n`;
const DONE = "data: [DONE]\n\n";

async function* told(
  engine: Engine,
  runId: string,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  let sent = 0;
  for (let from: string | undefined; !signal.aborted; ) {
    const run = await engine.get(runId);
    const part = await engine.streams.part(runId, name, from);
    const { chunks, restart } = newChunks(part, sent);
    if (chunks.length > 0) yield chunks.map(event).join("");
    sent += chunks.length;
    if (restart) return void (yield event({ type: "data-restarted", transient: true, data: restart }));
    if (part.closed) return void (yield DONE);
    if (run && ended(run.status)) return void (yield event({ type: "error", errorText: FAILED }) + DONE);
    from = part.cursor;
    if (part.pieces.length === 0) await engine.streams.moved(runId, run?.seq ?? 0, signal);
  }
}

const FAILED = "The run failed. It may be resumed.";

/** The parts that haven't been sent yet. Voided parts that nobody has seen are left out. */
function newChunks(
  { pieces }: StreamPart,
  sent: number,
): { readonly chunks: readonly unknown[]; readonly restart?: { to: number; attempt: number } } {
  const chunks: unknown[] = [];
  for (const piece of pieces) {
    if (piece.kind === "item") chunks.push(piece.value);
    if (piece.kind !== "restarted") continue;
    const { to, attempt } = piece;
    if (to < sent) return { chunks: [], restart: { to, attempt } };
    chunks.length = to - sent;
  }
  return { chunks };
}
