import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { pack } from "../../scripts/play-readme.mjs";
import { ROOT } from "../source-tree.ts";

/** The package as built; HOLDFAST_PACKAGE names another copy of it. */
export const PACKAGE = process.env["HOLDFAST_PACKAGE"] ?? ROOT;

/** The tarball of a package, packed by the first test file that asks for it. */
export async function packed(from = PACKAGE): Promise<string> {
  const folder = path.join(inject("packedIn"), path.basename(from));
  const [made] = existsSync(folder) ? readdirSync(folder) : [];
  if (made !== undefined) return path.join(folder, made);
  mkdirSync(folder);
  return pack(folder, from);
}

/**
 * A project in which only the tarballs are installed, without any peer: the package, and the one behind `npm create
 * holdfast`. Made by the first test file that asks for it, and changed by none.
 */
export async function installed(): Promise<string> {
  const project = path.join(inject("packedIn"), "project");
  if (existsSync(project)) return project;
  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "somebodys", private: true }));
  const flags = ["--no-audit", "--no-fund", "--omit=peer", "--omit=dev", "--prefer-offline"];
  const tarballs = [await packed(), await packed(path.join(ROOT, "create-holdfast"))];
  await promisify(execFile)("npm", ["install", ...flags, ...tarballs], { cwd: project });
  return project;
}
