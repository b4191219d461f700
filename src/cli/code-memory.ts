import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The file of each version of a workflow, as seen by `migrate`. A run names the file it was started from, which after a
 * migration isn't the one it continues with.
 */
const FILE = join(".holdfast", "code.json");

const keyOf = (workflow: string, version: string): string => JSON.stringify([workflow, version]);

export function rememberCode(root: string, workflow: string, version: string, file: string): void {
  const path = join(root, FILE);
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...read(root), [keyOf(workflow, version)]: file }, null, 2)}\n`);
  renameSync(draft, path);
}

/** The file, if it still exists. */
export function knownCode(root: string, workflow: string, version: string): string | undefined {
  const file = read(root)[keyOf(workflow, version)];
  return typeof file === "string" && existsSync(resolve(root, file)) ? file : undefined;
}

function read(root: string): Readonly<Record<string, unknown>> {
  try {
    const known: unknown = JSON.parse(readFileSync(join(root, FILE), "utf8"));
    return typeof known === "object" && known !== null ? { ...known } : {};
  } catch {
    // Nothing was remembered, or the file was edited: the run's own file counts.
    return {};
  }
}
