import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createClient } from "../../client/client.ts";
import type { ClientOptions } from "../../client/request.ts";
import type { OperationId } from "../contract/paths.ts";
import type { Arguments } from "./consent.ts";
import { type CallOperation, createMcpServers, type McpOptions } from "./server.ts";

/** Serves the tools on standard input and output until the client goes. */
export function serveMcp(options: McpOptions, onerror: (error: Error) => void): { close(): Promise<void> } {
  return serveStdio(createMcpServers(options), { onerror });
}

/** Calls through the API, so that its checks of permission, scope and shape are the only ones. */
export function callerOf(options: ClientOptions): CallOperation {
  const client = createClient(options) as unknown as Readonly<
    Record<OperationId, (args: Arguments, call: { readonly idempotencyKey?: string }) => Promise<unknown>>
  >;
  return (id, args, key) => client[id](args, key === undefined ? {} : { idempotencyKey: key });
}
