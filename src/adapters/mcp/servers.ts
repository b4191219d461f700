/** A server in its own process, connected through standard input and output. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** The server's environment, besides what a program needs to start (PATH, HOME and the like). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** For one call, and for the start of the server. Default 5 minutes, and 1 minute for the start. */
  readonly timeoutMs?: number;
}

/** A server at an address, connected through streamable HTTP. */
export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For one call, and for the start of the server. Default 5 minutes, and 1 minute for the start. */
  readonly timeoutMs?: number;
}

/** How to reach an MCP server. */
export type McpServer = StdioServer | HttpServer;

/** Thrown when a call wasn't made or the server refused it. Nothing was done, so it may be repeated. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly notDone = true;
  readonly server: string;
  readonly retryable: boolean;

  constructor(
    message: string,
    detail: { readonly server: string; readonly retryable: boolean; readonly cause?: unknown },
  ) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.server = detail.server;
    this.retryable = detail.retryable;
  }
}
