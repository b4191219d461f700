import { HoldfastError } from "../../../core/errors.ts";
import { splitAddress } from "../../addresses.ts";
import type { Command, CommandGroup, Listed, OptionSpec } from "../../command.ts";
import type { CommandContext } from "../../context.ts";
import { GLOBAL_HELP, takeGlobals } from "../../globals.ts";

const MOST_RUNS = 50;

/** Candidates for the last word. Empty when nothing is known: the shell then offers files. */
export async function candidates(
  context: CommandContext<unknown>,
  catalog: readonly Listed[],
  words: readonly string[],
): Promise<string[]> {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const rest = withoutGlobals(before);
  const [verb, ...others] = rest;
  const found = await (verb === undefined
    ? Promise.resolve(last.startsWith("-") ? globalFlags() : catalog.map(({ name }) => name))
    : below(context, catalog, verb, others, last));
  return [...new Set(found)].filter((one) => one.startsWith(last)).sort();
}

function withoutGlobals(words: readonly string[]): readonly string[] {
  try {
    return takeGlobals(words).rest;
  } catch (error) {
    // A flag still waits for its value.
    if (HoldfastError.is(error)) return words.filter((word) => !word.startsWith("-"));
    throw error;
  }
}

async function below(
  context: CommandContext<unknown>,
  catalog: readonly Listed[],
  verb: string,
  others: readonly string[],
  last: string,
): Promise<string[]> {
  const listed = catalog.find(({ name, aliases = [] }) => name === verb || aliases.includes(verb));
  if (!listed) return [];
  const loaded = await listed.load();
  if (!("commands" in loaded)) return ofCommand(context, loaded, others, last);
  const [sub, ...more] = others;
  const command = loaded.commands.find(({ name }) => name === sub) ?? otherwise(loaded, others);
  if (!command) return loaded.commands.map(({ name }) => name);
  return ofCommand(context, command, sub === command.name ? more : others, last);
}

/** The default command, once one of its options is being typed. */
const otherwise = (
  { commands, otherwise: name }: CommandGroup,
  words: readonly string[],
): Command | undefined => (words.length > 0 ? commands.find((one) => one.name === name) : undefined);

async function ofCommand(
  context: CommandContext<unknown>,
  command: Command,
  words: readonly string[],
  last: string,
): Promise<string[]> {
  const options = Object.values<OptionSpec>(command.options ?? {});
  const previous = words.at(-1);
  const open = options.find(
    ({ flag }) => previous !== undefined && takesValue(flag) && flagsOf(flag).includes(previous),
  );
  if (open) return [...(open.choices ?? [])];
  if (last.startsWith("-")) return [...options.flatMap(({ flag }) => flagsOf(flag)), ...globalFlags()];
  const given = words.filter((word) => !word.startsWith("-")).length;
  const wanted = command.args?.at(Math.min(given, command.args.length - 1)) ?? "";
  if (/shell/.test(wanted)) return ["bash", "zsh", "fish"];
  return /run|checkpoint|gate|what/.test(wanted) ? addresses(context, last) : [];
}

const takesValue = (flag: string): boolean => flag.includes("<");
const flagsOf = (flag: string): string[] => flag.split(/[ ,]+/).filter((word) => word.startsWith("-"));
const globalFlags = (): string[] => [...new Set(GLOBAL_HELP.match(/(?<=[\s,])--[a-z-]+/g) ?? [])];

/** Runs; after `@` the labels of one, after `:` what it waits at. A store that can't be read has none. */
async function addresses(context: CommandContext<unknown>, last: string): Promise<string[]> {
  try {
    const store = await context.store();
    if (!/[:@]./.test(`${last}.`) || last.startsWith("@")) {
      const { runs } = await store.list({ limit: MOST_RUNS });
      return ["@last", ...runs.map(({ id }) => id)];
    }
    const written = last.slice(0, last.search(/[:@]/));
    const row = await store.read(splitAddress(written).run);
    if (!row) return [];
    if (last[written.length] === ":") return row.waiting.map(({ step }) => `${row.id}:${step}`);
    const { checkpoints } = await context.engine();
    const items = await checkpoints.list(row.id, { limit: 100 });
    return [...items.flatMap(({ labels }) => labels), "first", "last"].map((place) => `${row.id}@${place}`);
  } catch (error) {
    if (HoldfastError.is(error)) return [];
    throw error;
  }
}
