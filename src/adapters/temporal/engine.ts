import { checkNumber, checkText, checkWhole, keysOf } from "../../core/check-options.ts";
import { Engine } from "../../core/engine/engine.ts";
import type { EngineOptions } from "../../core/engine/options.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Run } from "../../core/types.ts";
import type { RunSettings } from "./contract.ts";
import { Link, type TemporalAddress } from "./link.ts";
import { TemporalStore } from "./store.ts";

/** Settings of runs and claims on Temporal. The defaults are those that docs/temporal.md has figures for. */
export interface TemporalTuning {
  /** The longest silence of a worker before its runs are offered to others. Default 1 s. */
  readonly heartbeatMs?: number;
  /** The appends after which a run's execution is continued as new. Default 1,000, which is about 4,000 events of its history. */
  readonly appendsPerExecution?: number;
}

/** Options of `createTemporalEngine`: how to reach Temporal, and what every engine takes besides a store. */
export interface TemporalEngineOptions
  extends TemporalAddress,
    TemporalTuning,
    Omit<EngineOptions, "store" | "saving" | "execute"> {}

const OWN = keysOf<TemporalAddress & TemporalTuning>({
  address: true,
  namespace: true,
  taskQueue: true,
  connect: true,
  dataConverter: true,
  heartbeatMs: true,
  appendsPerExecution: true,
});

/** How long a result is waited for before somebody asks whether there is a worker at all. */
const FIRST_LOOK_MS = 10_000;

/** The options of Temporal, checked, and those of the engine. */
export function splitOptions<T extends TemporalAddress & TemporalTuning>(
  options: T,
  more: readonly string[] = [],
): { readonly settings: RunSettings; readonly engine: Omit<EngineOptions, "store"> } {
  const { heartbeatMs = 1_000, appendsPerExecution = 1_000 } = options;
  for (const name of ["address", "namespace", "taskQueue"] as const)
    if (options[name] !== undefined) checkText(name, options[name], 1);
  checkNumber("heartbeatMs", heartbeatMs);
  checkWhole("appendsPerExecution", appendsPerExecution, 1, 1_900);
  const own = new Set<string>([...OWN, ...more]);
  const engine = Object.fromEntries(Object.entries(options).filter(([name]) => !own.has(name)));
  return { settings: { heartbeatMs, appendsPerExecution }, engine };
}

/** Settings of the engine that fit a store behind Temporal. */
export const fitting = (engine: Omit<EngineOptions, "store">): Omit<EngineOptions, "store"> => ({
  // Temporal's own retention removes ended executions, with everything in them.
  retention: "forever",
  ...engine,
});

/**
 * An engine whose runs live in Temporal: the same front as `createEngine`, for the same workflows. It starts, watches
 * and controls runs; processes with `temporalWorker` advance them.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 * import { createTemporalEngine } from "holdfast/adapters/temporal";
 *
 * const greet = workflow("greet", async (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));
 *
 * export async function main() {
 *   const engine = createTemporalEngine({ address: "127.0.0.1:7233", workflows: [greet] });
 *   const run = await engine.start(greet, "Ada", { id: "greet-1" });
 *   console.log(await run.result());
 *   await engine.close();
 * }
 * ```
 */
export function createTemporalEngine(options: TemporalEngineOptions = {}): Engine {
  const { settings, engine } = splitOptions(options);
  const store = new TemporalStore({ link: new Link(options), settings });
  return new TemporalEngine({ ...fitting(engine), store, execute: false });
}

/** Closes its own connection when it is closed, and waits for workers as it waits for runs. */
export class TemporalEngine extends Engine {
  readonly #store: TemporalStore;
  readonly #logger: Logger;

  constructor(options: EngineOptions & { readonly store: TemporalStore }) {
    super(options);
    this.#store = options.store;
    this.#logger = options.logger ?? silentLogger;
  }

  override result<O = unknown>(runId: string): Promise<O> {
    return this.#patiently(runId, async () => {
      // The server answers when the run has ended, and isn't asked until then.
      await this.#store.untilEnded(runId);
      return super.result<O>(runId);
    });
  }

  override settled(runId: string): Promise<Run> {
    return this.#patiently(runId, () => super.settled(runId));
  }

  /** No worker answers: that says nothing of the run, which goes on when one is back. */
  async #patiently<T>(runId: string, wait: () => Promise<T>): Promise<T> {
    const stop = this.#askForWorkers(runId);
    try {
      for (;;) {
        try {
          return await wait();
        } catch (error) {
          if (!HoldfastError.is(error, "HF-7003")) throw error;
        }
      }
    } finally {
      stop();
    }
  }

  /** Says once that no worker answers. Whoever waits looks at what the server knows, so the wait wouldn't notice. */
  #askForWorkers(runId: string): () => void {
    let timer: NodeJS.Timeout | undefined;
    const later = (ms: number): void => {
      timer = setTimeout(() => void look(2 * ms), ms).unref();
    };
    const look = async (nextMs: number): Promise<void> => {
      const error: unknown = await this.#store.read(runId).catch((thrown: unknown) => thrown);
      if (timer === undefined) return;
      if (HoldfastError.is(error, "HF-7003"))
        this.#logger.warn("no worker answers for the run; its result is waited for", { runId });
      else later(nextMs);
    };
    later(FIRST_LOOK_MS);
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  }

  override async close(options: { drainMs?: number } = {}): Promise<void> {
    await super.close(options);
    await this.#store.close();
  }
}

/** An address on the command line: `temporal://host:port/namespace`, with `?queue=` for another task queue. */
export function temporalAddress(url: string): TemporalAddress {
  const refused = (problem: string) => new HoldfastError("HF-7007", { address: url.slice(0, 100), problem });
  const [, address, namespace = "", query = ""] =
    /^temporal:\/\/([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(url) ?? [];
  if (address === undefined) throw refused("It names no host");
  if (!/^.+:\d{1,5}$/.test(address)) throw refused("It names no port");
  const settings = new URLSearchParams(query);
  const unknown = [...settings.keys()].find((key) => key !== "queue");
  if (unknown !== undefined) throw refused(`It may have a queue, and not ${unknown}`);
  const taskQueue = settings.get("queue");
  return {
    address,
    ...(namespace ? { namespace: decodeURIComponent(namespace) } : {}),
    ...(taskQueue ? { taskQueue } : {}),
  };
}
