import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Host, Sink, StopSignal, SuddenEnd } from "./host.ts";

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** True when the command line itself ends the process. */
let isLeaving = false;

/** How a write fails when a pipe has lost its reader, or a terminal was closed. */
const GONE = new Set(["EPIPE", "EIO", "ECONNRESET", "ERR_STREAM_DESTROYED"]);

/** A reader that leaves early ends what was made for it alone, and no run. */
function sinkOf(stream: NodeJS.WriteStream): Sink {
  let isGone = false;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (!GONE.has(error.code ?? "")) throw error;
    isGone = true;
  });
  return {
    write: (text, control = "") => void (isGone || stream.write(control + text)),
    isTTY: stream.isTTY === true,
    get isGone() {
      return isGone;
    },
    get columns() {
      return stream.columns ?? 110;
    },
    onResize(listener) {
      stream.on("resize", listener);
      return () => stream.off("resize", listener);
    },
  };
}

/** The real process. */
export const processHost = (): Host => ({
  env: process.env,
  cwd: process.cwd(),
  stdout: sinkOf(process.stdout),
  stderr: sinkOf(process.stderr),
  canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
  ask,
  readInput,
  onSignal(listener) {
    const heard = SIGNALS.map((name) => [name, () => listener(name)] as const);
    for (const [name, handler] of heard) process.on(name, handler);
    return () => {
      for (const [name, handler] of heard) process.off(name, handler);
    };
  },
  onSuddenEnd,
  exit(code) {
    isLeaving = true;
    process.exit(code);
  },
  detach(args, log) {
    const output = openSync(log, "a");
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, ...args], {
      detached: true,
      stdio: ["ignore", output, output],
    });
    child.unref();
    return child.pid;
  },
});

function onSuddenEnd(listener: (end: SuddenEnd) => number): () => void {
  const onThrown = (error: unknown): void => {
    end();
    process.exit(listener({ error }));
  };
  const onExit = (exit: number): void => {
    if (!isLeaving) process.exitCode = listener({ exit });
  };
  const end = (): void => {
    process.off("uncaughtException", onThrown);
    process.off("exit", onExit);
  };
  process.on("uncaughtException", onThrown);
  process.on("exit", onExit);
  return end;
}

function ask(question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    terminal.once("close", () => resolve(undefined));
    terminal.question(question, (answer) => {
      resolve(answer.trim());
      terminal.close();
    });
  });
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
