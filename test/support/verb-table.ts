import { catalog } from "../../src/cli/catalog.ts";
import { allOperations } from "../../src/server/contract/operations.ts";

/** Commands without an operation of the API, each with the reason. */
export const ONLY_CLI: Readonly<Record<string, string>> = {
  init: "makes files of a project",
  run: "startRun",
  config: "shows the settings of the command line itself",
  "crash-test": "kills processes on the machine of the developer",
  demo: "shows a crash on the machine of the developer",
  completion: "is about the shell",
  mcp: "starts a server for assistants, with the operations of this API",
  serve: "starts this API",
  "list-checkpoints": "the same as checkpoints list",
  "validate-checkpoint": "the same as validate",
  "diff-checkpoints": "the same as diff",
  worker: "starts a process",
  upgrade: "changes files of a project",
};

const cell = (text: string): string => (text.startsWith("none: ") ? `– (${text.slice(6)})` : `\`${text}\``);

/** The verbs of the library, the command line and the API side by side, as a table in Markdown. */
export function verbTable(): string {
  const rows = allOperations.map(
    ({ id, method, path, permission, verb }) =>
      `| ${cell(verb.library)} | ${cell(verb.cli)} | \`${method} ${path}\` | \`client.${id}\` | \`${permission}\` |`,
  );
  return ["| library | command line | API | client | permission |", "|---|---|---|---|---|", ...rows].join(
    "\n",
  );
}

/** Commands that neither an operation names nor the list above explains. */
export function unexplained(): string[] {
  const named = new Set(allOperations.map(({ verb }) => verb.cli.split(" ")[0]));
  return catalog.filter(({ name }) => !named.has(name) && !(name in ONLY_CLI)).map(({ name }) => name);
}

/** Operations that name a command which doesn't exist. */
export async function unknownCommands(): Promise<string[]> {
  const unknown: string[] = [];
  for (const { verb } of allOperations) {
    const [name, below = ""] = verb.cli.split(" ");
    if (name === "none:") continue;
    const command = await catalog.find((one) => one.name === name)?.load();
    const isNamed = /^\w/.test(below);
    const isKnown =
      command && "commands" in command ? command.commands.some((one) => one.name === below) : command;
    if (!command || (isNamed && !isKnown)) unknown.push(verb.cli);
  }
  return unknown;
}
