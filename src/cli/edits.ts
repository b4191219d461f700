import { nearest } from "../core/nearest.ts";
import type { Edits } from "../core/types.ts";
import { usage } from "./globals.ts";
import { readJson, splitPair } from "./inputs.ts";

const KEYED: readonly string[] = ["memory", "steps", "loops", "config"];
const PARTS: readonly string[] = ["input", ...KEYED];

/**
 * `memory.customer="C-17"`, `steps.load=[1]`, `config.model="larger"`, `input={"batch":2}`: the key follows the first
 * dot.
 */
export function readEdits(given: readonly string[] | undefined): Edits | undefined {
  if (given === undefined) return undefined;
  const edits: Record<string, unknown> = {};
  for (const text of given) {
    const [path, json] = splitPair(text, "--set");
    const value = readJson(json, `The value of ${path}`);
    const dot = path.indexOf(".");
    const [part, key] = dot < 0 ? [path, undefined] : [path.slice(0, dot), path.slice(dot + 1)];
    if (!PARTS.includes(part))
      throw usage(
        `--set ${path} is unknown`,
        `A path begins with one of ${PARTS.join(", ")}.`,
        `--set ${nearest(part, PARTS)}…=<json>`,
      );
    if (part === "input" ? key !== undefined : !key)
      throw usage(
        `--set ${path} is incomplete`,
        part === "input" ? "The input can only be set as a whole." : "A key must follow.",
        part === "input" ? "--set input=<json>" : `--set ${part}.<key>=<json>`,
      );
    if (part === "input") edits["input"] = value;
    else edits[part] = { ...(edits[part] as object | undefined), [key as string]: value };
  }
  return edits;
}
