import { createHash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { checkSchema } from "../../agent/schema.ts";
import { type AgentTool, type ToolRun, toolError } from "../../agent/tool.ts";
import { checkKeys, checkObject } from "../../core/check-options.ts";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Effect } from "../../core/types.ts";
import { Connection, limitsOf } from "./connection.ts";
import type { McpServer } from "./servers.ts";

/** Options of `mcpTools`: which tools may be used, and their effects. */
export interface McpOptions {
  /** Allows only these tools, by name (`server__tool`) or all of a server (`server__*`). Default: all. */
  readonly allow?: readonly string[];
  /** Effects by tool name (`server__tool`); they take precedence over what servers declare. */
  readonly effects?: Readonly<Record<string, Effect>>;
  /** By tool name: whether a repeated call that may have taken effect is made. See `AgentTool.onRepeat`. */
  readonly onRepeat?: Readonly<Record<string, "ask" | "allow">>;
}

/** The tools of MCP servers. */
export interface McpTools {
  readonly tools: readonly AgentTool[];
  /** Ends the servers' processes and connections, which keep this process alive until then. */
  close(): Promise<void>;
}

const MOST_NAME = 64;

/**
 * Offers the tools of MCP servers as agent tools, named `server__tool`. A tool is `once` unless it declares that it
 * only reads (`readOnlyHint`) or may be repeated (`idempotentHint`). The next call restarts a server that died; a
 * `once` call whose answer was lost with it isn't repeated: its outcome is unknown.
 *
 * @example
 * ```ts
 * import { mcpTools } from "holdfast/adapters/mcp";
 *
 * const files = await mcpTools(
 *   { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } },
 *   { allow: ["files__read_text_file", "files__list_directory"] },
 * );
 * console.log(files.tools.map(({ name, effect }) => `${name} (${effect})`));
 * await files.close();
 * ```
 */
export async function mcpTools(
  servers: Readonly<Record<string, McpServer>>,
  options: McpOptions = {},
): Promise<McpTools> {
  checkObject("servers", servers, "an object of servers by name");
  checkKeys(options, ["allow", "effects", "onRepeat"]);
  const connections = Object.entries(servers).map(([name, server]) => {
    checkObject(`servers.${name.slice(0, 40)}`, server);
    checkServer(name, server);
    return { name, server, connection: new Connection(name, server) };
  });
  const close = async () => {
    await Promise.all(connections.map(({ connection }) => connection.close()));
  };
  try {
    const found = await Promise.all(
      connections.map(async ({ name, server, connection }) =>
        (await connection.tools()).map((tool) => agentTool(name, server, connection, tool, options)),
      ),
    );
    return { tools: allowed(found.flat(), options), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const SERVER_NAME = /^[a-zA-Z0-9-]{1,32}$/;

function checkServer(server: string, given: McpServer): void {
  const refuse = (problem: string) => new HoldfastError("HF-4107", { server, problem });
  if (!SERVER_NAME.test(server)) throw refuse("its name must be 1 to 32 letters, digits or -");
  if ("url" in given ? !URL.canParse(given.url) : !given.command)
    throw refuse("it has neither a command nor an address");
}

function allowed(
  tools: readonly AgentTool[],
  { allow, effects = {}, onRepeat = {} }: McpOptions,
): AgentTool[] {
  const matches = (pattern: string, name: string) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  for (const pattern of [...(allow ?? []), ...Object.keys({ ...effects, ...onRepeat })]) {
    if (tools.some(({ name }) => matches(pattern, name))) continue;
    const server = pattern.split("__")[0] ?? pattern;
    throw new HoldfastError("HF-4107", { server, problem: `it has no tool ${pattern}` });
  }
  return tools.filter(({ name }) => allow?.some((pattern) => matches(pattern, name)) ?? true);
}

function agentTool(
  server: string,
  given: McpServer,
  connection: Connection,
  tool: Tool,
  { effects = {}, onRepeat = {} }: McpOptions,
): AgentTool {
  const name = nameOf(server, tool.name);
  const { startMs, callMs } = limitsOf(given);
  return {
    name,
    parameters: tool.inputSchema,
    effect: effects[name] ?? effectOf(tool),
    // The connection enforces the call's limit, which starts only after a dead server has restarted.
    timeoutMs: startMs + callMs + GRACE_MS,
    ...(onRepeat[name] === undefined ? {} : { onRepeat: onRepeat[name] }),
    ...defined({ description: tool.description }),
    ...(isCheckable(tool) ? {} : { checksInput: true }),
    async run(input: unknown, call: ToolRun) {
      const result = await connection.call(tool, input, call);
      return result.isError ? toolError(textOf(result)) : textOf(result);
    },
  };
}

/**
 * Trusts the tool's own declaration that a call is harmless; set `effects` for servers that you don't trust that far.
 */
const effectOf = ({ annotations }: Tool): Effect =>
  annotations?.readOnlyHint || annotations?.idempotentHint ? "repeatable" : "once";

/** Servers check their own arguments, so a tool stays usable even if its schema can't be checked here. */
function isCheckable({ name, inputSchema }: Tool): boolean {
  try {
    checkSchema(inputSchema, name);
    return true;
  } catch {
    return false;
  }
}

/** A name that models accept: servers may use other characters and longer names. */
function nameOf(server: string, tool: string): string {
  const name = `${server}__${tool.replace(/[^a-zA-Z0-9_-]/g, "_")}`;
  if (name.length <= MOST_NAME) return name;
  const digest = createHash("sha256").update(tool).digest("hex").slice(0, 8);
  return `${name.slice(0, MOST_NAME - 9)}_${digest}`;
}

/** Lets the connection's own limits expire first. */
const GRACE_MS = 1_000;

function textOf({ content, structuredContent }: CallToolResult): string {
  const text = (content ?? []).map(partOf).join("\n");
  return text === "" && structuredContent !== undefined ? JSON.stringify(structuredContent) : text;
}

function partOf(part: NonNullable<CallToolResult["content"]>[number]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type} of type ${part.mimeType} is left out]`;
    case "resource":
      return "text" in part.resource ? part.resource.text : `[${part.resource.uri} is left out]`;
    case "resource_link":
      return part.uri;
  }
}
