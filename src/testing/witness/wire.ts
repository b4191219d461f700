import { connect, type Socket } from "node:net";
import { HoldfastError } from "../../core/errors.ts";
import type { Effect } from "../../core/types.ts";
import type { WitnessCall } from "./log.ts";

/** The outcome of a call: done, answered again with the first result (`keyed`), or refused with 429. */
export type CallOutcome = "done" | "repeated" | "refused";

/** A line of the witness's log. */
export interface LoggedCall extends WitnessCall {
  readonly outcome: CallOutcome;
  /** The requested deed, by a name that stays the same in new versions of the code. */
  readonly deed: string;
}

/** Selects the calls to hold: all given fields must match. */
export interface CallMatch {
  readonly runId?: string;
  readonly step?: string;
  readonly effect?: Effect;
}

/** The requests to the witness. One JSON object per line, answered in any order. */
export type Request = { readonly log: string } & (
  | { readonly do: "call"; readonly call: Omit<LoggedCall, "n" | "outcome">; readonly refuse: number }
  | { readonly do: "seen"; readonly runId: string; readonly deed: string }
  /** Recorded and synced as it is, with its number. */
  | { readonly do: "note"; readonly note: object }
  | { readonly do: "watch" }
  | { readonly do: "hold"; readonly match: CallMatch; readonly times: number }
  | { readonly do: "release" }
  | { readonly do: "forget" }
);

/** Pushed to the watchers of a log. */
export interface Notice {
  readonly log: string;
  readonly call: LoggedCall;
}

export interface Reply {
  readonly id: number;
  /** 200, or 429 with `retryAfterMs`. */
  readonly status: number;
  readonly retryAfterMs?: number;
  readonly result?: string | null;
}

/** Calls `take` with each complete line. */
export function onLines(socket: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) take(line);
  });
}

/** One connection to the witness. */
export class WitnessConnection {
  readonly #port: number;
  readonly #onCall: ((notice: Notice) => void) | undefined;
  readonly #open = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  #socket: Socket | null = null;
  #id = 0;

  constructor(port: number, onCall?: (notice: Notice) => void) {
    this.#port = port;
    this.#onCall = onCall;
  }

  ask(request: Request): Promise<Reply> {
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#connected().write(`${JSON.stringify({ id, ...request })}\n`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connected(): Socket {
    if (this.#socket) return this.#socket;
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    onLines(socket, (line) => this.#take(JSON.parse(line) as Reply | Notice));
    const gone = (cause?: unknown) => {
      this.#socket = null;
      const error = new HoldfastError("HF-3002", { message: "the witness is gone", ms: 0 }, { cause });
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
    };
    socket.on("error", gone);
    socket.on("close", () => gone());
    return socket;
  }

  #take(message: Reply | Notice): void {
    if ("call" in message) return this.#onCall?.(message);
    this.#open.get(message.id)?.resolve(message);
    this.#open.delete(message.id);
  }
}
