import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { catalog } from "../../src/cli/catalog.ts";
import type { Command } from "../../src/cli/command.ts";
import { allOperations } from "../../src/server/contract/operations.ts";
import { ROOT } from "../source-tree.ts";

/** Commands without an operation of the API, each with the reason. */
const ONLY_CLI: Readonly<Record<string, string>> = {
  init: "makes files of a project",
  config: "shows the settings of the command line itself",
  "crash-test": "kills processes on the developer's machine",
  demo: "shows a crash on the developer's machine",
  completion: "is about the shell",
  mcp: "starts a server for assistants, with the operations of this API",
  serve: "starts this API",
  worker: "starts a process",
  "list-checkpoints": "the same as `checkpoints list`",
  "validate-checkpoint": "the same as `validate`",
  "diff-checkpoints": "the same as `diff`",
  "gate approve": "the same as `gate answer`",
  "gate reject": "the same as `gate answer`",
  "checkpoints diff": "the same as `diff`",
  "checkpoints validate": "the same as `validate`",
  "checkpoints export": "the same as `export`",
  "checkpoints import": "the same as `import`",
  "checkpoints clear": "`client.pruneValues` with a policy that keeps nothing",
  "schedules next": "`client.getSchedule` tells the next ticks",
  "report verify": "checks a file without a server",
  "audit verifier": "writes a program that checks without Holdfast",
  "audit key": "makes a key, which no server may see",
  "audit rotate": "needs the new key, which only its owner's machine has",
};

/** Methods of the engine and its parts without an operation of the API, by reason. */
const ONLY_LIBRARY: Readonly<Record<string, readonly string[]>> = {
  "code and a process belong to a program": ["register", "run", "work", "recover", "advance", "close"],
  "`client.startRun` takes a name": ["startNamed"],
  "`client.getRun` and `client.streamEvents` tell it": ["get", "settled", "on"],
  "`client.readState` shows values": [
    "result",
    "checkpoints.state",
    "checkpoints.stateToContinue",
    "checkpoints.tasks",
  ],
  "`client.injectContext` for each run": ["injectAll"],
  "every operation on a checkpoint takes all its addresses": ["checkpoints.find"],
  "`client.labelCheckpoint` with an empty label": ["checkpoints.unlabel"],
  "`client.labelCheckpoint` of the newest position": ["checkpoints.mark"],
  "`client.diff` compares states": ["checkpoints.digest"],
  "`client.migrateRun` with `asIs`": ["migrations.asIs"],
  "`client.listAudit` has the deletions": ["retention.deleted"],
  "`client.getQueue` counts them": ["reports.queue", "reports.queueKeys"],
  "the server does it whenever it shows values": ["reports.recordReading"],
  "the engine does it on its own": ["reports.storeLogs", "audit.start", "workers.beat", "workers.remove"],
  "the server does it with every act on the store": ["audit.record", "audit.carry"],
  "`client.getAuditHealth` and `client.verifyAudit` tell it": ["audit.head", "audit.check"],
  "`client.exportAudit` has every leaf and head that a proof is made of": ["audit.prove"],
  "the new key stays on its owner's machine": ["audit.rotate"],
  "`client.getRun` says what the run waits for": ["transfer.isHeld"],
  "`client.getSchedule` tells the next ticks": ["schedules.next"],
  "`client.listRateLimits` has all of them": ["rateLimits.get"],
  "`client.listViews` has all of them": ["views.get"],
  "`client.listWorkflows` names what can be started": ["workers.serving"],
  "[streams](streams.md) have addresses of their own": [
    "streams.read",
    "streams.part",
    "streams.moved",
    "streams.list",
  ],
};
const onlyLibrary = new Set(
  Object.values(ONLY_LIBRARY).flatMap((names) => names.map((name) => `engine.${name}`)),
);

const cell = (text: string): string => (text.startsWith("none: ") ? `– (${text.slice(6)})` : `\`${text}\``);

