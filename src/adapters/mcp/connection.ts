import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { HoldfastError } from "../../core/errors.ts";
import { provesNotDone } from "../../core/run/failures.ts";
import { KEY, type Live, openLive } from "./live.ts";
import { McpError, type McpServer } from "./servers.ts";

/** For one call, and for a server's start. */
const TIMEOUT_MS = 300_000;
const START_MS = 60_000;

/** How long a server may take to start, and then to answer one call. */
export const limitsOf = ({
  timeoutMs,
}: McpServer): { readonly startMs: number; readonly callMs: number } => ({
  startMs: timeoutMs ?? START_MS,
  callMs: timeoutMs ?? TIMEOUT_MS,
});

/**
 * One server: connected on demand, and again after it died. A call is sent once; it isn't resent when its answer is
 * lost.
 */
export class Connection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #limits: { readonly startMs: number; readonly callMs: number };
  #live: Promise<Live> | undefined;
  #isClosed = false;

  constructor(name: string, server: McpServer) {
    this.#name = name;
    this.#server = server;
    this.#limits = limitsOf(server);
  }

  /** The server's tools. Throws HF-4107 when they can't be listed. */
  async tools(): Promise<Tool[]> {
    try {
      const { client } = await this.#connected();
      return (await client.listTools(undefined, { timeout: this.#limits.startMs })).tools;
    } catch (error) {
      if (HoldfastError.is(error)) throw error;
      throw new HoldfastError("HF-4107", { server: this.#name, problem: messageOf(error) }, { cause: error });
    }
  }

  /**
   * Calls a tool once. Throws HF-2140 when it was sent and its answer was lost, and a McpError when nothing was done.
   */
  async call(tool: Tool, input: unknown, call: Call): Promise<CallToolResult> {
    const live = await this.#opened();
    try {
      return await this.#send(live, tool, input, call);
    } catch (error) {
      // A restarted server doesn't know the session: it refused the call without looking at it, and the next session is
      // a new one.
      if (!live.hasSession() || (error as ErrorFields | null)?.status !== 404)
        throw this.#failed(error, call, live);
      this.#forget(live);
    }
    const next = await this.#opened();
    return this.#send(next, tool, input, call).catch((error: unknown) => {
      throw this.#failed(error, call, next);
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
    // The model judges results: a result that doesn't match the tool's own schema was still returned.
    const { outputSchema: _, ...toolDefinition } = tool;
    const params = { name: tool.name, arguments: input as Record<string, unknown>, _meta: { [KEY]: key } };
    // An abandoned call is cancelled together with its timer.
    const over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    try {
      // Starts here, so that a server's restart doesn't count.
      const limit = { signal: stop, timeout: this.#limits.callMs };
      const answer = live.client.callTool(params, { ...limit, toolDefinition });
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
    const opening = openLive(this.#server, this.#limits.startMs, () => this.#drop(opening));
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

  /**
   * A call counts as unknown unless it is proven undone: by the rule for every call, and by the protocol's refusals.
   */
  #failed(error: unknown, { signal }: Call, live: Live): unknown {
    if (signal.aborted) return error;
    const { name, code, status } = (error ?? {}) as ErrorFields;
    if (name === "ProtocolError" && REFUSALS.has(code)) return this.#undone(error, false);
    if (code === "NOT_CONNECTED" || provesNotDone(error, { attempt: 1 }))
      return this.#undone(error, status === undefined || status === 429);
    const problem = error instanceof TypeError ? "its answer isn't a valid result" : messageOf(error);
    const cause = live.problem();
    const message = `MCP server ${this.#name} gave no answer: ${problem}${cause ? `: ${cause}` : ""}`;
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
}

/** JSON-RPC errors that mean not understood, not known, or invalid arguments. Any other error may follow an effect. */
const REFUSALS: ReadonlySet<unknown> = new Set([-32700, -32600, -32601, -32602]);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
