import { type CommanderError, Command as Parser } from "commander";
import { HoldfastError } from "../core/errors.ts";
import { didYouMean } from "../core/nearest.ts";
import { packageVersion } from "../testing/package-files.ts";
import { admit } from "./admission.ts";
import { asGiven } from "./as-given.ts";
import { catalog } from "./catalog.ts";
import type { Command, CommandGroup, Listed, OptionSpecs } from "./command.ts";
import { CommandContext } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { GLOBAL_HELP, type Globals, takeGlobals, usage } from "./globals.ts";
import { helpText } from "./help.ts";
import type { Host } from "./host.ts";
import { addOption, readOptions } from "./options.ts";
import { Output } from "./output.ts";
import { shielded } from "./sink.ts";
import { wantsAscii } from "./surroundings.ts";

/** Runs one command line and returns the exit code. */
export async function runCli(argv: readonly string[], given: Host): Promise<number> {
  let host = shielded(given, wantsAscii(given.env, false));
  let output = new Output(host, takeGlobals([]).globals);
  let name = "holdfast";
  try {
    const { globals, rest } = takeGlobals(argv);
    host = shielded(given, wantsAscii(given.env, globals.ascii));
    output = new Output(host, globals);
    const [verb, ...words] = rest[0] === "help" ? rest.slice(1) : rest;
    if (verb === undefined) return about(globals, host, output);
    const isHelp = globals.help || rest[0] === "help";
    const listed = await find(verb);
    name = listed.name;
    const { command, path, args } = choose(await listed.load(), listed, words);
    if (!command || isHelp) {
      const help = helpOf(command ?? (await listed.load()), path, host.stdout.isTTY);
      host.stdout.write(helpText(output.plain(help), host.stdout));
      return command || isHelp ? EXIT.done : EXIT.usage;
    }
    name = path;
    return await execute(command, path, args, { globals, host, output });
  } catch (error) {
    return output.fail(name, asGiven(error, argv));
  }
}

function about(globals: Globals, host: Host, output: Output): number {
  if (globals.version) {
    const version = packageVersion();
    return output.finish("version", { data: { version, node: process.version }, text: version });
  }
  const lines = catalog.map(({ name, summary }) => `  ${name.padEnd(19)} ${summary}`);
  const text = `holdfast <command>\n\n${lines.join("\n")}\n${GLOBAL_HELP}`;
  host.stdout.write(helpText(output.plain(text), host.stdout));
  return EXIT.done;
}

async function find(verb: string): Promise<Listed> {
  const found = catalog.find(({ name, aliases = [] }) => name === verb || aliases.includes(verb));
  if (found) return found;
  if (verb.startsWith("-"))
    throw usage(`${verb} is not an option of holdfast`, "A command comes first.", "holdfast --help");
  const known = catalog.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const below = await belowGroup(verb);
  throw noCommand(verb, below === undefined ? didYouMean(verb, known, ...COMMAND) : `holdfast ${below}\n`);
}

/** A guess at a command is a line of its own, to be copied. */
const COMMAND = ["holdfast ", "\n"] as const;

const noCommand = (name: string, meant: string): HoldfastError =>
  new HoldfastError("HF-4301", { name, meant });

/** The full name of the command that has this name in a group, such as `checkpoints prune`. */
async function belowGroup(verb: string): Promise<string | undefined> {
  for (const listed of catalog) {
    const found = await listed.load();
    if ("commands" in found && found.commands.some(({ name }) => name === verb))
      return `${listed.name} ${verb}`;
  }
  return undefined;
}

interface Chosen {
  /** `undefined` when only a group was named. */
  readonly command: Command | undefined;
  /** The command as typed: `config show`. */
  readonly path: string;
  readonly args: readonly string[];
}

function choose(found: Command | CommandGroup, { name }: Listed, words: readonly string[]): Chosen {
  if (!("commands" in found)) return { command: found, path: name, args: words };
  const below = found.commands.map((one) => one.name);
  const isFree = (word: string, index: number) => !word.startsWith("-") && !words[index - 1]?.startsWith("-");
  // A word after a flag may be the flag's value, unless it is the name of a command.
  const at = words.findIndex((word, index) => below.includes(word) || isFree(word, index));
  const named = at < 0 ? undefined : words[at];
  const isNamed = named !== undefined && below.includes(named);
  const wanted = isNamed ? named : found.otherwise;
  const command = found.commands.find((one) => one.name === wanted);
  if (command && isNamed) return { command, path: `${name} ${named}`, args: words.toSpliced(at, 1) };
  if (command && named === undefined) return { command, path: `${name} ${command.name}`, args: words };
  if (named !== undefined)
    throw noCommand(`${name} ${named}`, didYouMean(named, below, `holdfast ${name} `, "\n"));
  return { command: undefined, path: name, args: words };
}

interface Frame {
  readonly globals: Globals;
  readonly host: Host;
  readonly output: Output;
}

async function execute(
  command: Command,
  path: string,
  words: readonly string[],
  { globals, host, output }: Frame,
): Promise<number> {
  const { args, options } = parse(command, path, words);
  const context = new CommandContext<never>({
    args,
    options: options as never,
    globals,
    host,
    output,
    path,
  });
  try {
    await admit(context);
    const outcome = await command.run(context);
    const next = (outcome.next ?? []).map((one) => context.cli(one));
    return output.finish(path, { ...outcome, next });
  } finally {
    await context.close();
  }
}

function parserOf(command: Command, path: string): Parser {
  const parser = new Parser(path)
    .description(command.summary)
    .exitOverride()
    .helpOption(false)
    .showSuggestionAfterError()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  for (const argument of command.args ?? []) parser.argument(argument);
  for (const spec of Object.values<OptionSpecs[string]>(command.options ?? {})) addOption(parser, spec);
  return parser;
}

function parse(command: Command, path: string, words: readonly string[]) {
  const parser = parserOf(command, path);
  try {
    parser.parse([...words], { from: "user" });
  } catch (error) {
    throw isParserError(error) ? misread(error, command, path) : error;
  }
  return { args: parser.args, options: readOptions(parser, command.options ?? {}) };
}

const isParserError = (error: unknown): error is CommanderError =>
  error instanceof Error && "code" in error && String(error.code).startsWith("commander.");

/** Converts the parser's message to one of our errors. */
function misread({ message }: CommanderError, command: Command, path: string): HoldfastError {
  const [said = "", meant = ""] = message.replace(/^error: /, "").split("\n");
  const form = ["holdfast", path, ...(command.args ?? [])].join(" ");
  const why = meant === "" ? `The command is: ${form}` : meant.replace(/^\(|\)$/g, "");
  return usage(said.replace(/\.$/, ""), why, `holdfast ${path} --help`);
}

const MORE_HELP = "\nOptions of every command, and exit codes: holdfast --help\n";

/** `isWrapped`: its lines are broken later, to the terminal's width. */
function helpOf(found: Command | CommandGroup, path: string, isWrapped: boolean): string {
  if ("commands" in found) {
    const lines = found.commands.map(
      ({ name, args = [], summary }) => `  ${[name, ...args].join(" ").padEnd(24)} ${summary}`,
    );
    return `holdfast ${path}: ${found.summary}\n\n${lines.join("\n")}\n${MORE_HELP}`;
  }
  const examples = (found.examples ?? []).map((example) => `  holdfast ${example}\n`).join("");
  const parser = parserOf(found, `holdfast ${path}`);
  if (isWrapped) parser.configureHelp({ helpWidth: 1_000 });
  const text = parser.helpInformation();
  return `${text}${examples === "" ? "" : `\nExamples:\n${examples}`}${MORE_HELP}`;
}
