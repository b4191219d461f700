import type { AgentTool, ToolRun } from "../agent/tool.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Flow } from "./flow.ts";
import type { McpServer } from "./run/machine.ts";
import type { McpServerSettings } from "./schema/workflow.ts";

/**
 * Connects to an MCP server and returns its tools. Called once per server and folder; names need not be unique. `file`:
 * the workflow file that names it.
 */
export type McpConnect = (server: McpServer, file: string) => Promise<readonly AgentTool[]>;

const SEPARATOR = "__";

/** The tools of a workflow: those given by the program, and those of the servers that the file names. */
export class ToolBox {
  readonly #given: readonly AgentTool[];
  readonly #connect: McpConnect | undefined;
  readonly #servers = new Map<string, Promise<readonly AgentTool[]>>();

  constructor(given: readonly AgentTool[], connect: McpConnect | undefined) {
    this.#given = given;
    this.#connect = connect;
  }

  /**
   * `wanted`: names from the file; a server's tools are given as `server__tool` or by the server's name. `null` selects
   * all tools of the workflow, an empty list none.
   */
  async for(
    flow: Flow,
    step: string,
    wanted: readonly string[] | null | undefined,
    workingDir: string | undefined,
  ): Promise<readonly AgentTool[]> {
    if (wanted && wanted.length === 0) return [];
    const named = wanted ?? flow.spec.tools;
    const own = named.flatMap((name) => this.#given.filter((tool) => tool.name === name));
    const served = await this.#served(flow, step, wanted, workingDir);
    const chosen = wanted ? served.filter((tool) => wanted.some((name) => isMeant(tool.name, name))) : served;
    const found = [...own, ...chosen.filter((tool) => !own.some((one) => one.name === tool.name))];
    const missing = named.find((name) => !found.some((tool) => isMeant(tool.name, name)));
    if (missing !== undefined) {
      const given = [...this.#given, ...served].map(({ name }) => name).join(", ");
      throw new HoldfastError("HF-4009", { step, tool: missing, given: given || "none" });
    }
    return found;
  }

  async #served(
    flow: Flow,
    step: string,
    wanted: readonly string[] | null | undefined,
    workingDir: string | undefined,
  ): Promise<AgentTool[]> {
    const servers = Object.entries(flow.spec.workflow.runtime.mcp_servers);
    const needed = servers.filter(([name]) => !wanted || wanted.some((one) => belongs(one, name)));
    const [first] = needed;
    if (first && !this.#connect)
      throw new HoldfastError("HF-4009", { step, tool: `${first[0]}${SEPARATOR}*`, given: "no mcp" });
    const lists = await Promise.all(
      needed.map(([name, settings]) => this.#tools(flow.file, name, settings, workingDir)),
    );
    return lists.flat();
  }

  #tools(
    file: string,
    name: string,
    settings: McpServerSettings,
    workingDir: string | undefined,
  ): Promise<readonly AgentTool[]> {
    const key = JSON.stringify([file, name, workingDir]);
    const known = this.#servers.get(key);
    if (known) return known;
    const connecting = this.#open(file, name, settings, workingDir);
    this.#servers.set(key, connecting);
    // A failed connection is tried again by the next caller.
    connecting.catch(() => this.#servers.delete(key));
    return connecting;
  }

  async #open(
    file: string,
    name: string,
    settings: McpServerSettings,
    workingDir: string | undefined,
  ): Promise<readonly AgentTool[]> {
    const { type, command, args, env, url, headers, timeout, tools } = settings;
    const server: McpServer = {
      name,
      type,
      args,
      env,
      headers,
      tools,
      ...(command ? { command } : {}),
      ...(url ? { url } : {}),
      ...(typeof timeout === "number" ? { timeoutMs: timeout } : {}),
      ...defined({ workingDir }),
    };
    const found = await (this.#connect as McpConnect)(server, file);
    const isWanted = (tool: AgentTool): boolean =>
      tools.includes("*") ||
      tools.includes(tool.name) ||
      tools.includes(tool.name.slice(name.length + SEPARATOR.length));
    return found.filter(isWanted).map((tool) => ({
      ...tool,
      name: tool.name.startsWith(name + SEPARATOR) ? tool.name : `${name}${SEPARATOR}${tool.name}`,
      run: (input: never, call: ToolRun) => tool.run(input, call),
    }));
  }
}

const belongs = (wanted: string, server: string): boolean =>
  wanted === server || wanted.startsWith(server + SEPARATOR) || !wanted.includes(SEPARATOR);

/** Matches a tool by name, by server and name, or all tools of a server. */
const isMeant = (tool: string, wanted: string): boolean =>
  tool === wanted || tool.endsWith(SEPARATOR + wanted) || tool.startsWith(wanted + SEPARATOR);
