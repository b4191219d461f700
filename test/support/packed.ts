import { existsSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
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
