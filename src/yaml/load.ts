import type { AgentTool } from "../agent/tool.ts";
import { checkKeys, checkText, keysOf } from "../core/check-options.ts";
import type { Workflow } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import { interpretable } from "../core/interpretation.ts";
import type { ModelPrice } from "../core/prices.ts";
import { ParseBudget, type ParseLimits } from "../core/values/parse-budget.ts";
import { type CheckpointSettings, checkpointSettings } from "./checkpoint.ts";
import { compile, type Inputs } from "./compile.ts";
import { folderFiles, placeOf } from "./files.ts";
import { everyFlow, type Flow, readFlow } from "./flow.ts";
import { type Graph, graphOf } from "./graph.ts";
import { type InputSpec, inputSpecs, parseInputs } from "./inputs.ts";
import { yamlInterpretation } from "./interpretation.ts";
import type { ParseOptions } from "./parse.ts";
import { type Problem, problemText } from "./problems.ts";
import { type ProviderSource, Providers } from "./providers.ts";
import type { Machine, ScriptRunner } from "./run/machine.ts";
import { scriptRunner } from "./script.ts";
import {
  type Definition,
  FileProblem,
  type Files,
  type FileText,
  remembering,
  savedFiles,
} from "./source.ts";
import { type McpConnect, ToolBox } from "./tools.ts";
import { eachAgent } from "./validate.ts";

/** Options of `loadWorkflow`. */
export interface LoadOptions {
  /** Models by the provider names that files use. */
  readonly providers?: Readonly<Record<string, ProviderSource>>;
  /** Other names for them: `{ copilot: "openai", claude: "anthropic" }`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The model for agents whose files name none. Default `default`. */
  readonly model?: string;
  /** Replaces every provider that files name, to try out a file with another one. */
  readonly provider?: string;
  /** Texts that every agent gets before its prompt, in addition to the file's own instructions. Runs keep them. */
  readonly instructions?: readonly string[];
  readonly tools?: readonly AgentTool[];
  /** Connects to the MCP servers that files name. */
  readonly mcp?: McpConnect;
  /**
   * The environment for `${VAR}` and for the variables that scripts may inherit. Default: this process's environment.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The folder that files may be read from. Default: the workflow file's folder. */
  readonly root?: string;
  /** US dollars per million tokens, by model; prices in the file take precedence. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
  /** Runs the commands of script steps. Default: as processes on this machine. */
  readonly scripts?: ScriptRunner;
  /**
   * Limits for a file and everything it refers to; a larger one is refused (HF-1040). Default: 1 MiB, 5,000 keys and
   * values.
   */
  readonly limits?: Partial<ParseLimits>;
}

const OPTIONS = keysOf<LoadOptions>({
  providers: true,
  aliases: true,
  model: true,
  provider: true,
  instructions: true,
  tools: true,
  mcp: true,
  env: true,
  root: true,
  prices: true,
  scripts: true,
  limits: true,
});

/** A workflow file, ready for an engine. */
export interface YamlWorkflow {
  readonly workflow: Workflow<Inputs, Inputs>;
  readonly description?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly inputs: readonly InputSpec[];
  /** Builds a run's input from texts or values. Refuses missing or unknown inputs and wrong types (HF-4004). */
  parseInputs(given: Readonly<Record<string, unknown>>): Inputs;
  /** Warnings only; errors are thrown. */
  readonly problems: readonly Problem[];
  readonly checkpoint: CheckpointSettings;
  /** The definition that runs keep, and from which {@link restoreWorkflow} rebuilds the workflow. */
  readonly definition: Definition;
  describe(): Graph;
}

