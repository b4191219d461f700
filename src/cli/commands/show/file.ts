import { existsSync } from "node:fs";
import { extname, relative, resolve } from "node:path";
import type { InputSpec } from "../../../yaml/index.ts";
import type { CommandContext } from "../../context.ts";
import { columns, oneLine, word } from "../../format.ts";
import type { Outcome } from "../../outcome.ts";
import { validateYaml } from "../validate/files.ts";

export const isWorkflowFile = ({ host }: CommandContext<unknown>, text: string): boolean =>
  [".yaml", ".yml"].includes(extname(text)) && existsSync(resolve(host.cwd, text));

/** Describes a workflow file and its inputs. */
export async function showFile(context: CommandContext<unknown>, text: string): Promise<Outcome> {
  const { checkWorkflow } = await import("../../../yaml/index.ts");
  const path = resolve(context.host.cwd, text);
  const { workflow } = await checkWorkflow(path, { env: context.host.env });
  if (!workflow) return validateYaml(context, path);
  const { paint } = context.out;
  const { name, description, inputs, nodes } = workflow;
  const rows = inputs.map((input) => [
    `  ${input.name}`,
    input.type,
    input.default !== undefined
      ? `default ${JSON.stringify(input.default)}`
      : input.required
        ? "required"
        : "",
    oneLine(input.description ?? ""),
  ]);
  const agents = nodes
    .filter(({ type }) => type !== "end")
    .map(({ id, type, description: about }) => [`  ${id}`, type, oneLine(about ?? "")]);
  const line = `run ${word(relative(context.host.cwd, path))}${needed(inputs)}`;
  return {
    data: { kind: "workflow", file: text, workflow },
    text: [
      `${paint.bold(name)}${description ? `  ${oneLine(description)}` : ""}`,
      "",
      paint.bold("Inputs"),
      ...(rows.length === 0 ? ["  none declared: it takes any"] : columns(rows)),
      "",
      paint.bold("Agents"),
      ...columns(agents),
      "",
      paint.bold("You can"),
      `  ${context.cli(line)}`,
    ].join("\n"),
    next: [line],
  };
}

const needed = (inputs: readonly InputSpec[]): string =>
  inputs
    .filter(({ required, default: fallback }) => required && fallback === undefined)
    .map(({ name }) => ` -i ${name}=…`)
    .join("");
