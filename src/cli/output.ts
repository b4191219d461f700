import { HoldfastError } from "../core/errors.ts";

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** Answers the exit code. */
  run(args: readonly string[], options: { readonly json: boolean }): Promise<number>;
}

/** Every error a person sees: what, why, what is safe, how to fix it. */
export function printError(error: unknown): void {
  if (!HoldfastError.is(error)) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return;
  }
  process.stderr.write(`✗ ${error.message}  ${error.code}\n`);
  for (const [label, text] of [
    ["Why", error.why],
    ["Safe", error.safe],
    ["Fix", error.fix],
  ] as const) {
    process.stderr.write(`  ${label.padEnd(5)} ${text}\n`);
  }
}

const colour = (code: number) => (text: string) =>
  process.stdout.isTTY && !process.env["NO_COLOR"] ? `\u001b[${code}m${text}\u001b[0m` : text;

export const bold = colour(1);
export const dim = colour(2);
export const red = colour(31);
export const green = colour(32);

export const say = (line = ""): void => void process.stdout.write(`${line}\n`);
