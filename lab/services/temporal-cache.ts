import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { output } from "./service.ts";

/** The newest version that `go install` takes; the server inside is 1.29.1. */
const SERVER = "v1.5.1";

const ROOT = path.resolve(fileURLToPath(import.meta.url), "../../..");
const MANIFEST = path.join(ROOT, "lab/temporal/package.json");

const CACHE = process.env["HOLDFAST_CACHE"] ?? path.join(homedir(), ".cache/holdfast");

/** The program of Temporal's development server, whether or not it is there. */
export const temporalProgram = (): string => path.join(CACHE, `temporal-${SERVER}`, "temporal");

/**
 * Builds the server from the Go module proxy, once for this machine: about six minutes of CPU time. Returns the reason
 * why it can't be had.
 */
export async function buildTemporal(say: (text: string) => void): Promise<string | undefined> {
  const program = temporalProgram();
  if (existsSync(program)) return undefined;
  const go = (await output("go", ["version"])) === null ? "/usr/local/go/bin/go" : "go";
  if ((await output(go, ["version"])) === null) return "Go is not installed, which builds the server";
  const folder = path.dirname(program);
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  say(`building Temporal ${SERVER} into ${folder}; this takes minutes, once`);
  try {
    const module = `github.com/temporalio/cli/cmd/temporal@${SERVER}`;
    const env = { ...process.env, GOBIN: making, GOFLAGS: "-p=2 -buildvcs=false" };
    await promisify(execFile)(go, ["install", "-ldflags=-s -w", module], { env, maxBuffer: 100_000_000 });
    if (!existsSync(program)) renameSync(making, folder);
    return undefined;
  } catch (error) {
    return `its build failed: ${String((error as { stderr?: unknown }).stderr ?? error).slice(-500)}`;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** Installs the SDK outside the tree and links it in; returns the reason why it can't be had. */
export async function installTemporalSdk(say: (text: string) => void): Promise<string | undefined> {
  const { dependencies } = JSON.parse(readFileSync(MANIFEST, "utf8")) as {
    dependencies: Record<string, string>;
  };
  const folder = path.join(CACHE, `temporal-sdk-${dependencies["@temporalio/worker"]}`);
  const scope = path.join(folder, "node_modules/@temporalio");
  if (!existsSync(path.join(scope, "worker/package.json"))) {
    mkdirSync(folder, { recursive: true });
    copyFileSync(MANIFEST, path.join(folder, "package.json"));
    say(`installing Temporal's SDK into ${folder}`);
    const done = await output("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder]);
    if (done === null) return "npm could not install Temporal's SDK";
  }
  const link = path.join(ROOT, "node_modules/@temporalio");
  if (!existsSync(path.join(link, "worker/package.json"))) {
    rmSync(link, { recursive: true, force: true });
    symlinkSync(scope, link);
  }
  return undefined;
}

/** The file for the sandbox's bundle: made once by whoever needs it first. */
export const sandboxBundle = (name: string): string => path.join(CACHE, `sandbox-${name}.js`);
