/** docs/cli.md, made from the catalogue of commands. */
import { catalog } from "../../src/cli/catalog.ts";
import type { Command, CommandGroup, Listed, OptionSpecs } from "../../src/cli/command.ts";
import { GLOBAL_HELP } from "../../src/cli/globals.ts";
import { code, escaped, GENERATED, page, table } from "./text.ts";

/** One command as it is typed, such as `checkpoints list`. */
export interface Typed {
  readonly path: string;
  readonly command: Command;
}

/** Every command that can be typed, by the name that lists it. */
export async function typedCommands(): Promise<Map<Listed, readonly Typed[]>> {
  const found = new Map<Listed, readonly Typed[]>();
  for (const listed of catalog) found.set(listed, typed(listed, await listed.load()));
  return found;
}

function typed({ name }: Listed, command: Command | CommandGroup): readonly Typed[] {
  if (!("commands" in command)) return [{ path: name, command }];
  return command.commands.map((one) => ({ path: `${name} ${one.name}`, command: one }));
}

export async function cliReference(): Promise<string> {
  const commands = await typedCommands();
  const sections = [...commands].map(([listed, below]) => sectionOf(listed, below));
  return page(
    GENERATED,
    "# Command line",
    "Every command of `holdfast`, with its options and examples. [Use the terminal](terminal.md) shows a session and explains how runs, steps and checkpoints are named; [Configuration](configuration.md) lists the settings.",
    table(
      ["command", "what it does"],
      [...commands.keys()].map(({ name, summary }) => [`[${code(name)}](#${name})`, escaped(summary)]),
    ),
    "## Options of every command and exit codes",
    `\`\`\`text\n${GLOBAL_HELP.trim()}\n\`\`\``,
    ...sections,
  );
}

function sectionOf({ name, aliases = [], summary }: Listed, below: readonly Typed[]): string {
  const also = aliases.length === 0 ? "" : ` Also: ${aliases.map(code).join(", ")}.`;
  const isGroup = below.length > 1 || below[0]?.path !== name;
  const bodies = below.map((one) => bodyOf(one, isGroup));
  return page(`## ${name}`, `${escaped(summary)}.${also}`, ...bodies).trim();
}

function bodyOf({ path, command }: Typed, isBelow: boolean): string {
  const { args = [], examples = [], options = {}, summary } = command;
  const usage = ["holdfast", path, ...args, ...(Object.keys(options).length === 0 ? [] : ["[options]"])];
  return page(
    isBelow ? `### ${path}` : "",
    isBelow ? `${escaped(summary)}.` : "",
    `\`\`\`text\n${usage.join(" ")}\n\`\`\``,
    optionTable(options),
    examples.length === 0 ? "" : `\`\`\`sh\n${examples.map((one) => `holdfast ${one}`).join("\n")}\n\`\`\``,
  ).trim();
}

function optionTable(options: OptionSpecs): string {
  const rows = Object.values(options).map(({ flag, summary, list, choices }) => [
    code(flag),
    [
      `${escaped(summary)}.`,
      choices ? `One of ${choices.map(code).join(", ")}.` : "",
      list ? "May be repeated." : "",
    ]
      .filter((part) => part !== "")
      .join(" "),
  ]);
  return rows.length === 0 ? "" : table(["option", ""], rows);
}
