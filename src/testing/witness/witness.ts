import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { checkKeys, checkText, checkWhole } from "../../core/check-options.ts";
import type { StepCall } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { fingerprint } from "../../core/hash.ts";
import type { Effect } from "../../core/types.ts";
import { dataDigest } from "../../core/values/codec.ts";
import { builtScript } from "../package-files.ts";
import { type CallMatch, type LoggedCall, onLines, WitnessConnection } from "./wire.ts";

/** One log of the outside world, as the test sees it: every call is on disk before it is answered. */
export interface WitnessLog {
  /** The recorded calls, in order of arrival. */
  calls(): LoggedCall[];
  /** The first call that `matches`, including past ones; rejects when there is none in time. */
  waitFor(matches: (call: LoggedCall) => boolean, timeoutMs?: number): Promise<LoggedCall>;
  /** Records the next `times` matching calls but holds their answers until `release`. */
  hold(match: CallMatch, times?: number): Promise<void>;
  release(): Promise<void>;
}

/** The witness process. It keeps any number of logs; this is the one it was started with. */
export interface Witness extends WitnessLog {
  readonly port: number;
  /** Opens a separate log for one case; clients name it by its file. */
  log(file: string): Promise<WitnessLog>;
  /** Closes a log; its file stays. */
  forget(file: string): Promise<void>;
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
export async function startWitness(options: { readonly file: string }): Promise<Witness> {
  checkKeys(options, ["file"]);
  const file = checkText("file", options.file, 1);
  const script = builtScript("testing/witness/process");
  const child = spawn(process.execPath, [script, file], { stdio: ["pipe", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve, reject) => {
    onLines(child.stdout, (line) => resolve(Number(line)));
    child.once("exit", (code) => reject(gone(`it ended with code ${code}`)));
  });
  const open = new Map<string, Log>();
  const connection = new WitnessConnection(port, ({ log, call }) => open.get(log)?.take(call));
  const openLog = async (name: string, path: string): Promise<Log> => {
    const log = new Log(connection, name, path);
    open.set(name, log);
    await connection.ask({ log: name, do: "watch" });
    return log;
  };
  const own = await openLog("", file);
  return {
    port,
    calls: () => own.calls(),
    waitFor: (matches, timeoutMs) => own.waitFor(matches, timeoutMs),
    hold: (match, times) => own.hold(match, times),
    release: () => own.release(),
    log: (path) => openLog(path, path),
    async forget(path) {
      open.delete(path);
      await connection.ask({ log: path, do: "forget" });
    },
    stop: () => stop(child, connection),
  };
}

async function stop(child: ChildProcess, connection: WitnessConnection): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  connection.close();
  child.stdin?.end();
  if (child.exitCode === null) await ended;
}

const gone = (message: string): HoldfastError =>
  new HoldfastError("HF-3002", { message: `The witness cannot be reached: ${message}`, ms: 0 });

const PATIENCE_MS = 20_000;

class Log implements WitnessLog {
  readonly #connection: WitnessConnection;
  readonly #name: string;
  readonly #file: string;
  readonly #waiting = new Set<(call: LoggedCall) => void>();
  readonly #seen: LoggedCall[] = [];

  constructor(connection: WitnessConnection, name: string, file: string) {
    this.#connection = connection;
    this.#name = name;
    this.#file = file;
  }

  take(call: LoggedCall): void {
    this.#seen.push(call);
    for (const look of this.#waiting) look(call);
  }

  calls(): LoggedCall[] {
    const lines = readFileSync(this.#file, "utf8").split("\n");
    return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as LoggedCall]));
  }

  waitFor(matches: (call: LoggedCall) => boolean, timeoutMs = PATIENCE_MS): Promise<LoggedCall> {
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
    await this.#connection.ask({ log: this.#name, do: "hold", match, times });
  }

  async release(): Promise<void> {
    await this.#connection.ask({ log: this.#name, do: "release" });
  }
}

/** A step's description of its call to the witness. */
export interface WitnessedCall {
  readonly effect: Effect;
  readonly args: unknown;
  /** Answers this many first calls of the step with 429. */
  readonly refuse?: number;
  /** The requested deed, if another version of the code has another name for the step. Default: the step. */
  readonly deed?: string;
}

/** The witness as seen by a step function. */
export interface WitnessClient {
  call(step: StepCall, request: WitnessedCall): Promise<string>;
  /** The result of a call by this step, or for this deed; `null` when none has been carried out. */
  seen(runId: string, deed: string): Promise<string | null>;
  close(): void;
}

export interface WitnessClientOptions {
  /** The file of the log to use. Default: the witness's own. */
  readonly log?: string;
  /** Identifies the caller in the log. Default: the process id. */
  readonly caller?: string;
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
export function createWitnessClient(port: number, options: WitnessClientOptions = {}): WitnessClient {
  checkWhole("port", port, 0, 65_535);
  checkKeys(options, ["log", "caller"]);
  const log = checkText("log", options.log ?? "");
  const caller = checkText("caller", options.caller ?? String(process.pid));
  const connection = new WitnessConnection(port);
  return {
    async call({ runId, step, attempt, epoch, key }, { effect, args, refuse = 0, deed = step }) {
      const sent = {
        runId,
        step,
        effect,
        attempt,
        epoch,
        key: fingerprint(key),
        args: dataDigest(args),
        caller,
        deed,
      };
      const reply = await connection.ask({ log, do: "call", call: sent, refuse });
      if (reply.status === 200) return reply.result as string;
      const { status, retryAfterMs } = reply;
      throw Object.assign(new Error(`The witness answered ${status}.`), { status, retryAfterMs });
    },
    async seen(runId, deed) {
      return (await connection.ask({ log, do: "seen", runId, deed })).result ?? null;
    },
    close: () => connection.close(),
  };
}