/**
 * Reads a workflow file and everything it names, checks it, and builds a workflow. Throws HF-4001 with every problem
 * and its line when the file isn't valid.
 *
 * @example
 * ```ts
 * import { createEngine } from "holdfast";
 * import { scriptedProvider } from "holdfast/agent";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 * import { loadWorkflow } from "holdfast/yaml";
 *
 * const { workflow, parseInputs } = await loadWorkflow("research.yaml", {
 *   providers: { model: scriptedProvider({}) },
 *   aliases: { copilot: "model", claude: "model" },
 * });
 * const engine = createEngine({ store: await openSqliteStore(), workflows: [workflow] });
 * const run = await engine.start(workflow, parseInputs({ topic: "bolts" }));
 * console.log(await engine.result(run.id));
 * ```
 */
export async function loadWorkflow(file: string, options: LoadOptions = {}): Promise<YamlWorkflow> {
  checkText("file", file, 1);
  checkKeys(options, OPTIONS);
  if (options.root !== undefined) checkText("root", options.root, 1);
  const { folder, name } = placeOf(file, options.root);
  const { files, read } = remembering(openFolder(folder, file));
  const main = readMain(files, name);
  return await build(main, files, options, () => ({
    main: main.name,
    folder,
    files: Object.fromEntries(read),
    ...(options.instructions?.length ? { instructions: options.instructions } : {}),
    ...defined({ provider: options.provider }),
  }));
}

/**
 * Rebuilds the workflow that a run was started with from the definition kept with the run. Use it to continue a run
 * whose file has changed or is gone.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { DEFINITION_KEY, type Definition, restoreWorkflow, type LoadOptions } from "holdfast/yaml";
 *
 * export async function asStarted(engine: Engine, runId: string, options: LoadOptions) {
 *   const { memory } = await engine.checkpoints.show(runId);
 *   return restoreWorkflow(memory[DEFINITION_KEY] as Definition, options);
 * }
 * ```
 */
export async function restoreWorkflow(
  definition: Definition,
  options: LoadOptions = {},
): Promise<YamlWorkflow> {
  checkKeys(options, OPTIONS);
  const files = savedFiles(definition);
  return await build(readMain(files, definition.main), files, options, () => definition);
}

/** Options of `checkWorkflow`. */
export interface CheckOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly root?: string;
  /** See `loadWorkflow`. */
  readonly limits?: Partial<ParseLimits>;
}

/** The result of a check. Without `workflow`, the file can't be run. */
export interface CheckResult {
  readonly workflow?: Graph & {
    readonly name: string;
    readonly description?: string;
    readonly inputs: readonly InputSpec[];
    readonly checkpoint: CheckpointSettings;
  };
  readonly problems: readonly Problem[];
}

/**
 * Checks a workflow file, or a text as if it were a file in `folder`. Runs nothing and needs no model.
 *
 * @example
 * ```ts
 * import { checkWorkflow } from "holdfast/yaml";
 *
 * const { problems } = await checkWorkflow({ text: "workflow: { name: x, entry_point: a }" });
 * for (const { file, line, column, message } of problems) console.log(`${file}:${line}:${column} ${message}`);
 * ```
 */
export async function checkWorkflow(
  source: string | { readonly text: string; readonly name?: string; readonly folder?: string },
  options: CheckOptions = {},
): Promise<CheckResult> {
  checkKeys(options, ["env", "root", "limits"]);
  const { env = process.env, root, limits } = options;
  if (root !== undefined) checkText("root", root, 1);
  if (typeof source === "string") checkText("source", source, 1);
  else {
    checkKeys(source, ["text", "name", "folder"], "source");
    checkText("source.text", source.text);
  }
  const place =
    typeof source === "string"
      ? placeOf(source, root)
      : { folder: root ?? source.folder, name: source.name ?? "workflow.yaml" };
  const files = place.folder === undefined ? NO_FILES : openFolder(place.folder, place.name);
  const main =
    typeof source === "string" ? readMain(files, place.name) : { name: place.name, text: source.text };
  const { flow, problems } = await readFlow(main, reading(main, files, env, limits));
  if (!flow) return { problems };
  const { name, description, input } = flow.spec.workflow;
  const about = { name, ...(description ? { description } : {}), inputs: inputSpecs(input) };
  const checkpoint = checkpointSettings(flow.spec);
  return { workflow: { ...about, checkpoint, ...graphOf(flow.spec) }, problems };
}

