import { Option, type Command as Parser } from "commander";
import type { OptionSpec, OptionSpecs } from "./command.ts";

export function addOption(parser: Parser, { flag, summary, list, choices, parse }: OptionSpec): void {
  const option = new Option(flag, summary);
  if (choices) option.choices(choices);
  const single = option.parseArg ?? ((text: string) => text);
  const read = (text: string): unknown => (parse ? parse(text) : single(text, undefined));
  if (list)
    option.argParser<unknown[]>((text, before: unknown[] | undefined) => [...(before ?? []), read(text)]);
  else if (parse) option.argParser(read);
  parser.addOption(option);
}

/** Under the names the command gave them. `--no-…` is `true` when it was written. */
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
