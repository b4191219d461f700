import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runCli } from "../../src/cli/app.ts";
import type { Host, Sink, StopSignal } from "../../src/cli/host.ts";
import type { RunRow } from "../../src/core/types.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

// Each command closes its store, and one of SQLite's drivers releases a file only at garbage collection. That takes
// longer than most commands here, and nothing depends on it: these files are deleted even if they are still open.
Object.assign(globalThis, { gc: () => undefined });

/** The result of a command line. */
export interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as one JSON document. */
  json<T = Record<string, unknown>>(): T;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The width of the terminal; without it, standard output and standard error aren't terminals. */
  readonly columns?: number;
  /** Answers to questions, in order; afterwards the terminal is gone. */
  readonly answers?: readonly string[];
  readonly input?: string;
  /** A subfolder to run the command in. */
  readonly cwd?: string;
  /** Replaces this folder with another. */
  readonly root?: string;
  /** Called with the exit code when the command exits at once. */
  readonly onExit?: (code: number) => void;
  /** Called with a function that presses Ctrl-C and the like, once the command listens. */
  readonly onListening?: (press: (signal: StopSignal) => void) => void;
}

/** A folder to run commands in, inside this process: nothing of the real terminal or environment is used. */
export interface CliFolder {
  readonly path: string;
  write(file: string, text: string): string;
  run(line: string | readonly string[], options?: CliOptions): Promise<Result>;
  /** The run as stored, once `holds` is true for it. */
  until(runId: string, holds: (row: RunRow) => boolean): Promise<RunRow>;
  /** Arguments of the processes that commands have started in the background. */
  readonly detached: readonly (readonly string[])[];
  remove(): void;
}

export function cliFolder(): CliFolder {
  const path = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  const detached: (readonly string[])[] = [];
  return {
    path,
    detached,
    write(file, text) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
      return join(path, file);
    },
    async run(line, options = {}) {
      const [stdout, stderr] = [sink(options), sink(options)];
      const argv = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
      const code = await runCli(
        argv,
        hostOf(join(options.root ?? path, options.cwd ?? "."), stdout, stderr, detached, options),
      );
      return {
        code,
        stdout: stdout.text(),
        stderr: stderr.text(),
        json: <T>() => JSON.parse(stdout.text()) as T,
      };
    },
    async until(runId, holds) {
      const store = await openSqliteStore({ file: join(path, ".holdfast/holdfast.db") });
      try {
        for (;;) {
          const row = await store.read(runId);
          if (row && holds(row)) return row;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      } finally {
        await store.close();
      }
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function sink({ columns }: CliOptions): Sink & { text(): string } {
  let text = "";
  return {
    write: (more, control = "") => void (text += control + more),
    text: () => text,
    isTTY: columns !== undefined,
    columns: columns ?? 110,
    isGone: false,
    onResize: () => () => undefined,
  };
}

function hostOf(
  cwd: string,
  stdout: Sink,
  stderr: Sink,
  detached: (readonly string[])[],
  { env = {}, answers, input, onExit, onListening }: CliOptions,
): Host {
  const left = [...(answers ?? [])];
  return {
    env,
    cwd,
    stdout,
    stderr,
    canAsk: answers !== undefined,
    ask: async (question) => {
      stderr.write(question);
      return left.shift();
    },
    readInput: async () => input ?? "",
    onSignal(listener) {
      onListening?.(listener);
      return () => undefined;
    },
    onSuddenEnd: () => () => undefined,
    exit: (code) => onExit?.(code),
    detach: (args) => {
      detached.push(args);
      return 4711;
    },
  };
}
