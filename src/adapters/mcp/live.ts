import type { Client, JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { defined } from "../../core/defined.ts";
import { loadPackage } from "../load-package.ts";
import type { McpServer } from "./servers.ts";

/** The field that lets servers recognise a repeated call. */
export const KEY = "holdfast/idempotency-key";
const STDERR_CHARS = 1_000;

/** An open connection. */
export interface Live {
  readonly client: Client;
  /** Rejects when the answer to the call with this key can no longer arrive although the connection is open. */
  lost(key: string): Promise<never>;
  forget(key: string): void;
  /** Why the connection ended, if known. */
  problem(): string | undefined;
  /** True when the server keeps a session for this connection, which it may have forgotten. */
  hasSession(): boolean;
}

/** The maximum size of one message from a process. */
const ANSWER_BYTES = 10 * 1024 * 1024;
const TOO_LARGE = /exceeded maximum size/;

/**
 * Connects to a server, which must introduce itself within `startMs`. `gone` is called when the connection has ended.
 */
export async function openLive(server: McpServer, startMs: number, gone: () => void): Promise<Live> {
  const { Client: Connected } = await packaged(() => import("@modelcontextprotocol/client"));
  const client = new Connected({ name: "holdfast", version: "1" });
  const waiting = new Map<string, (error: Error) => void>();
  const { transport, said } = await transportTo(server);
  let problem: string | undefined;
  client.onerror = ({ message }) => {
    const isTooLarge = TOO_LARGE.test(message);
    problem = isTooLarge ? `its answer is larger than ${ANSWER_BYTES / 1024 ** 2} MiB` : (problem ?? message);
    // The client discards what it has read so far, so no pending answer will arrive.
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
  /** The end of the server's standard error, to explain why it doesn't start. */
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
 * Over HTTP the connection outlives the stream that carries an answer, and the client would wait for ever when that
 * stream breaks. So the end of each stream is observed, and calls without an answer are rejected.
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
  // The client sets this handler when it connects; ours runs first and then calls it.
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
