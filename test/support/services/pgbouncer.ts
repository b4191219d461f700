import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { firstOf } from "../../../lab/services/service.ts";
import { folderFor, freePort, installed, missing, serverUser } from "./service.ts";

export interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts pgbouncer in transaction mode in front of the server at `url`; a text explains why it can't. */
export async function startPgbouncer(url: string): Promise<Pooler | string> {
  const find = () => firstOf(["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]);
  if (!(await installed(find, "pgbouncer"))) return missing("pgbouncer", "it is not installed");
  const binary = find() as string;
  const as = await serverUser(["postgres"]);
  const folder = folderFor("pgbouncer", as);
  const port = await freePort();
  const file = path.join(folder, "pgbouncer.ini");
  writeFileSync(file, settings(new URL(url), port));
  const child = spawn(binary, [file], { ...as, cwd: folder, stdio: "ignore" });
  const ended = once(child, "exit");
  await answering(port);
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const settings = ({ hostname, port, username }: URL, listenPort: number): string => `
[databases]
* = host=${hostname} port=${port} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
`;

async function answering(port: number): Promise<void> {
  for (let tries = 1; ; tries++) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return;
    } catch (error) {
      if (tries === 100) throw error;
    } finally {
      socket.destroy();
    }
    await delay(50);
  }
}
