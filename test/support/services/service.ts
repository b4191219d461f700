import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { isRoot, output } from "../../../lab/services/service.ts";

export { folderFor, freePort, output, serverUser } from "../../../lab/services/service.ts";

/** True when a program is available; its Debian package is installed if allowed. */
export async function installed(find: () => string | null, debian: string): Promise<boolean> {
  if (find() !== null || !isRoot || !existsSync("/usr/bin/apt-get")) return find() !== null;
  // Another test file may be installing something else just then: wait for it instead of giving up.
  const lock = "DPkg::Lock::Timeout=600";
  await output("/usr/bin/apt-get", ["-o", lock, "install", "-y", "--no-install-recommends", debian]);
  return find() !== null;
}

/** Logs loudly, or throws when nothing may be skipped. */
export function missing(what: string, why: string): string {
  const text = `${what} cannot be had: ${why}`;
  if (process.env["CI"] === "true") throw new Error(text);
  process.stderr.write(`\n!! NOT TESTED: ${text}\n\n`);
  return text;
}

/** Ends the server with signal `QUIT` and removes its files once the test run is over, however it ended. */
function endWithRun(pid: number, folders: readonly string[]): void {
  const script = `run=$0; server=$1; shift
    while kill -0 "$run" 2>/dev/null; do sleep 1; done
    kill -QUIT "$server"; sleep 1; rm -rf "$@"`;
  const args = ["-c", script, String(testRun), String(pid), ...folders];
  spawn("/bin/sh", args, { detached: true, stdio: "ignore" }).unref();
}

/** The process that all test files of one run share. */
const testRun = process.env["VITEST"] === undefined || !isMainThread ? process.pid : process.ppid;

interface Started {
  readonly pid: number;
  readonly folder: string;
}

/** Starts a server for all test files of this run: the first caller starts it, the others wait for it. */
export async function shared<T extends Started>(name: string, start: () => Promise<T>): Promise<T> {
  const place = path.join(tmpdir(), `holdfast-run-${testRun}-${name}`);
  const note = path.join(place, "server.json");
  if (isFirst(place)) {
    let answer: { readonly server: T } | { readonly problem: string };
    try {
      const server = await start();
      endWithRun(server.pid, [server.folder, place]);
      answer = { server };
    } catch (error) {
      answer = { problem: String(error) };
    }
    writeFileSync(`${note}.new`, JSON.stringify(answer));
    renameSync(`${note}.new`, note);
  }
  for (let tries = 1; !existsSync(note); tries++) {
    if (tries > 1200) throw new Error(`nobody has started the server that ${place} stands for`);
    await delay(50);
  }
  const { server, problem } = JSON.parse(readFileSync(note, "utf8")) as { server?: T; problem?: string };
  if (!server) throw new Error(problem ?? "the server did not start");
  return server;
}

function isFirst(place: string): boolean {
  try {
    mkdirSync(place);
    return true;
  } catch {
    return false;
  }
}
