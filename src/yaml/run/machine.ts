import type { Message, ModelProvider } from "../../agent/model.ts";
import type { AgentTool } from "../../agent/tool.ts";
import type { Context } from "../../core/context.ts";
import type { ModelPrice } from "../../core/prices.ts";
import type { Flow } from "../flow.ts";
import type { FlowState } from "./state.ts";

/** A script step's request. Texts are rendered; paths are as written. */
export interface ScriptRequest {
  readonly step: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Names of the environment variables that the command may see. */
  readonly inherit?: readonly string[];
  readonly workingDir?: string;
  readonly stdin?: string;
  readonly signal: AbortSignal;
}

/** What a command returned: its output and its exit code. */
export interface ScriptResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

/** Starts processes. */
export type ScriptRunner = (request: ScriptRequest) => Promise<ScriptResult>;

/** An MCP server of the file, and the folder to start it in. */
export interface McpServer {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The tools to use; `*` for all. */
  readonly tools: readonly string[];
  readonly workingDir?: string;
}

/** Everything a workflow needs that isn't in the file. */
export interface Machine {
  readonly folder: string;
  /** Finds a provider by the name that the file uses. */
  provider(
    flow: Flow,
    agent: { readonly name: string; readonly provider?: string | null | undefined },
  ): ModelProvider;
  /** The tools given by the program and those of the file's servers. */
  toolsFor(
    flow: Flow,
    step: string,
    wanted: readonly string[] | null | undefined,
    workingDir: string | undefined,
  ): Promise<readonly AgentTool[]>;
  readonly scripts: ScriptRunner;
  /** The model for agents whose files name none. */
  readonly model: string;
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

/** One workflow in progress: the run's own, or a sub-workflow inside it. */
export interface FlowRun {
  readonly ctx: Context;
  readonly flow: Flow;
  readonly machine: Machine;
  readonly state: FlowState;
  /** The number of enclosing workflows. */
  readonly depth: number;
  /** Instructions of the enclosing workflows, then its own. */
  readonly instructions: readonly string[];
  /** The model cost of the whole run, as far as prices are known. */
  readonly ledger: { costUsd: number; told: boolean };
  /** The messages under each session_key. */
  readonly sessions: Map<string, readonly Message[]>;
  /** Runs a workflow inside this one. */
  readonly enter: (inner: FlowRun) => Promise<Readonly<Record<string, unknown>>>;
}

/** The workflow's metadata that templates see besides the inputs. */
export function metaOf(
  { file, spec: { workflow } }: Flow,
  { folder }: Machine,
): Readonly<Record<string, string>> {
  const at = file.lastIndexOf("/");
  return {
    name: workflow.name,
    description: workflow.description ?? "",
    dir: at < 0 ? folder : `${folder}/${file.slice(0, at)}`,
    file: `${folder}/${file}`,
  };
}
