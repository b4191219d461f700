import { HoldfastError } from "../core/errors.ts";
import type { Workflow } from "../core/workflow.ts";
import type { CheckpointSettings, Definition, LoadOptions, YamlWorkflow } from "../yaml/index.ts";
import type { ConfigValues } from "./config/schema.ts";
import type { Host } from "./host.ts";

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

type Given = Pick<ConfigValues, "providers" | "aliases">;

/** Reads a workflow file. */
export async function readYaml(file: string, given: Given, env: Host["env"]): Promise<YamlCode> {
  const { loadWorkflow } = await import("../yaml/index.ts");
  return codeOf(await loadWorkflow(file, optionsOf(given, env)));
}

/** The file as it was when a run was started with it; `undefined` when the run keeps none. */
export async function restoreYaml(
  memory: Readonly<Record<string, unknown>>,
  given: Given,
  env: Host["env"],
): Promise<YamlCode | undefined> {
  const { DEFINITION_KEY, restoreWorkflow } = await import("../yaml/index.ts");
  const definition = memory[DEFINITION_KEY] as Definition | undefined;
  return definition && codeOf(await restoreWorkflow(definition, optionsOf(given, env)));
}

const optionsOf = ({ providers, aliases }: Given, env: Host["env"]): LoadOptions => ({
  env,
  ...(providers ? { providers: providers as NonNullable<LoadOptions["providers"]> } : {}),
  ...(aliases ? { aliases } : {}),
});

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
