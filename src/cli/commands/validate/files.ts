import { existsSync } from "node:fs";
import { relative } from "node:path";
import type { Problem } from "../../../yaml/problems.ts";
import { storeUrl, withPlace } from "../../config/store-url.ts";
import type { CommandContext } from "../../context.ts";
import { columns, plural } from "../../format.ts";
import { noFile } from "../../modules.ts";
import type { Outcome } from "../../outcome.ts";
import { invalid } from "./invalid.ts";

/** Checks a YAML workflow: every problem with its line. */
export async function validateYaml(context: CommandContext<unknown>, path: string): Promise<Outcome> {
  const { host, out } = context;
  const { paint } = out;
  const shown = relative(host.cwd, path);
  if (!existsSync(path)) throw noFile(shown);
  const { checkWorkflow } = await import("../../../yaml/index.ts");
  const { workflow, problems } = await checkWorkflow(path, { env: host.env });
  const errors = problems.filter(({ severity }) => severity === "error");
  const folder = shown.slice(0, shown.lastIndexOf("/") + 1);
  const lines = problems.map(
    ({ severity, line, column, message, file }: Problem) =>
      `${severity === "error" ? paint.red("✗ error") : paint.yellow("! warning")}  ${folder}${file}:${line}:${column}  ${message}`,
  );
  const data = {
    kind: "workflow",
    file: shown,
    valid: errors.length === 0,
    problems,
    workflow: workflow ?? null,
  };
  if (errors.length > 0)
    return {
      data,
      text: [...lines, ...annotations(context, problems, folder)].join("\n"),
      ...invalid(
        shown,
        plural(errors.length, "error"),
        errors[0]?.message ?? "",
        `Correct it, then holdfast validate ${shown}`,
      ),
    };
  // Reports an unusable store now, not at the first run.
  if (workflow?.checkpoint.saving)
    storeUrl(withPlace(await context.settings(), workflow.checkpoint), host.cwd, workflow.name);
  const agents = workflow
    ? ` · ${plural(workflow.nodes.filter(({ type }) => type !== "end").length, "node")} · ${plural(workflow.inputs.length, "input")}`
    : "";
  return {
    data,
    text: [...lines, `✓ ${shown} is valid${workflow ? `: ${workflow.name}${agents}` : ""}`].join("\n"),
  };
}

/** In GitHub Actions, annotates each problem's line. */
function annotations(
  { host }: CommandContext<unknown>,
  problems: readonly Problem[],
  folder: string,
): string[] {
  if (host.env["GITHUB_ACTIONS"] !== "true") return [];
  return problems.map(
    ({ severity, file, line, column, message }) =>
      `::${severity} file=${folder}${file},line=${line},col=${column}::${message}`,
  );
}

/** Checks a module: the workflows it exports. */
export async function validateModule(context: CommandContext<unknown>, what: string): Promise<Outcome> {
  const workflows = await context.workflows();
  const [file = "", name] = what.split("#");
  // Any of its workflows will do to load it; the error for a missing one lists the existing ones.
  const code = await workflows.fromFile(name === undefined ? file : what, context.host.cwd, "any");
  const all = code.all.map(({ name: one, version, schema }) => ({ name: one, version, schema }));
  const rows = all.map((one) => [`  ${one.name}`, `version ${one.version}`, `schema ${one.schema}`]);
  return {
    data: { kind: "module", file, valid: true, workflows: all },
    text: [`✓ ${file} exports ${plural(all.length, "workflow")}`, ...columns(rows)].join("\n"),
  };
}

/** Checks the configuration: the active one, or a file. */
export async function validateConfig(context: CommandContext<unknown>, path?: string): Promise<Outcome> {
  const { loadSettings } = await import("../../config/settings.ts");
  const globals = path === undefined ? context.globals : { ...context.globals, config: path };
  const { file, notes } = await loadSettings(context.host, globals);
  const shown = file === undefined ? undefined : relative(context.host.cwd, file);
  const told = shown === undefined ? "✓ no configuration file: the defaults are used" : `✓ ${shown} is valid`;
  return {
    data: { kind: "config", file: shown ?? null, valid: true, notes },
    text: [told, ...notes.map((note) => `! ${note}`)].join("\n"),
  };
}
