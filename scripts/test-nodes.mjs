/**
 * Runs the suite on every supported Node major: `node scripts/test-nodes.mjs [22 24 …] [vitest options]`.
 * Without majors: the Node that runs this script, then all of VERSIONS. Binaries are kept in .nodes/<major>.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** @type {Record<string, string>} */
const VERSIONS = { 22: "22.23.3", 24: "24.21.0", 26: "26.10.0" };
const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const WINDOWS = process.platform === "win32";
const CURRENT = process.versions.node.split(".")[0] ?? "";
const SUMMARY = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m;

/** @param {string[]} args */
function parseArgs(args) {
  const majors = args.filter((arg, i) => /^\d+$/.test(arg) && !args[i - 1]?.startsWith("--"));
  const vitestArgs = args.filter((arg) => !majors.includes(arg));
  return { majors: majors.length > 0 ? majors : [CURRENT, ...Object.keys(VERSIONS)], vitestArgs };
}

/** @param {string[]} args */
function npm(args) {
  const { status } = spawnSync("npm", args, { cwd: ROOT, stdio: "inherit", shell: WINDOWS });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed`);
}

/**
 * The binary of a Node major, installed on first use. The platform package needs no install script, and
 * stays out of the root node_modules, where it would replace the `node` of every npm script.
 *
 * @param {string} major
 */
function nodeBinary(major) {
  if (major === CURRENT) return process.execPath;
  const version = VERSIONS[major];
  if (version === undefined) throw new Error(`no version listed for Node ${major}: add it to VERSIONS`);
  const name = `node-${WINDOWS ? "win" : process.platform}-${process.arch}`;
  const prefix = path.join(ROOT, ".nodes", major);
  const binary = path.join(prefix, "node_modules", name, "bin", WINDOWS ? "node.exe" : "node");
  const installed =
    existsSync(binary) && spawnSync(binary, ["--version"], { encoding: "utf8" }).stdout.trim();
  if (installed !== `v${version}`) {
    npm(["install", "--no-save", "--no-audit", "--no-fund", "--prefix", prefix, `${name}@${version}`]);
  }
  return binary;
}

/**
 * @param {string} binary
 * @param {string[]} vitestArgs
 * @returns {Promise<{ ok: boolean; summary: string }>}
 */
function runSuite(binary, vitestArgs) {
  const env = {
    ...process.env,
    PATH: `${path.dirname(binary)}${path.delimiter}${process.env["PATH"] ?? ""}`,
  };
  const vitest = path.join("node_modules", "vitest", "vitest.mjs");
  const child = spawn(binary, [vitest, "run", ...vitestArgs], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
    process.stdout.write(chunk);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const summary = SUMMARY.exec(output)?.[0];
      resolve({
        ok: code === 0 && summary !== undefined,
        summary: summary ?? `no summary, exit code ${code}`,
      });
    });
  });
}

const { majors, vitestArgs } = parseArgs(process.argv.slice(2));
npm(["run", "build", "--silent"]);
const rows = [];
for (const major of majors) {
  const binary = nodeBinary(major);
  const version = spawnSync(binary, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`\n=== Node ${version}`);
  rows.push({ version, ...(await runSuite(binary, vitestArgs)) });
}

console.log("\nNode        result  tests");
for (const { version, ok, summary } of rows) {
  console.log(`${version.padEnd(12)}${(ok ? "pass" : "FAIL").padEnd(8)}${summary}`);
}
process.exitCode = rows.every((row) => row.ok) ? 0 : 1;
