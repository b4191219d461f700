import { fileURLToPath } from "node:url";
import { checkNumber } from "../../core/check-options.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { EngineOptions } from "../../core/engine/options.ts";
import { fitting, splitOptions, TemporalEngine, type TemporalTuning } from "./engine.ts";
import { TemporalHost } from "./host.ts";
import type { TemporalAddress } from "./link.ts";
import { loadWorker } from "./sdk.ts";

/** Options of `temporalWorker`. */
export interface TemporalWorkerOptions
  extends TemporalAddress,
    TemporalTuning,
    Omit<EngineOptions, "store" | "saving" | "execute"> {
  /** How long the event loop may be blocked before this process counts as dead. Default 5 min. */
  readonly blockedMs?: number;
  /** The sandbox's code, made by `bundleTemporalSandbox`, as a file. Default: bundled when the worker starts. */
  readonly bundle?: string;
  /** More for Temporal's `Worker.create`. */
  readonly worker?: Readonly<Record<string, unknown>>;
}

/** A running worker. */
export interface TemporalWorker {
  /** The engine that advances the runs; it may also start and control them. */
  readonly engine: Engine;
  /** Resolves when the worker has stopped; rejects when Temporal has ended it. */
  readonly stopped: Promise<void>;
  /** Takes nothing new, lets calls in progress finish for up to `drainMs` (default 10 s), and leaves. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** The file of the sandbox: its source here, and its build in the package. */
const sandboxFile = (): string => {
  const name = import.meta.url.endsWith(".ts") ? "./sandbox.ts" : "./sandbox.js";
  return fileURLToPath(new URL(name, import.meta.url));
};

const nothing = (): void => undefined;
const QUIET = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

/**
 * Bundles the code that runs in Temporal's sandbox: Holdfast's own, the same for all workflows.
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { bundleTemporalSandbox } from "holdfast/adapters/temporal";
 *
 * export const build = async () => writeFile("sandbox-bundle.js", await bundleTemporalSandbox());
 * ```
 */
export async function bundleTemporalSandbox(): Promise<string> {
  const { bundleWorkflowCode } = await loadWorker();
  const { code } = await bundleWorkflowCode({ workflowsPath: sandboxFile(), logger: QUIET });
  return code;
}

/** A host with these options, for whoever makes the engine: the command line does. */
export function temporalHost(options: Omit<TemporalWorkerOptions, "workflows">): TemporalHost {
  const { settings } = splitOptions(options);
  const { blockedMs = 300_000, bundle: codePath } = options;
  checkNumber("blockedMs", blockedMs);
  const owner = options.owner ?? `worker-${crypto.randomUUID().slice(0, 8)}`;
  const bundle = async () =>
    codePath === undefined ? { code: await bundleTemporalSandbox() } : { codePath };
  const { address, namespace, taskQueue, connect, dataConverter, logger, worker } = options;
  const place = { address, namespace, taskQueue, connect, dataConverter };
  const given = Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
  return new TemporalHost({ ...given, settings, owner, blockedMs, bundle, logger, worker });
}

/**
 * Advances the runs of these workflows that are in Temporal, until it is closed. The user's functions run in this
 * process, in plain Node; only Holdfast's own code runs in Temporal's sandbox.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 * import { temporalWorker } from "holdfast/adapters/temporal";
 *
 * const greet = workflow("greet", async (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
 *
 * export async function main() {
 *   const worker = await temporalWorker({ address: "127.0.0.1:7233", workflows: [greet] });
 *   process.once("SIGTERM", () => void worker.close());
 *   await worker.stopped;
 * }
 * ```
 */
export async function temporalWorker(options: TemporalWorkerOptions): Promise<TemporalWorker> {
  const { engine: given } = splitOptions(options, ["blockedMs", "bundle", "worker"]);
  const owner = options.owner ?? `worker-${crypto.randomUUID().slice(0, 8)}`;
  const host = temporalHost({ ...options, owner });
  const engine = new TemporalEngine({ ...fitting(given), owner, store: host.store });
  await host.begin((workflow) => engine.workflows.has(workflow));
  await engine.work();
  return { engine, stopped: host.stopped, close: (how) => engine.close(how) };
}
