import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { folderFor, freePort, missing, program, run, type Servant, servant, shared } from "./service.ts";

/** A PostgreSQL server of our own, which may be stopped and crashed at will. */
export interface PostgresServer {
  /** As a superuser, without a password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  start(): Promise<void>;
  /** `immediate` is a crash: nothing is written back, and the next start recovers. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  remove(): Promise<void>;
}

const DEBIAN = "/usr/lib/postgresql";

/** Others than the superuser need their password. */
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

async function binaries(): Promise<string | null> {
  const versions = (): string[] => {
    try {
      return readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
    } catch {
      return [];
    }
  };
  const folders = () => [
    ...versions().map((version) => path.join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(path.delimiter),
  ];
  const found = await program(() => folders().map((folder) => path.join(folder, "initdb")), "postgresql");
  return found === null ? null : path.dirname(found);
}

/** Starts a server for one test file; `null` when there is no PostgreSQL on this machine. */
export async function startPostgres(): Promise<PostgresServer | null> {
  const bin = await binaries();
  if (bin === null) return null;
  const as = await servant(["postgres"]);
  const folder = folderFor("postgres", as);
  const data = path.join(folder, "data");
  const init = ["-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(path.join(bin, "initdb"), init, as);
  writeFileSync(path.join(data, "pg_hba.conf"), LOGINS);
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    writeFileSync(path.join(data, "postgresql.auto.conf"), `${SETTINGS}port = ${port}\n`);
    try {
      return await launch({ bin, as, folder, data, port });
    } catch (error) {
      // Somebody else may have taken the port meanwhile.
      if (tries === 3) throw error;
    }
  }
}

interface Place {
  readonly bin: string;
  readonly as: Servant;
  readonly folder: string;
  readonly data: string;
  readonly port: number;
}

async function launch({ bin, as, folder, data, port }: Place): Promise<PostgresServer> {
  const control = (...args: string[]) => run(path.join(bin, "pg_ctl"), ["-D", data, "-w", ...args], as);
  const start = () => control("-l", path.join(folder, "log"), "start");
  const stop = (how: "fast" | "immediate" = "fast") => control("-m", how, "stop");
  await start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    port,
    pid: Number(readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]),
    folder,
    start,
    stop,
    async remove() {
      await stop("immediate").catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The URL of a PostgreSQL server that all test files of this run share, as a superuser: the one named by
 * HOLDFAST_TEST_POSTGRES_URL, or one that is started now. Without either, `missing` says why.
 */
export async function sharedPostgres(): Promise<{
  readonly url?: string;
  readonly missing?: string;
}> {
  const given = process.env["HOLDFAST_TEST_POSTGRES_URL"];
  if (given) return { url: given };
  if ((await binaries()) === null)
    return { missing: missing("PostgreSQL", "it is not installed, and no URL was given") };
  return shared("postgres", async () => {
    const server = await startPostgres();
    if (!server) throw new Error("PostgreSQL has gone");
    const { url, pid, folder } = server;
    return { url, pid, folder };
  });
}
