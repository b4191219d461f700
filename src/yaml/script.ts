import { type ChildProcess, spawn } from "node:child_process";
import { badOption, checkKeys, checkObject } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { ScriptRequest, ScriptResult, ScriptRunner } from "./run/machine.ts";

/** Options of `scriptRunner`. */
export interface ScriptOptions {
  /** The source of the variables that scripts inherit. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Names that every script inherits, in addition to the essential ones and its own `inherit_env`. */
  readonly inherit?: readonly string[];
  /** The most bytes of stdout, and of stderr, that are kept with a run. Default 1 MiB. */
  readonly outputBytes?: number;
}

const DEFAULT_BYTES = 1_048_576;
const TAIL_BYTES = 4_096;

/**
 * The variables that a program needs to start, find its files and use the right language, and the one that tells a
 * crash test where to count effects. Keys and tokens aren't included: a script gets those only by name.
 */
const INHERITED: readonly string[] = (
  process.platform === "win32"
    ? "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR"
    : "HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
)
  .split(" ")
  .concat("HOLDFAST_WITNESS");

/**
 * Runs commands as separate processes, without a shell, and stops them together with everything they have started. They
 * see PATH, HOME and the like, the step's `env`, and the variables named in `inherit_env` or `inherit`.
 */
export function scriptRunner(options: ScriptOptions = {}): ScriptRunner {
  checkKeys(options, ["env", "inherit", "outputBytes"]);
  const { env = process.env, inherit = [], outputBytes = DEFAULT_BYTES } = options;
  checkObject("env", env);
  if (!Array.isArray(inherit)) throw badOption("inherit", "it must be a list of names");
  return (request) =>
    new Promise<ScriptResult>((resolve, reject) => {
      const child = start(request, inherited(env, [...INHERITED, ...inherit, ...(request.inherit ?? [])]));
      const [stdout, stderr] = [new Tail(outputBytes), new Tail(outputBytes)];
      const stop = () => killGroup(child);
      child.on("error", (error) => {
        request.signal.removeEventListener("abort", stop);
        reject(notStarted(request, error));
      });
      child.stdout?.on("data", (part: Buffer) => stdout.add(part));
      child.stderr?.on("data", (part: Buffer) => stderr.add(part));
      child.on("close", (code, signal) => {
        request.signal.removeEventListener("abort", stop);
        if (request.signal.aborted) return reject(request.signal.reason);
        const exit = code ?? 128;
        const over = [stdout, stderr].find((one) => one.isOver);
        if (over) return reject(tooMuch(request, outputBytes, exit, over));
        const ending = signal ? `\n[ended by ${signal}]` : "";
        resolve({ stdout: stdout.text, stderr: stderr.text + ending, exit_code: exit });
      });
      if (request.signal.aborted) stop();
      else request.signal.addEventListener("abort", stop, { once: true });
      // A command that doesn't read its input isn't an error.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(request.stdin);
    });
}

/** The variables with these names; on Windows the case is ignored. */
function inherited(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const isWindows = process.platform === "win32";
  const wanted = new Set(isWindows ? names.map((name) => name.toUpperCase()) : names);
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && wanted.has(isWindows ? name.toUpperCase() : name)) found[name] = value;
  return found;
}

function start(request: ScriptRequest, env: Readonly<Record<string, string | undefined>>): ChildProcess {
  const { command, args, workingDir, stdin } = request;
  return spawn(command, args, {
    env: { ...env, PYTHONUTF8: "1", ...request.env },
    ...defined({ cwd: workingDir }),
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    // A separate process group, so that child processes are stopped too.
    detached: process.platform !== "win32",
    shell: false,
    windowsHide: true,
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

/** The command didn't run, so a resume may try it again, whatever its effect. */
const notStarted = ({ step, command }: ScriptRequest, error: Error): HoldfastError =>
  Object.assign(new HoldfastError("HF-4005", { step, command, problem: error.message }, { cause: error }), {
    notDone: true,
    retryable: true,
  });

const tooMuch = ({ step }: ScriptRequest, limit: number, exit: number, over: Tail): HoldfastError =>
  new HoldfastError("HF-4006", { step, limit, exit, tail: over.text });

/** Keeps everything up to a limit; beyond it, only the end. */
class Tail {
  readonly #limit: number;
  #parts: Buffer[] = [];
  #size = 0;
  isOver = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size > this.#limit) this.isOver = true;
    if (this.isOver && this.#size > TAIL_BYTES * 16) this.#cut();
  }

  #cut(): void {
    const end = Buffer.concat(this.#parts).subarray(-TAIL_BYTES);
    this.#parts = [Buffer.from(end)];
    this.#size = end.length;
  }

  get text(): string {
    if (this.isOver) this.#cut();
    return Buffer.concat(this.#parts).toString("utf8");
  }
}
