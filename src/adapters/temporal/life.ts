import { HoldfastError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import type { BeatThread, Hear } from "./beats.ts";
import { LOST, type Loss, TASK_MS, WORKER_WORKFLOW, type WorkerArguments, workerId } from "./contract.ts";
import type { Lifeline } from "./holds.ts";
import { isMissing, type Link } from "./link.ts";
import type { Payload } from "./sdk.ts";

/** How long a claim waits until Temporal knows of it. */
const JOIN_MS = 10_000;

/** The pause between two attempts to begin a life. */
const RETRY_MS = 500;

interface LifeParts {
  readonly link: Link;
  readonly beats: BeatThread;
  /** The task queue of this process alone. */
  readonly queue: string;
  readonly heartbeatMs: number;
  readonly logger: Logger;
}

interface Waiting {
  readonly version: number;
  readonly resolve: (life: string) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The life of this process: one activity whose heartbeat names all runs that it has. A claim is sent only when its run
 * is named, so that whoever buries this process leaves none behind.
 */
export class Life implements Lifeline {
  readonly #parts: LifeParts;
  readonly #runs = new Set<string>();
  /** Counts changes of the list; those that were sent to the thread, and those that the server knows. */
  #version = 0;
  #sent = -1;
  #known = -1;
  #isSending = false;
  readonly #waiting = new Set<Waiting>();
  readonly #telling = new Set<Promise<void>>();
  #now: { readonly name: string; readonly taskToken: Uint8Array } | undefined;
  #isStopped = false;

  constructor(parts: LifeParts) {
    this.#parts = parts;
  }

  /** Asks Temporal for a life, which begins with the activity `live`. */
  async begin(): Promise<void> {
    const { link, queue, heartbeatMs } = this.#parts;
    const id = workerId(queue);
    await link.ask(id, (client) =>
      client.workflow.start(WORKER_WORKFLOW, {
        workflowId: id,
        taskQueue: link.taskQueue,
        args: [{ queue, heartbeatMs } satisfies WorkerArguments],
        workflowTaskTimeout: TASK_MS,
        workflowIdReusePolicy: "ALLOW_DUPLICATE",
        workflowIdConflictPolicy: "USE_EXISTING",
      }),
    );
  }

  /** The activity `live`, which goes on without its function. */
  live(name: string, taskToken: Uint8Array): void {
    this.#now = { name, taskToken };
    const hear: Hear = (what) => {
      if (this.#now?.taskToken !== taskToken) return;
      if (what === "gone") this.#gone();
      else this.#shown(what);
    };
    this.#parts.beats.begin(taskToken, hear);
    this.#detach(this.#free());
    this.#detach(this.#send());
  }

  /** Whoever buries this process must not wait for it: the next task of the workflow may go to any worker. */
  async #free(): Promise<void> {
    const { link, queue } = this.#parts;
    await freed(link, workerId(queue));
  }

  /** Temporal has declared this life over, while nobody else knows. */
  #gone(): void {
    this.#now = undefined;
    this.#sent = -1;
    this.#known = -1;
    this.#detach(this.#again());
  }

  async #again(): Promise<void> {
    while (!this.#isStopped && !this.#now) {
      try {
        return await this.begin();
      } catch (error) {
        this.#parts.logger.warn("Temporal took this worker for dead, and can't be reached now", {
          error: String(error),
        });
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
  }

  /** The server knows the list as it was in this version. */
  #shown(version: number): void {
    this.#known = Math.max(this.#known, version);
    for (const one of this.#waiting)
      if (one.version <= this.#known && this.#now) {
        this.#waiting.delete(one);
        one.resolve(this.#now.name);
      }
  }

  async join(runId: string): Promise<string> {
    if (!this.#runs.has(runId)) this.#version++;
    this.#runs.add(runId);
    if (this.#now && this.#known >= this.#version) return this.#now.name;
    let timer: NodeJS.Timeout | undefined;
    const joined = new Promise<string>((resolve, reject) => {
      const one = { version: this.#version, resolve, reject };
      this.#waiting.add(one);
      timer = setTimeout(() => {
        this.#waiting.delete(one);
        reject(new HoldfastError("HF-7003", { run: runId, queue: this.#parts.link.taskQueue }));
      }, JOIN_MS);
    });
    this.#detach(this.#send());
    try {
      return await joined;
    } finally {
      clearTimeout(timer);
    }
  }

  leave(runId: string): void {
    // The list gets shorter with the next that joins: a run that is told of a life that isn't its own ignores it.
    this.#runs.delete(runId);
  }

  giveUp(runId: string, token: string): void {
    this.#detach(signalled(this.#parts.link, runId, { token }));
  }

  beat(taskToken: Uint8Array): void {
    this.#parts.beats.begin(taskToken);
  }

  quiet(taskToken: Uint8Array): void {
    this.#parts.beats.quiet(taskToken);
  }

  /** Sends the newest list with the next heartbeat. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#now && this.#sent < this.#version) {
        const { taskToken } = this.#now;
        const version = this.#version;
        const payload = await this.#payload([...this.#runs]);
        if (this.#now?.taskToken !== taskToken) continue;
        this.#parts.beats.show(taskToken, payload, version);
        this.#sent = version;
      }
    } catch (error) {
      for (const one of this.#waiting) one.reject(error);
      this.#waiting.clear();
    } finally {
      this.#isSending = false;
    }
  }

  /** Sealed like every other value, where values are sealed. */
  async #payload(runs: readonly string[]): Promise<Payload> {
    const { link, queue } = this.#parts;
    const { client } = await link.raw();
    const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
    let payloads = [payloadConverter.toPayload(runs)];
    const place = { namespace: link.namespace, workflowId: workerId(queue) };
    for (const codec of payloadCodecs) payloads = await codec.encode(payloads, place);
    return payloads[0] as Payload;
  }

  #detach(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        this.#parts.logger.warn("a worker's life on Temporal could not be kept", { error: String(error) });
      })
      .finally(() => this.#telling.delete(done));
    this.#telling.add(done);
  }

  /** Ends it, so that nobody has to find out. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#telling);
    const { link, beats, queue } = this.#parts;
    const now = this.#now;
    this.#now = undefined;
    if (!now) return;
    beats.quiet(now.taskToken);
    try {
      await link.complete(workerId(queue), now.taskToken, null);
    } catch {
      // Whoever finds it silent buries it.
    }
  }
}

/** Lets the next task of a workflow go to any worker, and not first to the one that had the last. */
export async function freed(link: Link, workflowId: string): Promise<void> {
  const { namespace } = link;
  await link.ask(workflowId, ({ workflowService }) =>
    workflowService.resetStickyTaskQueue({ namespace, execution: { workflowId } }),
  );
}

/** Tells a run that a claim of it has ended; one that is over needs no word. */
export async function signalled(link: Link, runId: string, loss: Loss): Promise<void> {
  try {
    await link.ask(runId, (client) => client.workflow.getHandle(runId).signal(LOST, loss));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
