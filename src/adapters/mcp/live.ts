import type { Client, JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { defined } from "../../core/defined.ts";
import { loadPackage } from "../load-package.ts";
import type { McpServer } from "./servers.ts";

/** A message's field for servers that want to know a call again. */
export const KEY = "holdfast/idempotency-key";
const STDERR_CHARS = 1_000;

/** A connection while it lasts. */
export interface Live {
  readonly client: Client;
  /** Rejects when the answer to the call of this key cannot come any more although the connection stands. */
  lost(key: string): Promise<never>;
  forget(key: string): void;
  /** What the connection ended of, where that is known. */
  problem(): string | undefined;
  /** Whether the server keeps something for this connection that it may have forgotten. */
  hasSession(): boolean;
}

/** Most bytes of one answer of a process. */
const ANSWER_BYTES = 10 * 1024 * 1024;
const TOO_LARGE = /exceeded maximum size/;

/** Connects to a server, which has `startMs` to say what it is. `gone` is called when the connection has ended. */
export async function openLive(server: McpServer, startMs: number, gone: () => void): Promise<Live> {
  const { Client: Connected } = await packaged(() => import("@modelcontextprotocol/client"));
  const client = new Connected({ name: "holdfast", version: "1" });
  const waiting = new Map<string, (error: Error) => void>();
  const { transport, said } = await transportTo(server);
  let problem: string | undefined;
  client.onerror = ({ message }) => {
    const isTooLarge = TOO_LARGE.test(message);
    problem = isTooLarge ? `its answer is larger than ${ANSWER_BYTES / 1024 ** 2} MiB` : (problem ?? message);
    // What was read so far is thrown away: whatever is waited for does not come.
    if (isTooLarge) for (const lose of waiting.values()) lose(new Error("what it said was thrown away"));
  };
  client.onclose = gone;
  watchStreams(transport, (key) => waiting.get(key)?.(new Error("the stream of its answer ended early")));
  try {
    await client.connect(transport, { timeout: startMs });
  } catch (error) {
    await client.close().catch(() => undefined);
    const message = error instanceof Error ? error.message : String(error);
    throw new Error([message, said()].filter((part) => part !== "").join("; it said: "), { cause: error });
  }
  return {
    client,
    lost: (key) => new Promise((_, reject) => waiting.set(key, reject)),
    forget: (key) => void waiting.delete(key),
    problem: () => problem,
    hasSession: () => transport.sessionId !== undefined,
  };
}

const packaged = <T>(load: () => Promise<T>): Promise<T> =>
  loadPackage("@modelcontextprotocol/client", "Every MCP server", load);

interface Spoken {
  readonly transport: Transport;
  /** The end of what the server wrote to its standard error, to say why it does not start. */
  readonly said: () => string;
}

async function transportTo(server: McpServer): Promise<Spoken> {
  if ("url" in server) {
    const { StreamableHTTPClientTransport } = await packaged(() => import("@modelcontextprotocol/client"));
    const requestInit = server.headers ? { requestInit: { headers: { ...server.headers } } } : {};
    return { transport: new StreamableHTTPClientTransport(new URL(server.url), requestInit), said: () => "" };
  }
  const { StdioClientTransport } = await packaged(() => import("@modelcontextprotocol/client/stdio"));
  const { command, args = [], env = {}, cwd } = server;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // The package adds what a program needs to start, and nothing else of this process's environment.
    env: { ...env },
    stderr: "pipe",
    maxBufferSize: ANSWER_BYTES,
    ...defined({ cwd }),
  });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-STDERR_CHARS);
  });
  return { transport, said: () => said.trim() };
}

/**
 * Over HTTP the connection outlives the stream that an answer comes on, and the client waits for the answer for ever when that stream
 * breaks. So the end of each stream is listened to, and calls without an answer by then are told.
 */
function watchStreams(transport: Transport, lost: (key: string) => void): void {
  const open = new Map<unknown, string>();
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage, options?: TransportSendOptions) => {
    const key = keyOf(message);
    if (key === undefined || !("id" in message)) return send(message, options);
    open.set(message.id, key);
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      if (open.delete(message.id)) lost(key);
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  let deliver: Transport["onmessage"];
  // The client sets this one when it connects: what it sets is called behind ours.
  Object.defineProperty(transport, "onmessage", {
    get: () => deliver,
    set: (next: Transport["onmessage"]) => {
      deliver =
        next &&
        ((message, extra) => {
          if ("id" in message && !("method" in message)) open.delete(message.id);
          next(message, extra);
        });
    },
  });
}

function keyOf(message: JSONRPCMessage): string | undefined {
  if (!("method" in message) || message.method !== "tools/call") return undefined;
  const meta = (message.params as { _meta?: Record<string, unknown> } | undefined)?._meta;
  return typeof meta?.[KEY] === "string" ? meta[KEY] : undefined;
}
