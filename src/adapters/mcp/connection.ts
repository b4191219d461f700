import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { HoldfastError } from "../../core/errors.ts";
import { KEY, type Live, openLive } from "./live.ts";
import { McpError, type McpServer } from "./servers.ts";

/** The step's own time limit ends a call. */
const NO_LIMIT = 2 ** 31 - 1;

/** One server: connected when it is needed, and again after it died. A call is sent once; it is not sent again when its answer is lost. */
export class Connection {
  readonly #name: string;
  readonly #server: McpServer;
  #live: Promise<Live> | undefined;
  #isClosed = false;

  constructor(name: string, server: McpServer) {
    this.#name = name;
    this.#server = server;
  }

  /** What the server offers. HF-4107 when it cannot be asked. */
  async tools(): Promise<Tool[]> {
    try {
      const { client } = await this.#connected();
      return (await client.listTools()).tools;
    } catch (error) {
      if (HoldfastError.is(error)) throw error;
      throw new HoldfastError("HF-4107", { server: this.#name, problem: messageOf(error) }, { cause: error });
    }
  }

  /** Calls a tool once. HF-2140 when it was sent and its answer was lost, a McpError when nothing was done. */
  async call(tool: Tool, input: unknown, call: Call): Promise<CallToolResult> {
    const live = await this.#opened();
    try {
      return await this.#send(live, tool, input, call);
    } catch (error) {
      // A server that was started anew does not know the session: it has refused the call unseen, and the next session is another.
      if (!live.hasSession() || (error as ErrorFields).status !== 404) throw this.#failed(error, call);
      this.#forget(live);
    }
    const next = await this.#opened();
    return this.#send(next, tool, input, call).catch((error: unknown) => {
      throw this.#failed(error, call);
    });
  }

  async #opened(): Promise<Live> {
    try {
      return await this.#connected();
    } catch (error) {
      throw HoldfastError.is(error) || error instanceof McpError ? error : this.#undone(error, true);
    }
  }

  async #send(live: Live, tool: Tool, input: unknown, { key, signal }: Call): Promise<CallToolResult> {
    // Results are for the model to judge: one that does not fit the tool's own schema was given nevertheless.
    const { outputSchema: _, ...toolDefinition } = tool;
    const params = { name: tool.name, arguments: input as Record<string, unknown>, _meta: { [KEY]: key } };
    // A call that is given up is taken back, and its timer with it.
    const over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    try {
      const answer = live.client.callTool(params, { signal: stop, timeout: NO_LIMIT, toolDefinition });
      return await Promise.race([answer, live.lost(key)]);
    } finally {
      live.forget(key);
      over.abort();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const live = await this.#live?.catch(() => undefined);
    this.#live = undefined;
    await live?.client.close();
  }

  #connected(): Promise<Live> {
    if (this.#isClosed)
      throw new McpError(`MCP server ${this.#name} was closed.`, { server: this.#name, retryable: false });
    if (this.#live) return this.#live;
    const opening = openLive(this.#server, () => this.#drop(opening));
    this.#live = opening;
    opening.catch(() => this.#drop(opening));
    return opening;
  }

  #drop(live: Promise<Live>): void {
    if (this.#live === live) this.#live = undefined;
  }

  #undone(error: unknown, retryable: boolean): McpError {
    const message = `MCP server ${this.#name}: ${messageOf(error)}`;
    return new McpError(message, { server: this.#name, retryable });
  }

  #failed(error: unknown, { signal }: Call): unknown {
    if (signal.aborted) return error;
    const { name, code, status, cause } = error as ErrorFields;
    // The server answered, and its answer is no.
    if (name === "ProtocolError") return this.#undone(error, false);
    if (typeof status === "number" && status >= 400 && status < 500)
      return this.#undone(error, status === 429);
    if (NOT_SENT.has(String(code)) || NOT_SENT.has(String(cause?.code))) return this.#undone(error, true);
    const message = `MCP server ${this.#name} gave no answer: ${messageOf(error)}`;
    return new HoldfastError("HF-2140", { message }, { cause: error });
  }

  #forget(live: Live): void {
    this.#live = undefined;
    void live.client.close().catch(() => undefined);
  }
}

interface Call {
  readonly key: string;
  readonly signal: AbortSignal;
}

interface ErrorFields {
  readonly name?: string;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly cause?: { readonly code?: unknown };
}

const NOT_SENT = new Set([
  "NOT_CONNECTED",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
