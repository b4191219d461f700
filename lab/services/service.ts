import { execFile } from "node:child_process";
import { chownSync, existsSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** Who servers run as: most of them refuse to be root. */
export interface Servant {
  readonly uid?: number;
  readonly gid?: number;
}

/** Where a server of our own keeps its files, and what else it finds in its environment. */
export interface ServerPlace {
  /** Default: a new folder among the temporary files. */
  readonly folder?: string;
  readonly env?: Readonly<Record<string, string>>;
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

interface RunOptions extends Servant {
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

/** A folder of its own for a server, which that server's user may write. */
export function folderFor(name: string, { uid, gid }: Servant, inside: string = tmpdir()): string {
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
