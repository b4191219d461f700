import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./service.ts";
import { temporalProgram } from "./temporal-cache.ts";

/** Our own Temporal server with its database in a file, which tests may stop and crash at will. */
export interface TemporalServer {
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  start(): Promise<void>;
  /** `SIGKILL` is a crash: the next start reads what was on disk. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  remove(): Promise<void>;
}

export interface TemporalServerOptions {
  /** Default: in a new folder, removed with the server. */
  readonly database?: string;
  readonly port?: number;
}

/** Starts the server that `buildTemporal` has built. */
export async function startTemporal(options: TemporalServerOptions = {}): Promise<TemporalServer> {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-temporal-"));
  const database = options.database ?? path.join(folder, "temporal.db");
  const port = options.port ?? (await freePort());
  const args = ["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", String(port)];
  args.push("--http-port", "0", "--metrics-port", "0", "--db-filename", database, "--log-level", "error");
  const begin = () => {
    const started = spawn(temporalProgram(), args, { cwd: folder, stdio: "ignore", detached: true });
    started.unref();
    return started;
  };
  let child = begin();
  const ready = () => untilOpen(port, () => child.exitCode !== null);
  await ready();
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  return {
    address: `127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    folder,
    async start() {
      child = begin();
      await ready();
    },
    stop,
    async remove() {
      await stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when the port takes connections. */
async function untilOpen(port: number, hasEnded: () => boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (tries === 400 || hasEnded()) throw error;
    } finally {
      socket.destroy();
    }
    await delay(50);
  }
}
