import { existsSync } from "node:fs";
import type { Workflow } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { CheckpointSettings, Definition, LoadOptions, YamlWorkflow } from "../yaml/index.ts";
import type { ConfigValues } from "./config/schema.ts";
import type { Host } from "./host.ts";
import { mcpConnect, providersOf } from "./models.ts";
import { noFile } from "./modules.ts";

/** What a YAML file brings along besides its workflow. */
export interface YamlPart {
  /** Texts and values of an input as the file declares them. */
  readonly parseInputs: YamlWorkflow["parseInputs"];
  /** What is worth a second look in it, a line each. */
  readonly warnings: readonly string[];
  readonly checkpoint: CheckpointSettings;
}

export interface YamlCode {
  readonly workflow: Workflow;
  readonly yaml: YamlPart;
}

/** What files may use. */
interface Given {
  readonly values: Pick<ConfigValues, "providers" | "aliases">;
  /** Relative paths of the configuration start here. */
  readonly root: string;
  readonly env: Host["env"];
  /** What whoever starts a run says about its file. */
  readonly said?: Pick<LoadOptions, "provider" | "instructions">;
  /** Is given what must be ended with the command. */
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

/** What a file asks for and only the configuration can give is not passed over in silence. */
export function checkSealing({ checkpoint }: YamlPart, file: string, isEncrypted: boolean): void {
  if (checkpoint.encryption !== true || isEncrypted) return;
  throw new HoldfastError("HF-4305", {
    problems: `${file} asks for encryption, and the store is opened without it; set encryption in holdfast.config.`,
    source: file,
  });
}
