import type { AnswerOf, ArgsOf } from "../server/contract/types.ts";
import { ApiError, errorOf } from "./problem.ts";
import { type ClientOptions, requestOf } from "./request.ts";
import { type Block, blocksOf } from "./sse.ts";

/** What a stream tells. `id` is what another stream of the same runs continues from. */
export type StreamEvent =
  | { readonly type: "run"; readonly id: string; readonly event: AnswerOf<"streamEvents"> }
  /** Events may be missing before this: read your lists again. What follows is complete. */
  | { readonly type: "resync"; readonly id: string };

/**
 * How a stream is connected. `connecting`: for the first time. `live`: the server has let it in, and events come as they
 * happen. `reconnecting`: the connection is lost, and the stream makes another.
 */
export type StreamState = "connecting" | "live" | "reconnecting";

/** Options of a stream of events. */
export interface StreamOptions {
  /** Called when the state changes, so that a page can show whether what it shows is current. */
  readonly onState?: (state: StreamState) => void;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Goes on after this event, such as the last one of a stream that another process has read. */
  readonly lastEventId?: string;
  /** How long it waits before it connects again; twice as long after each failure, up to 15 s. Default 500 ms. */
  readonly retryMs?: number;
  /** A connection that is silent for this long counts as dead: the server sends a sign of life every 15 s. Default 45 s. */
  readonly silenceMs?: number;
}

const RETRY_MS = 500;
const MOST_RETRY_MS = 15_000;
const SILENCE_MS = 45_000;

/**
 * Events as they happen, each once. A lost connection is made again, and the stream goes on after the last event. It
 * ends when its reader stops or the signal aborts, and fails when the server refuses it, or can't be reached at first.
 */
export async function* streamOf(
  client: ClientOptions,
  args: ArgsOf<"streamEvents">,
  options: StreamOptions,
): AsyncGenerator<StreamEvent, void> {
  const { signal, retryMs = RETRY_MS } = options;
  let lastId = options.lastEventId;
  let failures = 0;
  let wasOpen = false;
  const tell = teller(options);
  tell("connecting");
  while (!signal?.aborted) {
    const connection = new Connection(options, () => tell("live"));
    try {
      for await (const block of connection.blocks(client, args, lastId)) {
        lastId = block.id ?? lastId;
        const event = eventOf(block, lastId);
        if (!event) continue;
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(wasOpen || connection.isOpen) || !isPassing(error)) throw error;
    } finally {
      wasOpen ||= connection.isOpen;
      connection.end();
    }
    if (!signal?.aborted) tell("reconnecting");
    await pause(Math.min(retryMs * 2 ** failures++, MOST_RETRY_MS), signal);
  }
}

/** Tells of each state once, however often it is reached in a row. */
function teller({ onState }: StreamOptions): (state: StreamState) => void {
  let last: StreamState | undefined;
  return (state) => {
    if (state !== last) onState?.(state);
    last = state;
  };
}

/** Refused for now, or no answer at all; other refusals stay. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.status === 429 || error.status === 408;

function eventOf({ event, data }: Block, id = ""): StreamEvent | undefined {
  if (event === "resync") return { type: "resync", id };
  if (event !== "run" || data === "") return undefined;
  return { type: "run", id, event: JSON.parse(data) as AnswerOf<"streamEvents"> };
}

/** One connection, given up when its reader leaves, when the signal aborts, or when it falls silent. */
class Connection {
  readonly #options: StreamOptions;
  readonly #opened: () => void;
  readonly #abort = new AbortController();
  readonly #leave = (): void => this.#abort.abort();
  /** True once the server has let it in. */
  isOpen = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: StreamOptions, opened: () => void) {
    this.#options = options;
    this.#opened = opened;
    options.signal?.addEventListener("abort", this.#leave, { once: true });
  }

  async *blocks(client: ClientOptions, args: ArgsOf<"streamEvents">, lastId?: string): AsyncGenerator<Block> {
    this.#alive();
    const headers = { accept: "text/event-stream", ...(lastId ? { "last-event-id": lastId } : {}) };
    const build = requestOf(client, "streamEvents", args, headers, this.#abort.signal);
    const response = await (client.fetch ?? globalThis.fetch)(build());
    if (!response.ok) throw await errorOf(response);
    const type = response.headers.get("content-type") ?? "";
    if (!response.body || !type.startsWith("text/event-stream")) throw new ApiError(response.status, null);
    this.isOpen = true;
    this.#opened();
    yield* blocksOf(response.body, () => this.#alive());
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#leave);
    this.#leave();
  }

  #alive(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#leave, this.#options.silenceMs ?? SILENCE_MS);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener("abort", done, { once: true });
  });
}
