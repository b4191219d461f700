import type { CommandContext } from "./context.ts";
import type { Outcome } from "./outcome.ts";

/** One option of a command. */
export interface OptionSpec {
  /** As in help: `-i, --input <k=v>`, `--detach`, `--no-checkpoint`. */
  readonly flag: string;
  readonly summary: string;
  /** May be repeated. */
  readonly list?: true;
  readonly choices?: readonly string[];
  /** Converts the text to a value; throws `usage(…)` for an invalid one. */
  readonly parse?: (text: string) => unknown;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type Single<S extends OptionSpec> = S extends { readonly parse: (text: string) => infer T }
  ? T
  : S extends { readonly choices: readonly (infer C)[] }
    ? C
    : string;

/** A command's parsed options: texts, values, lists; `true` for a switch. */
export type Values<S extends OptionSpecs> = {
  readonly [K in keyof S]: S[K]["flag"] extends `${string}<${string}`
    ? (S[K] extends { readonly list: true } ? readonly Single<S[K]>[] : Single<S[K]>) | undefined
    : boolean;
};

interface Described {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments as in help: `["<run>", "[step]", "[more...]"]`. */
  readonly args?: readonly string[];
  /** Shown under the help text, each without the leading `holdfast`. */
  readonly examples?: readonly string[];
}

/** A command, or one of the commands below it (`config show`). */
export interface Command<S extends OptionSpecs = OptionSpecs> extends Described {
  readonly options?: S;
  run(context: CommandContext<Values<S>>): Promise<Outcome>;
}

/** A command that only groups others. */
export interface CommandGroup extends Described {
  readonly commands: readonly Command[];
  /** The default command. */
  readonly otherwise?: string;
}

/**
 * Defines a command with typed options.
 *
 * ```
 * export const command = defineCommand({
 *   name: "pause",
 *   summary: "Pause a run before its next step",
 *   args: ["<run>"],
 *   options: { workflow: { flag: "--workflow <name>", summary: "All of its runs" } },
 *   async run({ args, options, engine }) { … },
 * });
 * ```
 */
export const defineCommand = <const S extends OptionSpecs>(command: Command<S>): Command =>
  command as unknown as Command;

/** A command as listed in the help text. */
export interface Listed {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Commands are loaded on use, so that the others cost no start-up time. */
  load(): Promise<Command | CommandGroup>;
}
