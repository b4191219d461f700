import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { BeatThread } from "./beats.ts";
import { HOLD, type HoldOffer, ownQueue, type RunSettings } from "./contract.ts";
import { type Beats, Holds } from "./holds.ts";
import { Link, reached, type TemporalAddress } from "./link.ts";
import {
  type Connection,
  type LogEntry,
  loadActivity,
  loadWorker,
  type TemporalWorkerHandle,
} from "./sdk.ts";
import { TemporalStore } from "./store.ts";

export interface HostOptions extends TemporalAddress {
  readonly settings: RunSettings;
  /** The name of this process in claims and on Temporal's pages. */
  readonly owner: string;
  readonly blockedMs: number;
  readonly logger?: Logger | undefined;
  /** The code of the sandbox. */
  readonly bundle: () => Promise<{ readonly code: string } | { readonly codePath: string }>;
  /** More for Temporal's `Worker.create`. */
  readonly worker?: Readonly<Record<string, unknown>> | undefined;
}

/** Tuned so that a run whose worker died is soon advanced again; docs/temporal.md has the figures. */
const TUNED = {
  stickyQueueScheduleToStartTimeout: 500,
  maxConcurrentWorkflowTaskPolls: 10,
  maxConcurrentActivityTaskPolls: 4,
  maxConcurrentActivityTaskExecutions: 1_000,
  shutdownGraceTime: 0,
} as const;

interface Working {
  readonly beats: BeatThread;
  readonly native: Connection;
  readonly workers: readonly TemporalWorkerHandle[];
}

const nothing = (): void => undefined;

/** A process's part in Temporal: a store for its engine, and, once it begins to work, the workers behind it. */
export class TemporalHost {
  readonly store: Store;
  readonly #link: Link;
  readonly #options: HostOptions;
  readonly #queue: string;
  readonly #holds: Holds;
  readonly #temporal: TemporalStore;
  #hasCode: (workflow: string) => boolean = () => false;
  #working: Working | undefined;
  /** Resolves when its workers have stopped; rejects when Temporal has ended them. */
  stopped: Promise<void> = Promise.resolve();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#link = new Link(options);
    this.#queue = ownQueue(this.#link.taskQueue, `${options.owner}.${crypto.randomUUID().slice(0, 8)}`);
    const beats: Beats = {
      begin: (token) => this.#working?.beats.begin(token),
      end: (token, end) => this.#working?.beats.end(token, end),
    };
    this.#holds = new Holds(beats, (workflow) => this.#hasCode(workflow));
    const { settings } = options;
    const queue = (): string | undefined => (this.#working ? this.#queue : undefined);
    const stop = (): Promise<void> => this.#stop();
    this.#temporal = new TemporalStore({ link: this.#link, settings, holds: this.#holds, queue, stop });
    this.store = this.#temporal;
  }

  /** Takes runs from now on, of workflows that there is code for. */
  async begin(hasCode: (workflow: string) => boolean): Promise<void> {
    if (this.#working) return;
    this.#hasCode = hasCode;
    const { settings, blockedMs, logger = silentLogger } = this.#options;
    const { NativeConnection } = await loadWorker();
    await quieten(logger);
    await this.#link.raw();
    const { address, connectOptions } = this.#link;
    const native = await reached(address, NativeConnection.connect(connectOptions));
    const workers = await this.#workers(native);
    const beats = new BeatThread(this.#link, { heartbeatMs: settings.heartbeatMs, blockedMs, logger });
    await beats.ready;
    this.#working = { beats, native, workers };
    this.stopped = Promise.all(workers.map((one) => one.run())).then(nothing);
    this.stopped.catch(nothing);
  }

  /** One worker for everybody's queue, with the sandbox, and one for the runs that this process already has. */
  async #workers(native: Connection): Promise<readonly TemporalWorkerHandle[]> {
    const { Worker } = await loadWorker();
    const { namespace, taskQueue, dataConverter } = this.#link;
    const { owner: identity, bundle, worker } = this.#options;
    const activities = { [HOLD]: await this.#activity() };
    const common = { connection: native, namespace, ...dataConverter, identity, activities };
    return Promise.all([
      Worker.create({ ...common, ...TUNED, ...worker, taskQueue, workflowBundle: await bundle() }),
      Worker.create({ ...common, ...TUNED, taskQueue: this.#queue }),
    ]);
  }

  async #activity(): Promise<(offer: HoldOffer) => Promise<unknown>> {
    const { Context, CompleteAsyncError } = await loadActivity();
    return async (offer) => {
      const end = await this.#holds.take(offer, Context.current().info.taskToken);
      // From here on the thread keeps it alive, and the end of the claim completes it.
      if (end === "claimed") throw new CompleteAsyncError();
      return end;
    };
  }

  /** Called when the store is closed: the engine has released its runs by then, while the sandbox still answered. */
  async #stop(): Promise<void> {
    this.#holds.drop();
    const working = this.#working;
    if (working) {
      for (const worker of working.workers) if (worker.getState() === "RUNNING") worker.shutdown();
      await this.stopped.catch(nothing);
      await working.beats.stop();
    }
    this.#working = undefined;
    await this.#link.close();
    await working?.native.close();
  }
}

/** Temporal's own log goes where ours goes. It reports every failed run, which is no problem of the worker. */
async function quieten(logger: Logger): Promise<void> {
  const { Runtime, DefaultLogger } = await loadWorker();
  const log = ({ level, message, meta }: LogEntry): void => {
    if (message === "Workflow failed" || message.startsWith("No workflows registered")) return;
    const { error = "" } = meta ?? {};
    const detail = { error: error instanceof Error ? error.message : JSON.stringify(error) };
    if (level === "ERROR") logger.error(`Temporal: ${message}`, detail);
    else logger.warn(`Temporal: ${message}`, detail);
  };
  try {
    Runtime.install({ logger: new DefaultLogger("WARN", log) });
  } catch {
    // Whoever uses Temporal here already has chosen a log.
  }
}
