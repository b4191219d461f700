import { HoldfastError } from "../../core/errors.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import { Answers } from "./answers.ts";
import { BeatThread } from "./beats.ts";
import { bury, lasts } from "./burials.ts";
import {
  ACTIVITIES,
  type AppendAnswer,
  type Burial,
  type Offer,
  ownQueue,
  type RunSettings,
  SINK,
} from "./contract.ts";
import { Holds, type Lifeline } from "./holds.ts";
import { Life } from "./life.ts";
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
  // More would wait here while the server counts their time.
  maxConcurrentWorkflowTaskExecutions: 10,
  maxConcurrentActivityTaskPolls: 4,
  maxConcurrentActivityTaskExecutions: 1_000,
  shutdownGraceTime: 0,
} as const;

interface Working {
  readonly beats: BeatThread;
  readonly life: Life;
  readonly native: Connection;
  readonly workers: readonly TemporalWorkerHandle[];
}

/** What a call of the sandbox comes with. */
interface Told {
  readonly workflowId: string;
}

const nothing = (): void => undefined;

/** A process's part in Temporal: a store for its engine, and, once it begins to work, the workers behind it. */
export class TemporalHost {
  readonly store: TemporalStore;
  readonly #link: Link;
  readonly #options: HostOptions;
  readonly #queue: string;
  readonly #holds: Holds;
  readonly #answers = new Answers();
  #hasCode: (workflow: string) => boolean = () => false;
  #working: Working | undefined;
  /** Resolves when its workers have stopped; rejects when Temporal has ended them. */
  stopped: Promise<void> = Promise.resolve();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#link = new Link(options);
    this.#queue = ownQueue(this.#link.taskQueue, `${options.owner}.${crypto.randomUUID().slice(0, 8)}`);
    this.#holds = new Holds(this.#lifeline(), (workflow) => this.#hasCode(workflow));
    const { settings } = options;
    this.store = new TemporalStore({
      link: this.#link,
      settings,
      holds: this.#holds,
      answers: this.#answers,
      isWorking: () => this.#working !== undefined,
      stop: () => this.#stop(),
    });
  }

  /** That of this process, which begins with its work. */
  #lifeline(): Lifeline {
    const life = (): Life => {
      if (!this.#working) throw new HoldfastError("HF-3012");
      return this.#working.life;
    };
    return {
      join: (runId) => life().join(runId),
      leave: (runId) => this.#working?.life.leave(runId),
      giveUp: (runId, token) => this.#working?.life.giveUp(runId, token),
      beat: (taskToken) => this.#working?.life.beat(taskToken),
      quiet: (taskToken) => this.#working?.life.quiet(taskToken),
    };
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
    const { heartbeatMs } = settings;
    const beats = new BeatThread(this.#link, { heartbeatMs, blockedMs });
    const life = new Life({ link: this.#link, beats, queue: this.#queue, heartbeatMs, logger });
    const workers = await this.#workers(native, life);
    await beats.ready;
    this.#working = { beats, life, native, workers };
    this.stopped = Promise.all(workers.map((one) => one.run())).then(nothing);
    this.stopped.catch(nothing);
    await life.begin();
  }

  /** One worker for everybody's queue, with the sandbox, and one for the life of this process. */
  async #workers(native: Connection, life: Life): Promise<readonly TemporalWorkerHandle[]> {
    const { Worker } = await loadWorker();
    const { namespace, taskQueue, dataConverter } = this.#link;
    const { owner: identity, bundle, worker } = this.#options;
    const common = { connection: native, namespace, ...dataConverter, identity };
    const activities = await this.#shared();
    const workflowBundle = await bundle();
    const sinks = { [SINK]: this.#sink() };
    return Promise.all([
      Worker.create({ ...common, ...TUNED, ...worker, taskQueue, activities, workflowBundle, sinks }),
      Worker.create({ ...common, ...TUNED, taskQueue: this.#queue, activities: await own(life) }),
    ]);
  }

  #sink(): object {
    const answered = ({ workflowId }: Told, number: string, answer: AppendAnswer): void =>
      this.#answers.told(workflowId, number, answer);
    const here = ({ workflowId }: Told): void => this.#answers.here(workflowId);
    return {
      answered: { fn: answered, callDuringReplay: false },
      here: { fn: here, callDuringReplay: false },
    };
  }

  /** What any worker does. */
  async #shared(): Promise<Record<string, (argument: never) => Promise<unknown>>> {
    const { Context, CompleteAsyncError } = await loadActivity();
    return {
      [ACTIVITIES.offer]: async (offer: Offer) => {
        const end = await this.#holds.take(offer, Context.current().info.taskToken);
        if (end === "claimed") throw new CompleteAsyncError();
        return end;
      },
      [ACTIVITIES.bury]: (burial: Burial) => bury(this.#link, burial),
      [ACTIVITIES.probe]: (name: string) => lasts(this.#link, name),
    };
  }

  /** Called when the store is closed: the engine has released its runs by then, while the sandbox still answered. */
  async #stop(): Promise<void> {
    this.#holds.drop();
    const working = this.#working;
    if (working) {
      await working.life.stop();
      for (const worker of working.workers) if (worker.getState() === "RUNNING") worker.shutdown();
      await this.stopped.catch(nothing);
      await working.beats.stop();
    }
    this.#working = undefined;
    await this.#link.close();
    await working?.native.close();
  }
}

/** What only this process does: from here on the thread keeps its life going. */
async function own(life: Life): Promise<Record<string, (name: string) => Promise<unknown>>> {
  const { Context, CompleteAsyncError } = await loadActivity();
  return {
    [ACTIVITIES.live]: async (name) => {
      life.live(name, Context.current().info.taskToken);
      throw new CompleteAsyncError();
    },
  };
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
