import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../core/errors.ts";

/** The right to use a folder: one process at a time. */
export interface FolderLock {
  /** The folder's real path. */
  readonly folder: string;
  /** Lets go. May be called again. */
  release(): Promise<void>;
}

/** A process that holds a folder, or asks for it, described so that another one can tell whether it still lives. */
interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  /** When it was started, in the kernel's ticks: a later process may have the same pid. `null` where that is not known. */
  readonly started: string | null;
  /** The machine's last start, which nothing outlives. */
  readonly boot: string | null;
  /** Pids mean something only to processes that share this. */
  readonly pids: string | null;
}

const TRIES = 10;
const LOCK = /^lock-([\w-]{36})\.json$/;

/**
 * Locks a folder, which is made if need be, or says who holds it (HF-3009). Whoever asks puts a file of its own there and
 * then looks for those of others; it holds the lock if it sees none of a living process. Of two that ask at once at least one sees the
 * other, and no file is ever removed but one's own and those of the dead: so two never hold it together.
 */
export async function lockFolder(place: string): Promise<FolderLock> {
  await mkdir(place, { recursive: true, mode: 0o700 });
  const folder = await realpath(place);
  for (let tries = 1; ; tries++) {
    const own = await ask(folder);
    const others = await livingOthers(folder, own);
    const holder = others.find(({ isHolding }) => isHolding) ?? (tries < TRIES ? undefined : others[0]);
    if (others.length === 0) {
      await writeFile(`${own}.held`, "");
      return { folder, release: () => withdraw(own) };
    }
    await withdraw(own);
    if (holder) throw held(folder, holder);
    // Another one asks at the same moment: both step back, for a different while.
    await delay(Math.random() * 2 ** tries);
  }
}

async function ask(folder: string): Promise<string> {
  const nonce = randomUUID();
  const draft = path.join(folder, `.lock-${nonce}`);
  const file = path.join(folder, `lock-${nonce}.json`);
  await writeFile(draft, `${JSON.stringify(thisProcess(), null, 2)}\n`, { flag: "wx", mode: 0o600 });
  // There with all it says, or not at all.
  await rename(draft, file);
  return file;
}

/** The mark goes first: without it, the file is that of one who asks. */
async function withdraw(file: string): Promise<void> {
  await rm(`${file}.held`, { force: true });
  await rm(file, { force: true });
}

interface Rival {
  readonly file: string;
  readonly owner: Owner | null;
  readonly isHolding: boolean;
}

async function livingOthers(folder: string, own: string): Promise<Rival[]> {
  const names = await readdir(folder);
  const rivals: Rival[] = [];
  for (const name of names) {
    const file = path.join(folder, name);
    if (!LOCK.test(name) || file === own) continue;
    const owner = await readOwner(file);
    if (owner === "withdrawn") continue;
    if (owner && isGone(owner)) await withdraw(file);
    else rivals.push({ file, owner, isHolding: owner === null || names.includes(`${name}.held`) });
  }
  return rivals;
}

/** `null`: it cannot be told who that is, so nobody may take its place. */
async function readOwner(file: string): Promise<Owner | "withdrawn" | null> {
  try {
    const owner = JSON.parse(await readFile(file, "utf8")) as Owner;
    return Number.isInteger(owner.pid) && typeof owner.host === "string" ? owner : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "withdrawn" : null;
  }
}

function held(folder: string, { file, owner }: Rival): HoldfastError {
  const who = owner ? `pid ${owner.pid} on ${owner.host} since ${owner.since}` : "an unknown process";
  return new HoldfastError("HF-3009", {
    file: `${folder} is held by ${who} (if that process is gone for good, remove ${file}); it`,
    ms: 0,
    ...(owner ? { pid: owner.pid, host: owner.host } : {}),
  });
}

const thisProcess = (): Owner => ({
  pid: process.pid,
  host: hostname(),
  since: new Date().toISOString(),
  started: statusOf(process.pid)?.started ?? null,
  boot: bootId(),
  pids: pidNamespace(),
});

/** Whether the process is surely gone. Of one on another machine or in another container nothing is known: it counts as alive. */
function isGone(owner: Owner): boolean {
  if (owner.host !== hostname()) return false;
  const boot = bootId();
  if (boot !== null && owner.boot !== null && boot !== owner.boot) return true;
  if (owner.pids !== pidNamespace()) return false;
  if (!hasProcess(owner.pid)) return true;
  const status = statusOf(owner.pid);
  return status !== null && (status.isDead || (owner.started !== null && status.started !== owner.started));
}

function hasProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Linux only. A process that was killed keeps its pid until its parent has taken note, but does nothing more. */
function statusOf(pid: number): { readonly isDead: boolean; readonly started: string } | null {
  const text = orNull(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (text === null) return null;
  // The name before the last bracket may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { isDead: /^[ZXx]$/.test(fields[0] ?? ""), started: fields[19] ?? "" };
}

const bootId = (): string | null =>
  orNull(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
const pidNamespace = (): string | null => orNull(() => readlinkSync("/proc/self/ns/pid"));

function orNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
