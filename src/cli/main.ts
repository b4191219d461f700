#!/usr/bin/env node
import { parseArgs } from "node:util";
import { HoldfastError } from "../core/errors.ts";
import { demo } from "./commands/demo.ts";
import { explain } from "./commands/explain.ts";
import { type Command, printError } from "./output.ts";

const commands: readonly Command[] = [demo, explain];

const help = (): string =>
  [
    "holdfast <command>",
    "",
    ...commands.map(({ usage, summary }) => `  ${usage.padEnd(18)} ${summary}`),
    "",
  ].join("\n");

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean", short: "h" }, json: { type: "boolean" } },
  });
  const [name, ...rest] = positionals;
  const command = commands.find((one) => one.name === name);
  if (values.help || !command) {
    const out = name === undefined || values.help ? process.stdout : process.stderr;
    out.write(help());
    return name === undefined || values.help ? 0 : 2;
  }
  return command.run(rest, { json: values.json ?? false });
}

try {
  process.exitCode = await main();
} catch (error) {
  printError(error);
  process.exitCode = HoldfastError.is(error) ? 1 : 2;
}
