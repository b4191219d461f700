import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { OWN_CODE } from "../../testing/package-files.ts";

const NOT_THEIRS = [/^node:/, /[\\/]node_modules[\\/]/];

/** `at work (file:///p/flow.ts:12:5)`, `at file:///p/flow.ts?tsx-namespace=1:12:5`, and `/p/flow.ts:3` above a syntax error. */
const FRAME = /^\s*at (?:.*\()?(.+?):(\d+):(\d+)\)?$|^(\/.+|file:.+):(\d+)$/;

/** Where in the user's code an error was thrown: `flow.ts:12:5`, relative to the current folder. */
export function placeInCode(error: unknown, cwd = process.cwd()): string | undefined {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack : "";
  for (const line of stack.split("\n")) {
    const [, path = "", at = "", column = "", above, aboveAt] = FRAME.exec(line) ?? [];
    const file = pathOf(above ?? path);
    if (file === undefined || file.startsWith(OWN_CODE) || NOT_THEIRS.some((one) => one.test(file))) continue;
    const near = relative(cwd, file);
    const shown = near.startsWith("..") ? file : near;
    return aboveAt === undefined ? `${shown}:${at}:${column}` : `${shown}:${aboveAt}`;
  }
  return undefined;
}

function pathOf(written: string): string | undefined {
  const path = written.replace(/\?.*$/, "");
  if (path.startsWith("node:")) return path;
  try {
    return path.startsWith("file:") ? fileURLToPath(path) : path.includes(sep) ? path : undefined;
  } catch {
    return undefined;
  }
}
