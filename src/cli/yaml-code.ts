import { existsSync } from "node:fs";
import type { Workflow } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { CheckpointSettings, Definition, LoadOptions, YamlWorkflow } from "../yaml/index.ts";
import type { ConfigValues } from "./config/schema.ts";
import type { Settings } from "./config/settings.ts";
import type { Host } from "./host.ts";
import { mcpConnect, providersOf } from "./models.ts";
import { noFile } from "./modules.ts";

/** The parts of a YAML file besides its workflow. */
export interface YamlPart {
  /** Converts texts and values of an input as the file declares them. */
  readonly parseInputs: YamlWorkflow["parseInputs"];
  /** Warnings, one line each. */
  readonly warnings: readonly string[];
  readonly checkpoint: CheckpointSettings;
}

export interface YamlCode {
  readonly workflow: Workflow;
  readonly yaml: YamlPart;
}

/** The resources that files may use. */
interface Given {
  readonly values: Pick<ConfigValues, "providers" | "aliases">;
  /** The base of relative paths in the configuration. */
  readonly root: string;
  readonly env: Host["env"];
  /** Options for the file given at the start of a run. */
  readonly said?: Pick<LoadOptions, "provider" | "instructions">;
  /** Receives functions to call at the end of the command. */
  readonly onEnd: (end: () => Promise<void>) => void;
}

/** Reads a workflow file. */
export async function readYaml(file: string, given: Given): Promise<YamlCode> {
  if (!existsSync(file)) throw noFile(file);
  const { loadWorkflow } = await import("../yaml/index.ts");
  return codeOf(await loadWorkflow(file, await optionsOf(given)));
}

/** The file as it was when a run was started with it; `undefined` when the run keeps none. */
export async function restoreYaml(
  memory: Readonly<Record<string, unknown>>,
  given: Given,
): Promise<YamlCode | undefined> {
  const { DEFINITION_KEY, restoreWorkflow } = await import("../yaml/index.ts");
  const definition = memory[DEFINITION_KEY] as Definition | undefined;
  return definition && codeOf(await restoreWorkflow(definition, await optionsOf(given)));
}

async function optionsOf({
  values: { providers, aliases },
  root,
  env,
  said,
  onEnd,
}: Given): Promise<LoadOptions> {
  return {
    ...said,
    env,
    providers: await providersOf(providers, env, root),
    mcp: mcpConnect(onEnd),
    ...defined({ aliases }),
  };
}

async function codeOf(loaded: YamlWorkflow): Promise<YamlCode> {
  const { problemText } = await import("../yaml/index.ts");
  const { workflow, problems, checkpoint } = loaded;
  return {
    workflow: workflow as Workflow,
    yaml: {
      parseInputs: (given) => loaded.parseInputs(given),
      warnings: problems.map(problemText),
      checkpoint,
    },
  };
}

/** A configuration that turns encryption off doesn't silently overrule a file that asks for it. */
export function checkSealing(
  { encryption }: Pick<CheckpointSettings, "encryption">,
  file: string,
  { values, origins }: Settings,
): void {
  const isOff = values.encryption === false && origins["encryption"] !== "default";
  if (encryption !== true || !isOff) return;
  throw new HoldfastError("HF-4305", {
    problems: `${file} asks for encryption, and ${origins["encryption"]} turns it off; set encryption there.`,
    source: file,
  });
}