const NO_FILES: Files = {
  read(reference) {
    throw new FileProblem(`${reference} cannot be read: the workflow is not in a folder`);
  },
};

function openFolder(folder: string, file: string): Files {
  try {
    return folderFiles(folder);
  } catch {
    throw notValid(file, [`the folder ${folder} does not exist`]);
  }
}

function readMain(files: Files, name: string): FileText {
  try {
    return files.read(name);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    throw notValid(name, [error.message]);
  }
}

const notValid = (file: string, problems: readonly string[]): HoldfastError =>
  new HoldfastError("HF-4001", { file, problems: problems.join("\n") });

/** The default limits. A file is parsed in one go while other work waits, so larger ones need explicit `limits`. */
const LIMITS: Partial<ParseLimits> = { bytes: 1_048_576, keys: 5_000 };

const reading = (
  main: FileText,
  files: Files,
  env: ParseOptions["env"],
  limits: Partial<ParseLimits> = {},
): ParseOptions => ({
  files,
  env,
  budget: new ParseBudget(main.name, { ...LIMITS, ...limits }),
  pause: () => new Promise((resolve) => setImmediate(resolve)),
});

async function build(
  main: FileText,
  files: Files,
  options: LoadOptions,
  define: () => Definition,
): Promise<YamlWorkflow> {
  const { env = process.env, limits } = options;
  const { flow, problems } = await readFlow(main, reading(main, files, env, limits));
  if (!flow) {
    const errors = problems.filter(({ severity }) => severity === "error");
    throw notValid(main.name, errors.map(problemText));
  }
  const definition = define();
  const { spec } = flow;
  const machine = machineOf(flow, options, definition);
  checkGiven(flow, machine, options);
  const { description, metadata, input } = spec.workflow;
  return {
    workflow: interpretable(
      compile(flow, machine, definition),
      yamlInterpretation({ flow, machine, definition, env, tools: options.tools ?? [] }),
    ),
    ...(description ? { description } : {}),
    metadata,
    inputs: inputSpecs(input),
    parseInputs: (given) => parseInputs(input, given),
    problems,
    checkpoint: checkpointSettings(spec),
    definition,
    describe: () => graphOf(spec),
  };
}

function machineOf(flow: Flow, options: LoadOptions, { folder, provider }: Definition): Machine {
  const providers = new Providers(options.providers ?? {}, options.aliases ?? {}, flow, provider);
  const tools = new ToolBox(options.tools ?? [], options.mcp);
  return {
    folder,
    provider: (of, agent) => providers.find(of, agent),
    toolsFor: (of, step, wanted, workingDir) => tools.for(of, step, wanted, workingDir),
    scripts: options.scripts ?? scriptRunner(defined({ env: options.env })),
    model: options.model ?? "default",
    prices: options.prices ?? {},
  };
}

/** Refuses missing providers and tools before a run starts, not in the middle of one. */
function checkGiven(main: Flow, machine: Machine, { tools = [], mcp }: LoadOptions): void {
  for (const flow of everyFlow(main)) {
    const hasServers = Object.keys(flow.spec.workflow.runtime.mcp_servers).length > 0;
    for (const [, agent] of eachAgent(flow.spec)) {
      if (agent.type !== "agent") continue;
      machine.provider(flow, agent);
      const wanted = agent.tools ?? flow.spec.tools;
      const missing = wanted.find((name) => !tools.some((tool) => tool.name === name));
      const given = tools.map(({ name }) => name).join(", ") || "none";
      if (missing !== undefined && !(hasServers && mcp))
        throw new HoldfastError("HF-4009", { step: agent.name, tool: missing, given });
      if (hasServers && !mcp && agent.tools?.length !== 0)
        throw new HoldfastError("HF-4009", {
          step: agent.name,
          tool: Object.keys(flow.spec.workflow.runtime.mcp_servers).join(", "),
          given,
        });
    }
  }
}
