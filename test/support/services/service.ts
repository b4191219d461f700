import { execFile, spawn } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { isMainThread } from "node:worker_threads";

const exec = promisify(execFile);

/** Who servers run as: most of them refuse to be root. */
export interface Servant {
  readonly uid?: number;
  readonly gid?: number;
}

export const isRoot = process.getuid?.() === 0;

export async function servant(names: readonly string[]): Promise<Servant> {
  if (!isRoot) return {};
  for (const name of [...names, "nobody"]) {
    const ids = await Promise.all(["-u", "-g"].map((flag) => output("id", [flag, name])));
    if (ids.every((id) => id !== null)) return { uid: Number(ids[0]), gid: Number(ids[1]) };
  }
  throw new Error("there is no user that a server could run as");
}

/** What a command prints, or `null` when it fails. */
export async function output(command: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await exec(command, args)).stdout.trim();
  } catch {
    return null;
  }
}

export async function run(command: string, args: readonly string[], as: Servant = {}): Promise<void> {
  try {
    await exec(command, args, { ...as, cwd: tmpdir() });
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string };
    throw new Error(`${command} failed: ${stderr}${stdout}`, { cause: error });
  }
}

/** The first of these files that exists; a Debian package is installed for it where that is allowed. */
export async function program(candidates: () => readonly string[], debian: string): Promise<string | null> {
  const find = (): string | null => candidates().find((file) => existsSync(file)) ?? null;
  const found = find();
  if (found !== null || !isRoot || !existsSync("/usr/bin/apt-get")) return found;
  await output("/usr/bin/apt-get", ["install", "-y", "--no-install-recommends", debian]);
  return find();
}

/** A folder of its own for a server, which that server's user may write. */
export function folderFor(name: string, { uid, gid }: Servant): string {
  const folder = mkdtempSync(path.join(tmpdir(), `holdfast-${name}-`));
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Loud, and an error where nothing may be left out. */
export function missing(what: string, why: string): string {
  const text = `${what} cannot be had: ${why}`;
  if (process.env["CI"] === "true") throw new Error(text);
  process.stderr.write(`\n!! NOT TESTED: ${text}\n\n`);
  return text;
}

/** Ends the server with signal `QUIT` and removes what it leaves once the test run is over, however it ended. */
function endWithRun(pid: number, folders: readonly string[]): void {
  const script = `run=$0; server=$1; shift
    while kill -0 "$run" 2>/dev/null; do sleep 1; done
    kill -QUIT "$server"; sleep 1; rm -rf "$@"`;
  const args = ["-c", script, String(testRun), String(pid), ...folders];
  spawn("/bin/sh", args, { detached: true, stdio: "ignore" }).unref();
}

/** The process that every test file of one run has in common. */
const testRun = process.env["VITEST"] === undefined || !isMainThread ? process.pid : process.ppid;

interface Started {
  readonly pid: number;
  readonly folder: string;
}

/** Starts a server for all test files of this run: the first one that asks does it, the others wait for it. */
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
