import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { inject } from "vitest";
import { pack } from "../../scripts/play-readme.mjs";
import { ROOT } from "../source-tree.ts";

/** The package as built; HOLDFAST_PACKAGE names another copy of it. */
export const PACKAGE = process.env["HOLDFAST_PACKAGE"] ?? ROOT;

const MADE = ".made";
const LOOK_MS = 100;

/** Makes a folder that test files share: the first that asks for it makes it, and others wait until it is complete. */
async function once(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = path.join(inject("packedIn"), name);
  const made = path.join(folder, MADE);
  if (claimed(folder)) {
    await make(folder).catch((error: unknown) => writeFileSync(made, `failed: ${String(error)}`));
    if (!existsSync(made)) writeFileSync(made, "");
  }
  while (!existsSync(made)) await pause(LOOK_MS);
  const problem = readFileSync(made, "utf8");
  if (problem !== "") throw new Error(`${name}: ${problem}`);
  return folder;
}

/** True for the one caller that made the folder. */
function claimed(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** The tarball of a package. */
export async function packed(from = PACKAGE): Promise<string> {
  const folder = await once(path.basename(from), async (target) => void (await pack(target, from)));
  const [tarball = ""] = readdirSync(folder).filter((name) => name !== MADE);
  return path.join(folder, tarball);
}

/**
 * A project in which only the tarballs are installed, without any peer: the package, and the one behind `npm create
 * holdfast`. No test changes it.
 */
export const installed = (): Promise<string> =>
  once("project", async (project) => {
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "somebodys", private: true }));
    const flags = ["--no-audit", "--no-fund", "--omit=peer", "--omit=dev", "--prefer-offline"];
    const tarballs = [await packed(), await packed(path.join(ROOT, "create-holdfast"))];
    await promisify(execFile)("npm", ["install", ...flags, ...tarballs], { cwd: project });
  });