/** The verbs of the library, the command line and the API side by side, as a table in Markdown. */
export function verbTable(): string {
  const rows = allOperations.map(
    ({ id, method, path: at, permission, verb }) =>
      `| ${cell(verb.library)} | ${cell(verb.cli)} | \`${method} ${at}\` | \`client.${id}\` | \`${permission}\` |`,
  );
  const commands = Object.entries(ONLY_CLI).map(([name, why]) => `| – | \`${name}\` | – (${why}) | – | – |`);
  const methods = Object.entries(ONLY_LIBRARY).map(
    ([why, names]) => `| ${names.map((name) => `\`engine.${name}\``).join(", ")} | – | – (${why}) | – | – |`,
  );
  const head = ["| library | command line | API | client | permission |", "|---|---|---|---|---|"];
  return [...head, ...rows, ...methods, ...commands].join("\n");
}

/** Every command that does something, with its options: `gate list`, not `gate`. */
async function everyCommand(): Promise<Map<string, Command>> {
  const all = new Map<string, Command>();
  for (const listed of catalog) {
    const { name } = listed;
    const loaded = await listed.load();
    if ("run" in loaded) all.set(name, loaded);
    else for (const one of loaded.commands) all.set(`${name} ${one.name}`, one);
  }
  return all;
}

const inCli = allOperations.map(({ verb }) => verb.cli).filter((cli) => !cli.startsWith("none: "));

/** Commands that neither an operation names nor the list above explains, and explanations of commands that don't exist. */
export async function unexplained(): Promise<string[]> {
  const commands = [...(await everyCommand()).keys()];
  const isNamed = (name: string): boolean => inCli.some((cli) => cli === name || cli.startsWith(`${name} `));
  const isExplained = (name: string): boolean => name in ONLY_CLI || (name.split(" ")[0] ?? "") in ONLY_CLI;
  const missing = commands.filter((name) => isNamed(name) === isExplained(name));
  const stale = Object.keys(ONLY_CLI).filter(
    (name) => !commands.some((one) => one === name || one.startsWith(`${name} `)),
  );
  return [...missing, ...stale];
}

/** Operations that name a command or an option which doesn't exist. */
export async function unknownCommands(): Promise<string[]> {
  const commands = await everyCommand();
  return inCli.filter((cli) => {
    const words = cli.split(" ");
    const command = commands.get(words.slice(0, 2).join(" ")) ?? commands.get(words[0] ?? "");
    const flags = Object.values(command?.options ?? {}).map(({ flag }) => flag);
    const options = words.filter((word) => word.startsWith("--"));
    return !command || !options.every((option) => flags.some((flag) => flag.split(/[ ,]+/).includes(option)));
  });
}

const REFERENCE = path.join(ROOT, "docs/reference");
const reference = (): string =>
  readdirSync(REFERENCE)
    .map((page) => readFileSync(path.join(REFERENCE, page), "utf8"))
    .join("\n");

/** The public methods of the engine and of its parts, as the reference shows them. */
function everyMethod(): string[] {
  const text = reference();
  const bodyOf = (name: string): string => new RegExp(`^class ${name}\\b.*?^}`, "ms").exec(text)?.[0] ?? "";
  const methodsOf = (body: string): string[] =>
    [...body.matchAll(/^ {2}(?:async )?\*?(\w+)(?:<[^\n]*)?\(/gm)].map(([, name = ""]) => name);
  const engine = bodyOf("Engine");
  const parts = [...engine.matchAll(/^ {2}readonly (\w+): (\w+);/gm)];
  const ofParts = parts.flatMap(([, part, type = ""]) =>
    methodsOf(bodyOf(type)).map((one) => `${part}.${one}`),
  );
  return [...new Set([...methodsOf(engine), ...ofParts])]
    .filter((name) => !/\bconstructor$/.test(name))
    .map((name) => `engine.${name}`);
}

/** Methods that neither an operation names nor the list above explains, and explanations of methods that don't exist. */
export function unexplainedMethods(): string[] {
  const named = new Set(
    allOperations.flatMap(({ verb }) =>
      verb.library.split(", ").map((one) => `engine.${one.replace("engine.", "")}`),
    ),
  );
  const methods = everyMethod();
  const missing = methods.filter((name) => named.has(name) === onlyLibrary.has(name));
  return [...missing, ...[...onlyLibrary].filter((name) => !methods.includes(name))];
}
