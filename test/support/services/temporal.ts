import { existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startTemporal } from "../../../lab/services/temporal.ts";
import { buildTemporal, installTemporalSdk, sandboxBundle } from "../../../lab/services/temporal-cache.ts";
import { bundleTemporalSandbox } from "../../../src/adapters/temporal/index.ts";
import { missing, shared } from "./service.ts";

interface SharedTemporal {
  readonly address?: string;
  /** The file of the sandbox's bundle. */
  readonly bundle: string;
  readonly missing?: string;
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** Whether Temporal can be had here: the server's program and the SDK. Returns why not. */
async function problem(): Promise<string | undefined> {
  return (await installTemporalSdk(say)) ?? (await buildTemporal(say));
}

/**
 * A real Temporal server shared by all test files of this run, and one bundle of the sandbox. Without Go to build it,
 * `missing` says so.
 */
export async function sharedTemporal(): Promise<SharedTemporal> {
  const why = await problem();
  if (why !== undefined) return { missing: missing("Temporal", why), bundle: "" };
  return shared("temporal", async () => {
    const [server, bundle] = await Promise.all([startTemporal(), bundled()]);
    const { address, pid, folder } = server;
    return { address, bundle, pid, folder };
  });
}

const SOURCES = ["sandbox.ts", "worker-life.ts", "journal-state.ts", "contract.ts"].map((name) =>
  fileURLToPath(new URL(`../../../src/adapters/temporal/${name}`, import.meta.url)),
);

/** Bundling takes seconds, so it is done again only when the sources have changed. */
export async function bundled(): Promise<string> {
  const newest = Math.max(...SOURCES.map((file) => Math.round(statSync(file).mtimeMs)));
  const file = sandboxBundle(`${newest}-${path.dirname(SOURCES[0] as string).length}`);
  if (existsSync(file)) return file;
  writeFileSync(`${file}.${process.pid}`, await bundleTemporalSandbox());
  renameSync(`${file}.${process.pid}`, file);
  return file;
}
