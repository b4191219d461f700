import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  firstOf,
  folderFor,
  freePort,
  run,
  type ServerPlace,
  type ServerUser,
  serverUser,
} from "./service.ts";

/** Our own PostgreSQL server, which tests may stop and crash at will. */
export interface PostgresServer {
  /** As a superuser, without a password. */
  readonly url: string;
  readonly port: number;
  /** The pid of the current postmaster. */
  readonly pid: number;
  readonly folder: string;
  start(): Promise<void>;
  /** `immediate` is a crash: nothing is written back, and the next start recovers. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  /** Sends SIGKILL to the postmaster; its children notice on their own. */
  kill(): void;
  remove(): Promise<void>;
}

const DEBIAN = "/usr/lib/postgresql";

/** All users but the superuser need their password. */
const LOGINS = `
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`;

const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 200
shared_buffers = 64MB
fsync = on
synchronous_commit = on
full_page_writes = on
log_checkpoints = off
`;

/** The folder of PostgreSQL's programs; `null` when it isn't installed. */
export function postgresPrograms(): string | null {
  const versions = (): string[] => {
    try {
      return readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    } catch {
      return [];
    }
  };
  const folders = [
    ...versions().map((version) => path.join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(path.delimiter),
  ];
  const found = firstOf(folders.map((folder) => path.join(folder, "initdb")));
  return found === null ? null : path.dirname(found);
}

/** Starts a server; returns `null` when PostgreSQL isn't installed. */
export async function startPostgres(place: ServerPlace = {}): Promise<PostgresServer | null> {
  const bin = postgresPrograms();
  if (bin === null) return null;
  const as = await serverUser(["postgres"]);
  const folder = folderFor("postgres", as, place.folder);
  const data = path.join(folder, "data");
  const init = ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(path.join(bin, "initdb"), init, as);
  writeFileSync(path.join(data, "pg_hba.conf"), LOGINS);
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    writeFileSync(path.join(data, "postgresql.auto.conf"), `${SETTINGS}port = ${port}\n`);
    try {
      return await launch({ bin, as, folder, data, port, env: place.env ?? {} });
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (tries === 3) throw error;
    }
  }
}

interface Place {
  readonly bin: string;
  readonly as: ServerUser;
  readonly folder: string;
  readonly data: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

/** The rest of a killed server holds its shared memory for a moment, and a new one is refused until then. */
const LEFTOVER = /still in use|is another postmaster|lock file .* already exists/;
const MOST_TRIES = 100;

async function launch({ bin, as, folder, data, port, env }: Place): Promise<PostgresServer> {
  const control = (...args: string[]) =>
    run(path.join(bin, "pg_ctl"), ["-D", data, "-w", ...args], { ...as, env });
  const log = path.join(folder, "log");
  const start = async () => {
    for (let tries = 1; ; tries++) {
      rmSync(log, { force: true });
      try {
        return await control("-l", log, "start");
      } catch (error) {
        if (tries === MOST_TRIES || !LEFTOVER.test(`${String(error)}${logged(log)}`)) throw error;
      }
      await delay(50);
    }
  };
  const stop = (how: "fast" | "immediate" = "fast") => control("-m", how, "stop");
  const pid = () => Number(readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  await start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return pid();
    },
    folder,
    start,
    stop,
    kill: () => void process.kill(pid(), "SIGKILL"),
    async remove() {
      await stop("immediate").catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function logged(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
