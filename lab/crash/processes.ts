import { type ChildProcess, spawn } from "node:child_process";
import { onLines } from "../../src/testing/witness/wire.ts";
import { childScript } from "../child-script.ts";
import type { ChildConfig, ChildReport } from "./config.ts";

/** How a worker process ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its reports, one per store, if it ended normally. */
  readonly reports: readonly ChildReport[];
  readonly stderr: string;
  /** True when it didn't end in time and was killed. */
  readonly isOverdue: boolean;
}

export interface WorkerProcess {
  readonly pid: number;
  readonly ended: Promise<ChildEnd>;
  /** Resolves when it prints this line; rejects when it ends first. */
  printed(line: string): Promise<void>;
  signal(signal: NodeJS.Signals): void;
}

export interface SpawnOptions {
  /** A different script: a broken worker that proves the harness. */
  readonly script?: string;
  readonly execArgv?: readonly string[];
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
}

export const PATIENCE_MS = 20_000;
/** The time for a worker that is overdue to say what it is doing. */
const REPORT_MS = 2_000;

/** Starts a worker process, on one store or on several at once. */
export function spawnWorker(configs: readonly ChildConfig[], options: SpawnOptions = {}): WorkerProcess {
  const {
    script = childScript("lab/crash/child"),
    execArgv = [],
    env = {},
    patienceMs = PATIENCE_MS,
  } = options;
  const args = [...execArgv, script, JSON.stringify(configs)];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  onLines(child.stdout, (line) => {
    lines.push(line);
    for (const look of listeners) look();
  });
  const ended = endOf(child, lines, patienceMs);
  const printed = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (lines.includes(wanted)) resolve();
      };
      listeners.add(look);
      look();
      void ended.then(({ stderr }) => reject(new Error(`The worker ended without "${wanted}". ${stderr}`)));
    });
  return { pid: child.pid ?? 0, ended, printed, signal: (signal) => void child.kill(signal) };
}

function endOf(child: ChildProcess, lines: readonly string[], patienceMs: number): Promise<ChildEnd> {
  let stderr = "";
  let isOverdue = false;
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const end = (): void => {
    isOverdue = true;
    child.kill("SIGUSR1");
    timer = setTimeout(() => child.kill("SIGKILL"), REPORT_MS);
  };
  let timer = setTimeout(end, patienceMs);
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      const last = lines.at(-1);
      const reports = code === 0 && last?.startsWith("[") ? (JSON.parse(last) as ChildReport[]) : [];
      resolve({ code, signal, reports, stderr, isOverdue });
    });
  });
}
