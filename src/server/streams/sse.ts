import type { Clock } from "../../core/clock.ts";
import { nextCursor } from "./cursor.ts";
import { isText, type StreamInfo, type StreamSource, wholeBody } from "./source.ts";

/** A connection ends after this time: readers come back with their offset, and meet in caches. */
const LIFE_MS = 60_000;
/** How long nothing is said. */
const QUIET_MS = 15_000;

interface Following {
  readonly from: string | undefined;
  readonly cursor: string | null;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const encoder = new TextEncoder();

/** A stream as server-sent events: what there is as `data`, and after it where the reader is as `control`. */
export function openSse(source: StreamSource, info: StreamInfo, following: Following): Response {
  const { contentType } = info;
  const over = new AbortController();
  const end = (): void => over.abort();
  const cancel = following.clock.setTimer(end, LIFE_MS, { background: true });
  following.signal.addEventListener("abort", end, { once: true });
  const events = told(source, contentType, following, over.signal);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await events.next();
        if (!done) return controller.enqueue(encoder.encode(value));
        cancel();
        controller.close();
      } catch (error) {
        cancel();
        controller.error(error);
      }
    },
    cancel() {
      cancel();
      end();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...(isText(contentType) ? {} : { "stream-sse-data-encoding": "base64" }),
    },
  });
}

async function* told(
  source: StreamSource,
  contentType: string,
  { from, cursor, clock }: Following,
  signal: AbortSignal,
): AsyncGenerator<string, undefined> {
  for (let offset = from; !signal.aborted; ) {
    const { parts, next, isUpToDate, closed } = await source.read(offset);
    const data = parts.length === 0 ? "" : event("data", textOf(contentType, parts));
    const state = closed
      ? { streamClosed: true }
      : { streamCursor: nextCursor(cursor, clock.now()), ...(isUpToDate ? { upToDate: true } : {}) };
    yield data + event("control", JSON.stringify({ streamNextOffset: next, ...state }));
    if (closed) return;
    offset = next;
    if (isUpToDate) await patiently(source, next, signal, clock);
  }
}

/** Waits for more, and not so long that the reader takes the connection for dead. */
async function patiently(
  source: StreamSource,
  offset: string,
  signal: AbortSignal,
  clock: Clock,
): Promise<void> {
  const quiet = new AbortController();
  const cancel = clock.setTimer(() => quiet.abort(), QUIET_MS, { background: true });
  try {
    await source.moved(offset, AbortSignal.any([signal, quiet.signal]));
  } finally {
    cancel();
  }
}

const textOf = (contentType: string, parts: readonly Uint8Array[]): string =>
  Buffer.from(wholeBody(contentType, parts)).toString(isText(contentType) ? "utf8" : "base64");

/** One event. Every kind of line break begins a new line of data, so that data can't be taken for an event. */
const event = (name: string, data: string): string =>
  `event: ${name}\n${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data:${line}\n`)
    .join("")}\n`;
