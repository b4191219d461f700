import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import type { Link } from "./link.ts";
import type { Payload } from "./sdk.ts";

/** How often the main thread says that it is alive. */
const TICK_MS = 250;

/** A heartbeat in less than half of the time that the server waits for one. */
const PART = 0.4;

/** How long one heartbeat may take before the next one is tried. */
const LEAST_DEADLINE_MS = 2_000;

/** Heartbeats of one activity that may be on their way at once. */
const MOST_AT_ONCE = 3;

/**
 * The thread: sends heartbeats over a connection of its own, so that an event loop that computes for a while isn't taken
 * for a crash. One that is blocked for longer than `blockedMs` is.
 */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { sdk, connect, namespace, everyMs, deadlineMs, blockedMs, mostAtOnce, alive } = workerData;
const { Connection } = require(sdk);
const NOT_FOUND = 5;
const open = new Map();
const tick = new BigInt64Array(alive);
const asked = new Map();
let connection;
const beat = async (id) => {
  const one = open.get(id);
  const under = asked.get(id) ?? 0;
  // A server that is late isn't sent ever more of them, but one that is lost mustn't stand for a death.
  if (!connection || !one || under >= mostAtOnce) return;
  asked.set(id, under + 1);
  const { token: taskToken, payload, number } = one;
  const details = payload ? { payloads: [payload] } : undefined;
  try {
    await connection.withDeadline(Date.now() + deadlineMs, () =>
      connection.workflowService.recordActivityTaskHeartbeat({ namespace, taskToken, details }));
    if (number !== undefined) parentPort.postMessage({ id, number });
  } catch (error) {
    if (error?.code === NOT_FOUND) {
      open.delete(id);
      parentPort.postMessage({ id, isGone: true });
    }
  } finally {
    const left = (asked.get(id) ?? 1) - 1;
    if (left > 0) asked.set(id, left);
    else asked.delete(id);
  }
  // What has come meanwhile is waited for.
  const now = open.get(id);
  if (now && now.number !== number) void beat(id);
};
parentPort.on("message", ({ id, ...one }) => {
  if (!one.token) return open.delete(id);
  open.set(id, one);
  // An activity that has just begun needs none yet.
  if (one.number !== undefined) void beat(id);
});
const round = () => {
  const silentMs = Date.now() - Number(Atomics.load(tick, 0));
  if (silentMs < blockedMs) for (const id of open.keys()) void beat(id);
};
(async () => {
  for (;;) {
    try {
      connection = await Connection.connect(connect);
      break;
    } catch { await new Promise((resolve) => setTimeout(resolve, 200)); }
  }
  parentPort.postMessage({ isReady: true });
  setInterval(round, everyMs);
})();
`;

export interface BeatOptions {
  readonly heartbeatMs: number;
  /** How long the event loop may be blocked before this process counts as dead. */
  readonly blockedMs: number;
}

/** What the thread tells. */
interface Told {
  readonly isReady?: true;
  readonly id?: string;
  /** The heartbeat with this number has arrived. */
  readonly number?: number;
  /** Nobody waits for the activity any more. */
  readonly isGone?: true;
}

/** Called with the number of each heartbeat with details that has arrived, and with `gone` at the end. */
export type Hear = (what: number | "gone") => void;

/** The heartbeats of a process: one thread for all of its activities. */
export class BeatThread {
  readonly #thread: Worker;
  readonly #alive = new BigInt64Array(new SharedArrayBuffer(8));
  readonly #timer: NodeJS.Timeout;
  readonly #hearing = new Map<string, Hear>();
  /** Resolves when the thread is connected. */
  readonly ready: Promise<void>;

  constructor(link: Link, { heartbeatMs, blockedMs }: BeatOptions) {
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
    const sdk = createRequire(import.meta.url).resolve("@temporalio/client");
    const { namespace, connectOptions: connect } = link;
    const everyMs = Math.max(50, Math.round(heartbeatMs * PART));
    const deadlineMs = Math.max(heartbeatMs, LEAST_DEADLINE_MS);
    const how = { everyMs, deadlineMs, blockedMs, mostAtOnce: MOST_AT_ONCE };
    const workerData = { sdk, connect, namespace, ...how, alive: this.#alive.buffer };
    this.#thread = new Worker(THREAD, { eval: true, workerData });
    this.ready = new Promise((resolve, reject) => {
      this.#thread.on("message", (told: Told) => (told.isReady ? resolve() : this.#told(told)));
      this.#thread.once("error", reject);
    });
    this.#thread.unref();
  }

  #tick(): void {
    Atomics.store(this.#alive, 0, BigInt(Date.now()));
  }

  #told({ id = "", number, isGone }: Told): void {
    const hear = this.#hearing.get(id);
    if (isGone) {
      this.#hearing.delete(id);
      hear?.("gone");
    } else if (number !== undefined) hear?.(number);
  }

  /** Begins an activity's heartbeats. */
  begin(taskToken: Uint8Array, hear?: Hear): void {
    const id = idOf(taskToken);
    if (hear) this.#hearing.set(id, hear);
    this.#thread.postMessage({ id, token: taskToken });
  }

  /** From now on its heartbeats have these details, which the first of them sends at once. */
  show(taskToken: Uint8Array, payload: Payload, number: number): void {
    this.#thread.postMessage({ id: idOf(taskToken), token: taskToken, payload, number });
  }

  /** Stops its heartbeats, and nothing else. */
  quiet(taskToken: Uint8Array): void {
    const id = idOf(taskToken);
    this.#hearing.delete(id);
    this.#thread.postMessage({ id });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.terminate();
  }
}

const idOf = (taskToken: Uint8Array): string => Buffer.from(taskToken).toString("base64");
