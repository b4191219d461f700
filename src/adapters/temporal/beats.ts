import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Logger } from "../../core/logger.ts";
import type { HoldEnd } from "./contract.ts";
import type { Beats } from "./holds.ts";
import { isMissing, type Link } from "./link.ts";

/** How often the main thread says that it is alive. */
const TICK_MS = 250;

/** A heartbeat in less than half of the time that the server waits for one. */
const PART = 0.4;

/** How long one heartbeat may take before the next one is tried. */
const LEAST_DEADLINE_MS = 2_000;

/**
 * The thread: sends heartbeats over a connection of its own, so that an event loop that computes for a while isn't taken
 * for a crash. One that is blocked for longer than `blockedMs` is.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { sdk, connect, namespace, everyMs, deadlineMs, blockedMs, alive } = workerData;
const { Connection, Client } = require(sdk);
const tokens = new Map();
const tick = new BigInt64Array(alive);
const asked = new Set();
let connection, client;
const beat = async (id, token) => {
  // A server that is late with one heartbeat isn't sent another for the same claim.
  if (!client || asked.has(id)) return;
  asked.add(id);
  try {
    await connection.withDeadline(Date.now() + deadlineMs, () => client.activity.heartbeat(token));
  } catch (error) {
    if (error?.name === "ActivityNotFoundError") tokens.delete(id);
  } finally {
    asked.delete(id);
  }
};
parentPort.on("message", ({ id, token }) => {
  if (!token) return tokens.delete(id);
  tokens.set(id, token);
  void beat(id, token);
});
const round = () => {
  const silentMs = Date.now() - Number(Atomics.load(tick, 0));
  if (silentMs < blockedMs) for (const [id, token] of tokens) void beat(id, token);
};
(async () => {
  for (;;) {
    try {
      connection = await Connection.connect(connect);
      client = new Client({ connection, namespace });
      break;
    } catch { await new Promise((resolve) => setTimeout(resolve, 200)); }
  }
  parentPort.postMessage("ready");
  setInterval(round, everyMs);
})();
`;

export interface BeatOptions {
  readonly heartbeatMs: number;
  /** How long the event loop may be blocked before the claims of this process are given up. */
  readonly blockedMs: number;
  readonly logger: Logger;
}

/** The heartbeats of a process: one thread for all of its claims. */
export class BeatThread implements Beats {
  readonly #link: Link;
  readonly #thread: Worker;
  readonly #alive = new BigInt64Array(new SharedArrayBuffer(8));
  readonly #timer: NodeJS.Timeout;
  readonly #ending = new Set<Promise<void>>();
  readonly #logger: Logger;
  /** Resolves when the thread is connected. */
  readonly ready: Promise<void>;

  constructor(link: Link, { heartbeatMs, blockedMs, logger }: BeatOptions) {
    this.#link = link;
    this.#logger = logger;
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
    const sdk = createRequire(import.meta.url).resolve("@temporalio/client");
    const { namespace, connectOptions: connect } = link;
    const everyMs = Math.max(50, Math.round(heartbeatMs * PART));
    const deadlineMs = Math.max(heartbeatMs, LEAST_DEADLINE_MS);
    const workerData = { sdk, connect, namespace, everyMs, deadlineMs, blockedMs, alive: this.#alive.buffer };
    this.#thread = new Worker(THREAD, { eval: true, workerData });
    this.ready = new Promise((resolve, reject) => {
      this.#thread.once("message", () => resolve());
      this.#thread.once("error", reject);
    });
    this.#thread.unref();
  }

  #tick(): void {
    Atomics.store(this.#alive, 0, BigInt(Date.now()));
  }

  begin(taskToken: Uint8Array): void {
    this.#thread.postMessage({ id: idOf(taskToken), token: taskToken });
  }

  end(taskToken: Uint8Array, end: HoldEnd): void {
    this.quiet(taskToken);
    const ended = this.#complete(taskToken, end).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Stops its heartbeat, and nothing else. */
  quiet(taskToken: Uint8Array): void {
    this.#thread.postMessage({ id: idOf(taskToken) });
  }

  async #complete(taskToken: Uint8Array, end: HoldEnd): Promise<void> {
    try {
      const { client } = await this.#link.raw();
      await client.activity.complete(taskToken, end);
    } catch (error) {
      // The run may have gone on without it: its execution has ended, or is another one by now.
      if (!isMissing(error) && (error as Error).name !== "ActivityNotFoundError")
        this.#logger.warn("a claim's activity could not be ended", { error: String(error) });
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#ending);
    await this.#thread.terminate();
  }
}

const idOf = (taskToken: Uint8Array): string => Buffer.from(taskToken).toString("base64");
