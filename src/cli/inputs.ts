import { existsSync, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { usage } from "./globals.ts";
import type { Host } from "./host.ts";
import { messageOf, noFile } from "./modules.ts";

/** Parses `7`, `true`, `[1,2]`, `"7"` as JSON; anything else is a text. */
export function readLoose(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Splits `k=v` at the first `=`. */
export function splitPair(text: string, flag: string): readonly [key: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`${flag} ${text} has no name`, "Write it as name=value.", `${flag} name=value`);
}

/** Parses JSON, or throws an explanation. */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${what} isn't valid JSON`, messageOf(error), `Quote it for the shell: '{"name":"value"}'`);
  }
}

/** A number, a boolean or null: an input on its own. */
const SCALAR = /^\s*(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null)\s*$/;

export interface GivenInput {
  readonly input?: readonly string[] | undefined;
  readonly inputFile?: string | undefined;
}

/**
 * The given input: a file (`-` is standard input) overridden by single values; or one JSON value. `undefined` when
 * nothing was given. `asText`: single values stay texts, for a caller that knows their types.
 */
export async function writtenInput(given: GivenInput, host: Host, asText = false): Promise<unknown> {
  const { input = [], inputFile } = given;
  const base = inputFile === undefined ? undefined : await readInputFile(inputFile, host);
  const [first, ...others] = input;
  if (first !== undefined && others.length === 0 && base === undefined && /^\s*[[{"]/.test(first))
    return readJson(first, "--input");
  if (first !== undefined && others.length === 0 && base === undefined && SCALAR.test(first))
    return readJson(first, "--input");
  if (first === undefined) return base;
  if (base !== undefined && (typeof base !== "object" || base === null || Array.isArray(base)))
    throw usage(
      "--input can't be combined with this input file",
      "The file doesn't contain an object.",
      "Use only one of the two.",
    );
  const pairs = input.map((text) => splitPair(text, "--input"));
  return {
    ...(base as object | undefined),
    ...Object.fromEntries(pairs.map(([key, value]) => [key, asText ? value : readLoose(value)])),
  };
}

async function readInputFile(path: string, host: Host): Promise<unknown> {
  const text = path === "-" ? await host.readInput() : readText(resolve(host.cwd, path));
  const isYaml = [".yaml", ".yml"].includes(extname(path));
  return isYaml ? (await import("yaml")).parse(text) : readJson(text, path);
}

/** The text of a file named on the command line. */
export function readText(file: string): string {
  if (!existsSync(file)) throw noFile(file);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const fix = "Check the path; - reads standard input.";
    throw new HoldfastError("HF-4304", {
      file,
      problem: messageOf(error),
      why: "It was given as the input.",
      fix,
    });
  }
}
