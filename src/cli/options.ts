import { Option, type Command as Parser } from "commander";
import { HoldfastError } from "../core/errors.ts";
import type { OptionSpec, OptionSpecs } from "./command.ts";
import { usage } from "./globals.ts";

export function addOption(parser: Parser, { flag, summary, list, choices, parse }: OptionSpec): void {
  const option = new Option(flag, summary);
  if (choices) option.choices(choices);
  const single = option.parseArg ?? ((text: string) => text);
  const read = (text: string): unknown => (parse ? named(option, text, parse) : single(text, undefined));
  if (list)
    option.argParser<unknown[]>((text, before: unknown[] | undefined) => [...(before ?? []), read(text)]);
  else if (parse) option.argParser(read);
  parser.addOption(option);
}

/** Refuses a value with its flag, and with a fix that can be typed. */
function named(option: Option, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!HoldfastError.is(error, "HF-4300")) throw error;
    const flag = option.long ?? option.flags;
    const { problem, why, fix } = error.detail;
    const says = (part: unknown): boolean => /(^|\s)--\w/.test(String(part));
    throw usage(
      says(problem) ? String(problem) : `${flag}: ${problem}`,
      String(why),
      says(fix) ? String(fix) : `${flag} ${fix}`,
    );
  }
}

/** The options under the command's names. `--no-…` is `true` when given. */
export function readOptions(parser: Parser, specs: OptionSpecs): Record<string, unknown> {
  const given: Record<string, unknown> = parser.opts();
  return Object.fromEntries(
    Object.entries(specs).map(([key, { flag }]) => {
      const option = new Option(flag);
      const value = given[option.attributeName()];
      if (option.negate) return [key, value === false];
      return [key, option.isBoolean() ? value === true : value];
    }),
  );
}
