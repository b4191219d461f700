import type { CommandContext } from "./context.ts";
import type { Outcome } from "./outcome.ts";

/** One option of a command. */
export interface OptionSpec {
  /** As in help: `-i, --input <k=v>`, `--detach`, `--no-checkpoint`. */
  readonly flag: string;
  readonly summary: string;
  /** May be given again and again. */
  readonly list?: true;
  readonly choices?: readonly string[];
  /** Turns the text into a value; throws `usage(…)` for one that is not valid. */
  readonly parse?: (text: string) => unknown;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

type Single<S extends OptionSpec> = S extends { readonly parse: (text: string) => infer T }
  ? T
  : S extends { readonly choices: readonly (infer C)[] }
    ? C
    : string;

/** What a command finds under its options: texts, parsed values, lists; `true` for a switch that was given. */
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
  /** Which one is meant when none is named. */
  readonly otherwise?: string;
}

/**
 * Writes a command down so that its options are typed.
 *
 * ```
 * export const command = defineCommand({
 *   name: "pause",
 *   summary: "stop a run at its next step",
 *   args: ["<run>"],
 *   options: { workflow: { flag: "--workflow <name>", summary: "all of its runs" } },
 *   async run({ args, options, engine }) { … },
 * });
 * ```
 */
export const defineCommand = <const S extends OptionSpecs>(command: Command<S>): Command =>
  command as unknown as Command;

/** A command as the help text lists it. */
export interface Listed {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Commands are loaded when they are used, so that the others cost no start-up time. */
  load(): Promise<Command | CommandGroup>;
}
