import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** The user that servers run as: most of them refuse to run as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The folder of our own server's files, and additional environment variables. */
export interface ServerPlace {
  /** Default: a new temporary folder. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export const isRoot = process.getuid?.() === 0;

export async function serverUser(names: readonly string[]): Promise<ServerUser> {
  if (!isRoot) return {};
  for (const name of [...names, "nobody"]) {
    const ids = await Promise.all(["-u", "-g"].map((flag) => output("id", [flag, name])));
    if (ids.every((id) => id !== null)) return { uid: Number(ids[0]), gid: Number(ids[1]) };
  }
  throw new Error("there is no user that a server could run as");
}

/** A command's output, or `null` when it fails. */
export async function output(command: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await exec(command, args)).stdout.trim();
  } catch {
    return null;
  }
}

interface RunOptions extends ServerUser {
  readonly env?: Readonly<Record<string, string>>;
}

export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<void> {
  const { env = {}, ...as } = options;
  try {
    await exec(command, args, { ...as, env: { ...process.env, ...env }, cwd: tmpdir() });
  } catch (error) {
    const { stderr = "", stdout = "" } = error as { stderr?: string; stdout?: string };
    throw new Error(`${command} failed: ${stderr}${stdout}`, { cause: error });
  }
}

/** The first of these files that exists. */
export const firstOf = (files: readonly string[]): string | null =>
  files.find((file) => existsSync(file)) ?? null;

/** Creates a folder that the server's user may write. */
export function folderFor(name: string, { uid, gid }: ServerUser, inside: string = tmpdir()): string {
  const folder = mkdtempSync(path.join(inside, `holdfast-${name}-`));
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
