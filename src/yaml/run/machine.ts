import type { Message, ModelProvider } from "../../agent/model.ts";
import type { ModelPrice } from "../../agent/run-agent.ts";
import type { AgentTool } from "../../agent/tool.ts";
import type { Context } from "../../core/context.ts";
import type { Flow } from "../flow.ts";
import type { FlowState } from "./state.ts";

/** What a script step asks for. Texts are rendered, paths are as written. */
export interface ScriptRequest {
  readonly step: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the surrounding environment that the command may see, by name. */
  readonly inherit?: readonly string[];
  readonly workingDir?: string;
  readonly stdin?: string;
  readonly signal: AbortSignal;
}

export interface ScriptResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

/** Starts processes. */
export type ScriptRunner = (request: ScriptRequest) => Promise<ScriptResult>;

/** An MCP server of the file, and where it is to be started. */
export interface McpServer {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Which of its tools are wanted; `*` for all. */
  readonly tools: readonly string[];
  readonly workingDir?: string;
}

/** What a workflow is run with: everything that is not in the file. */
export interface Machine {
  readonly folder: string;
  /** By the name that the file uses. */
  provider(
    flow: Flow,
    agent: { readonly name: string; readonly provider?: string | null | undefined },
  ): ModelProvider;
  /** Tools that were given, and those of the file's servers. */
  toolsFor(
    flow: Flow,
    step: string,
    wanted: readonly string[] | null | undefined,
    workingDir: string | undefined,
  ): Promise<readonly AgentTool[]>;
  readonly scripts: ScriptRunner;
  /** For agents of files that name none. */
  readonly model: string;
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

/** One workflow being gone through: the run's own, or a sub-workflow inside it. */
export interface FlowRun {
  readonly ctx: Context;
  readonly flow: Flow;
  readonly machine: Machine;
  readonly state: FlowState;
  /** How many workflows are around it. */
  readonly depth: number;
  /** Instructions of the workflows around it, and its own. */
  readonly instructions: readonly string[];
  /** What the whole run has spent on models, as far as prices are known. */
  readonly ledger: { costUsd: number; told: boolean };
  /** What was said under each session_key. */
  readonly sessions: Map<string, readonly Message[]>;
  /** Goes through a workflow inside this one. */
  readonly enter: (inner: FlowRun) => Promise<Readonly<Record<string, unknown>>>;
}

/** What templates see of a workflow besides its inputs. */
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
