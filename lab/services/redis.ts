import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { firstOf, folderFor, freePort, type ServerPlace, type ServerUser, serverUser } from "./service.ts";

/** Our own Redis server, which tests may stop and crash at will. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  start(): Promise<void>;
  /** `SIGKILL` is a crash: nothing is written back, and the next start reads what was on disk. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  remove(): Promise<void>;
}

export interface RedisServerOptions extends ServerPlace {
  /** One node that owns all slots. */
  readonly cluster?: boolean;
  readonly password?: string;
  /** Settings that differ from those of a store, which syncs before it answers and evicts nothing. */
  readonly settings?: Readonly<Record<string, string>>;
}

const STRICT = {
  bind: "127.0.0.1",
  save: "",
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
  "latency-tracking": "no",
};

/** The server's program; `null` when it isn't installed. */
export function redisProgram(): string | null {
  const folders = ["/usr/bin", ...(process.env["PATH"] ?? "").split(path.delimiter)];
  return firstOf(folders.map((folder) => path.join(folder, "redis-server")));
}

/** Starts a server; returns `null` when Redis isn't installed. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer | null> {
  const file = redisProgram();
  if (file === null) return null;
  const as = await serverUser(["redis"]);
  const folder = folderFor("redis", as, options.folder);
  for (let tries = 1; ; tries++) {
    try {
      return await launch({ file, as, folder, port: await freePort(), options });
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (tries === 3) throw error;
    }
  }
}

interface Place {
  readonly file: string;
  readonly as: ServerUser;
  readonly folder: string;
  readonly port: number;
  readonly options: RedisServerOptions;
}

async function launch({ file, as, folder, port, options }: Place): Promise<RedisServer> {
  const { cluster = false, password, settings = {} } = options;
  const env = { ...process.env, ...options.env };
  const all: Record<string, string> = { ...STRICT, dir: folder, port: String(port), ...settings };
  if (password !== undefined) all["requirepass"] = password;
  if (cluster) all["cluster-enabled"] = "yes";
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  const begin = () => {
    const started = spawn(file, args, { ...as, env, cwd: folder, stdio: "ignore", detached: true });
    started.unref();
    return started;
  };
  let child = begin();
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  const auth = password === undefined ? "" : `AUTH ${password}\r\n`;
  await ready(port, `${auth}PING\r\n`, "+PONG", () => child.exitCode !== null);
  if (cluster) {
    await command(port, `${auth}CLUSTER ADDSLOTSRANGE 0 16383\r\n`, /\+OK/);
    await ready(port, `${auth}CLUSTER INFO\r\n`, "cluster_state:ok", () => child.exitCode !== null);
  }
  return {
    url: `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    folder,
    async start() {
      child = begin();
      await ready(port, `${auth}PING\r\n`, "+PONG", () => child.exitCode !== null);
    },
    stop,
    async remove() {
      await stop("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sends plain text and waits for a matching answer. */
async function command(port: number, text: string, expected: RegExp): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    socket.write(text);
    let answer = "";
    for await (const part of socket) {
      answer += String(part);
      if (expected.test(answer)) return;
      if (answer.endsWith("\r\n")) throw new Error(`the server answered ${answer}`);
    }
    throw new Error("the server closed the connection");
  } finally {
    socket.destroy();
  }
}

async function ready(port: number, text: string, expected: string, hasEnded: () => boolean): Promise<void> {
  const pattern = new RegExp(expected.replace("+", "\\+"));
  for (let tries = 1; ; tries++) {
    try {
      return await command(port, text, pattern);
    } catch (error) {
      if (tries === 400 || hasEnded()) throw error;
    }
    await delay(25);
  }
}
