import { fileURLToPath } from "node:url";
import { checkKeys, checkNumber, checkText, keysOf } from "../../../core/check-options.ts";
import type { Workflow } from "../../../core/context.ts";
import { codecOptions, FAILURES, type TemporalCodecOptions } from "../codec.ts";
import { reached } from "../link.ts";
import { activitiesOf } from "./activities.ts";
import { loadActivity, loadWorker, type WorkerHandle } from "./sdk.ts";

/** Where interpreted runs are, and how their values are sealed. The same for workers and clients. */
export interface InterpreterPlace {
  /** Host and port of the server. Default `127.0.0.1:7233`. */
  readonly address?: string;
  /** Default `default`. */
  readonly namespace?: string;
  /** Default `holdfast-interpreter`. */
  readonly taskQueue?: string;
  /** Seals every value in the history; see {@link TemporalCodecOptions}. Default: values are readable. */
  readonly codec?: TemporalCodecOptions;
  /** Settings of the connection as Temporal's SDK takes them: `tls`, `apiKey`, `metadata`. */
  readonly connection?: Readonly<Record<string, unknown>>;
}

/** Options of `interpreterWorker`. */
export interface InterpreterWorkerOptions extends InterpreterPlace {
  readonly workflows: readonly Workflow<never, unknown>[];
  /** The bundle of the sandbox from `bundleInterpreter`, to make it once for many workers. */
  readonly bundle?: string;
  /** The longest silence before a call counts as interrupted; must be that of the client. Default 5 s. */
  readonly heartbeatMs?: number;
  /** Further options of Temporal's worker: pollers, concurrency, `workerDeploymentOptions`. */
  readonly worker?: Readonly<Record<string, unknown>>;
}

const OPTIONS = keysOf<InterpreterWorkerOptions>({
  address: true,
  namespace: true,
  taskQueue: true,
  codec: true,
  connection: true,
  workflows: true,
  bundle: true,
  heartbeatMs: true,
  worker: true,
});

export const PLACE = {
  address: "127.0.0.1:7233",
  namespace: "default",
  taskQueue: "holdfast-interpreter",
} as const;

/**
 * The converter's options for a place. Messages of failures are payloads with or without a codec, because the bundle of
 * the sandbox is the same.
 */
export const dataConverter = (codec: TemporalCodecOptions | undefined): object =>
  codec ? codecOptions(codec) : { failureConverterPath: FAILURES };

/** A worker for interpreted runs. */
export interface InterpreterWorker {
  /** Works until `close`. */
  readonly done: Promise<void>;
  /** Takes nothing new, lets calls under way end, and disconnects. */
  close(): Promise<void>;
}

/**
 * Starts a worker that advances interpreted runs and makes their calls: models, tools, scripts and servers of these
 * workflows.
 *
 * @example
 * ```ts
 * import { interpreterWorker } from "holdfast/adapters/temporal/interpreter";
 * import { loadWorkflow } from "holdfast/yaml";
 *
 * const { workflow } = await loadWorkflow("research.yaml", { providers: {} });
 * const worker = await interpreterWorker({ address: "127.0.0.1:7233", workflows: [workflow] });
 * process.once("SIGTERM", () => void worker.close());
 * await worker.done;
 * ```
 */
export async function interpreterWorker(options: InterpreterWorkerOptions): Promise<InterpreterWorker> {
  checkKeys(options, OPTIONS);
  const { address, namespace, taskQueue, codec, workflows, heartbeatMs = 5_000 } = { ...PLACE, ...options };
  for (const [name, value] of Object.entries({ address, namespace, taskQueue })) checkText(name, value, 1);
  checkNumber("heartbeatMs", heartbeatMs, { least: 300 });
  const [{ Worker, NativeConnection }, activity] = await Promise.all([loadWorker(), loadActivity()]);
  const activities = activitiesOf(workflows, activity, heartbeatMs);
  const code = options.bundle ?? (await bundleInterpreter());
  const connection = await reached(address, NativeConnection.connect({ address, ...options.connection }));
  const worker: WorkerHandle = await Worker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    workflowBundle: { code },
    dataConverter: dataConverter(codec),
    // The default keeps an interrupted call waiting for minutes.
    maxHeartbeatThrottleInterval: heartbeatMs / 3,
    defaultHeartbeatThrottleInterval: heartbeatMs / 3,
    ...options.worker,
  });
  const done = untilClosed(worker, connection);
  return {
    done,
    async close() {
      if (worker.getState() === "RUNNING") worker.shutdown();
      await done;
    },
  };
}

async function untilClosed(worker: WorkerHandle, connection: { close(): Promise<void> }): Promise<void> {
  try {
    await worker.run();
  } finally {
    await connection.close();
  }
}

/** Built into one file with the package. */
const SANDBOX = import.meta.url.endsWith(".ts") ? "./sandbox.ts" : "./sandbox.js";

/**
 * The code of the sandbox, as a text for `interpreterWorker`. Takes seconds, so a service with many workers makes it
 * once.
 *
 * @example
 * ```ts
 * import { bundleInterpreter } from "holdfast/adapters/temporal/interpreter";
 *
 * export const bundle = await bundleInterpreter();
 * ```
 */
export async function bundleInterpreter(
  sandbox = fileURLToPath(new URL(SANDBOX, import.meta.url)),
): Promise<string> {
  const { bundleWorkflowCode } = await loadWorker();
  const { code } = await bundleWorkflowCode({
    workflowsPath: sandbox,
    failureConverterPath: FAILURES,
    logger: QUIET,
  });
  return code;
}

const nothing = (): void => undefined;
const QUIET = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
