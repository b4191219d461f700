/** A server that is a process of its own, spoken to over its standard input and output. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** All that it gets of an environment, beside what a program needs to start (PATH, HOME and the like). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Of one call, and of the start of the server. Default 5 minutes, and 1 minute for the start. */
  readonly timeoutMs?: number;
}

/** A server at an address, spoken to over streamable HTTP. */
export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one call, and of the start of the server. Default 5 minutes, and 1 minute for the start. */
  readonly timeoutMs?: number;
}

export type McpServer = StdioServer | HttpServer;

/** A call that was not made, or that the server refused. Nothing was done: it may be made again. */
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
