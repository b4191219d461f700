import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dataDigest } from "../core/codec.ts";
import type { StepCall } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { fingerprint } from "../core/hash.ts";
import type { Effect } from "../core/types.ts";
import { builtScript } from "./crash/built-script.ts";
import { type CallMatch, type LoggedCall, onLines, WitnessConnection } from "./crash/wire.ts";

/** The outside world, as seen by the test: every call it received is on the disk before it was answered. */
export interface Witness {
  readonly port: number;
  /** What the log holds, in order of arrival. */
  calls(): LoggedCall[];
  /** The first call for which `matches` holds, past calls included; rejects when there is none in time. */
  waitFor(matches: (call: LoggedCall) => boolean, timeoutMs?: number): Promise<LoggedCall>;
  /** The next `times` calls like this are written down but not answered until `release`. */
  hold(match: CallMatch, times?: number): Promise<void>;
  release(): Promise<void>;
  /** Forgets everything and goes on with another log. */
  begin(file: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a witness process that logs to `file`.
 *
 * @example
 * ```ts
 * import { startWitness } from "holdfast/testing";
 *
 * const witness = await startWitness({ file: "./witness.jsonl" });
 * console.log(witness.port, witness.calls().length);
 * await witness.stop();
 * ```
 */
export async function startWitness({ file }: { readonly file: string }): Promise<Witness> {
  const script = builtScript(import.meta.url, "./witness-process");
  const child = spawn(process.execPath, [script, file], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    onLines(child.stdout, (line) => resolve(Number(line)));
    child.once("exit", (code) => reject(gone(`it ended with code ${code}`)));
  });
  const witness = new WitnessHandle(child, port, file);
  await witness.watch();
  return witness;
}

const gone = (message: string): HoldfastError =>
  new HoldfastError("HF-3002", { message: `The witness cannot be reached: ${message}`, ms: 0 });

class WitnessHandle implements Witness {
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #connection: WitnessConnection;
  readonly #waiting = new Set<(call: LoggedCall) => void>();
  #seen: LoggedCall[] = [];
  #file: string;

  constructor(child: ChildProcess, port: number, file: string) {
    this.#child = child;
    this.#file = file;
    this.port = port;
    this.#connection = new WitnessConnection(port, (call) => {
      this.#seen.push(call);
      for (const look of this.#waiting) look(call);
    });
  }

  async watch(): Promise<void> {
    await this.#connection.ask({ do: "watch" });
  }

  calls(): LoggedCall[] {
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as LoggedCall]));
  }

  waitFor(matches: (call: LoggedCall) => boolean, timeoutMs = 20_000): Promise<LoggedCall> {
    const past = this.#seen.find(matches);
    if (past) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const look = (call: LoggedCall) => {
        if (matches(call)) end(() => resolve(call));
      };
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle();
      };
      const timer = setTimeout(() => end(() => reject(gone("no such call came"))), timeoutMs);
      this.#waiting.add(look);
    });
  }

  async hold(match: CallMatch, times = 1): Promise<void> {
    await this.#connection.ask({ do: "hold", match, times });
  }

  async release(): Promise<void> {
    await this.#connection.ask({ do: "release" });
  }

  async begin(file: string): Promise<void> {
    await this.#connection.ask({ do: "begin", file });
    this.#file = file;
    this.#seen = [];
  }

  async stop(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#connection.close();
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await ended;
  }
}

/** What a step tells the witness about its call. */
export interface WitnessedCall {
  readonly effect: Effect;
  readonly args: unknown;
  /** Answer the first so many calls of this step with 429. */
  readonly refuse?: number;
}

/** The witness as a step function sees it. */
export interface WitnessClient {
  call(step: StepCall, request: WitnessedCall): Promise<string>;
  /** What a call of this step was answered, or `null` when none has been carried out. */
  seen(runId: string, step: string): Promise<string | null>;
  close(): void;
}

/**
 * Connects step functions to a witness.
 *
 * @example
 * ```ts
 * import { workflow } from "holdfast";
 * import { createWitnessClient } from "holdfast/testing";
 *
 * const witness = createWitnessClient(4100);
 * export const order = workflow("order", (ctx) =>
 *   ctx.step("pay", (call) => witness.call(call, { effect: "keyed", args: 42 }), { effect: "keyed", input: 42 }),
 * );
 * ```
 */
export function createWitnessClient(port: number, caller = String(process.pid)): WitnessClient {
  const connection = new WitnessConnection(port);
  return {
    async call({ runId, step, attempt, epoch, key }, { effect, args, refuse = 0 }) {
      const sent = { runId, step, effect, attempt, epoch, key: fingerprint(key), args: dataDigest(args), caller };
      const reply = await connection.ask({ do: "call", call: sent, refuse });
      if (reply.status === 200) return reply.result as string;
      const { status, retryAfterMs } = reply;
      throw Object.assign(new Error(`The witness answered ${status}.`), { status, retryAfterMs });
    },
    async seen(runId, step) {
      return (await connection.ask({ do: "seen", runId, step })).result ?? null;
    },
    close: () => connection.close(),
  };
}
