import { statfs } from "node:fs/promises";
import path from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { type Disk, hasCode, ifThere, writeFiles } from "./disk.ts";
import { answersIn, type LifeLine, listenIn } from "./life-line.ts";
import { isNetworkFs } from "./network-fs.ts";
import { type ProcessMark, standingOf, thisProcess } from "./process-proof.ts";

const LOCK = "lock.json";
/** Whoever takes over from a dead owner makes this name first; it can be made once for each owner. */
const successorOf = (owner: Owner): string => `.lock-after-${owner.nonce}`;
const TRIES = 20;

/** The process that holds a folder. */
interface Owner extends ProcessMark {
  readonly since: string;
  readonly nonce: string;
  /** The socket that it listens at, for those who cannot see it: in another container its pid says nothing. */
  readonly socket: string | null;
}

/**
 * The right to use a folder: one process at a time. `lock.json` says who has it. To take it over from a dead process, a
 * newcomer links its own description to a name that only one can make, so two newcomers cannot both succeed. That it is dead is
 * proven by its pid, by an earlier start of the machine, or, from another container, by its socket, which ends with it.
 */
export class FolderLock {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #inode: bigint | null;
  readonly #line: LifeLine | null;
  #isReleased = false;

  private constructor(disk: Disk, folder: string, inode: bigint | null, line: LifeLine | null) {
    this.#disk = disk;
    this.#folder = folder;
    this.#inode = inode;
    this.#line = line;
  }

  /** Takes the lock, or says who holds it (HF-3023). */
  static async take(disk: Disk, folder: string, since: string): Promise<FolderLock> {
    const nonce = crypto.randomUUID();
    const name = `.lock-${nonce}${SOCKET}`;
    const line = await listenIn(folder, name);
    const own: Owner = { ...thisProcess(), since, nonce, socket: line && name };
    const draft = path.join(folder, `.lock-${nonce}`);
    const isLocal = await onLocalDisk(folder);
    try {
      await writeFiles(disk, [{ path: draft, text: `${JSON.stringify(own, null, 2)}\n` }]);
      const inode = await disk.inode(draft);
      for (let i = 0; i < TRIES; i++) {
        if (await isTaken(disk, { folder, draft, own, isLocal })) {
          await removeLeftovers(disk, folder, isLocal);
          return new FolderLock(disk, folder, inode, line);
        }
      }
      throw held(folder, null);
    } catch (error) {
      await line?.close();
      throw error;
    } finally {
      await ifThere(disk.unlink(draft));
    }
  }

  /** Throws when the lock is not this process's any more: somebody removed it by hand, or thought it dead. */
  async verify(): Promise<void> {
    const file = path.join(this.#folder, LOCK);
    if ((await this.#disk.inode(file)) === this.#inode) return;
    const message = "the lock was removed or taken over, so another process may be writing here";
    throw new HoldfastError("HF-3013", { file, message });
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    const file = path.join(this.#folder, LOCK);
    if ((await this.#disk.inode(file)) === this.#inode) await ifThere(this.#disk.unlink(file));
    await this.#line?.close();
  }
}

const SOCKET = ".sock";

async function onLocalDisk(folder: string): Promise<boolean> {
  return process.platform === "linux" && !isNetworkFs((await statfs(folder)).type);
}

/** Whether the owner is surely gone. What cannot be told counts as alive. */
async function isGone(folder: string, owner: Owner, isLocal: boolean): Promise<boolean> {
  const standing = standingOf(owner, isLocal);
  if (standing !== "unknown") return standing === "dead";
  // Only within one start of one machine does a socket that nobody answers at mean that its process is gone.
  if (owner.boot === null || owner.boot !== thisProcess().boot || !isSocket(owner.socket)) return false;
  return (await answersIn(folder, owner.socket)) === false;
}

/** A name of ours, and no path. */
const isSocket = (name: unknown): name is string =>
  typeof name === "string" && /^\.lock-[\w-]{36}\.sock$/.test(name);

interface Attempt {
  readonly folder: string;
  readonly draft: string;
  readonly own: Owner;
  readonly isLocal: boolean;
}

async function isTaken(disk: Disk, { folder, draft, own, isLocal }: Attempt): Promise<boolean> {
  const file = path.join(folder, LOCK);
  if (await isLinked(disk, draft, file)) return true;
  const owners = await succession(disk, folder);
  const last = owners.at(-1);
  if (!last) return false;
  if (!(await isGone(folder, last, isLocal))) throw held(folder, last);
  const successor = path.join(folder, successorOf(last));
  if (!(await isLinked(disk, draft, successor))) return false;
  // The dead owner's lock may have been replaced since it was read; then the name just made leads nowhere.
  if ((await succession(disk, folder)).at(-1)?.nonce !== own.nonce) {
    await ifThere(disk.unlink(successor));
    return false;
  }
  await disk.rename(draft, file);
  for (const owner of owners) await ifThere(disk.unlink(path.join(folder, successorOf(owner))));
  return true;
}

/** Who holds the lock, and who has begun to take over from whom; the last one counts. */
async function succession(disk: Disk, folder: string): Promise<Owner[]> {
  const owners: Owner[] = [];
  for (let name = LOCK; ; ) {
    const bytes = await ifThere(disk.read(path.join(folder, name)));
    if (!bytes) return owners;
    const owner = parseOwner(folder, bytes);
    owners.push(owner);
    name = successorOf(owner);
  }
}

function parseOwner(folder: string, bytes: Buffer): Owner {
  try {
    const owner = JSON.parse(bytes.toString("utf8")) as Owner;
    if (Number.isInteger(owner.pid) && /^[\w-]{36}$/.test(owner.nonce)) return owner;
  } catch {
    // Said below.
  }
  throw held(folder, null);
}

async function isLinked(disk: Disk, file: string, name: string): Promise<boolean> {
  try {
    await disk.link(file, name);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** What processes left that died while they asked for the lock. */
async function removeLeftovers(disk: Disk, folder: string, isLocal: boolean): Promise<void> {
  for (const { name } of await disk.list(folder)) {
    if (!name.startsWith(".lock-")) continue;
    if (isSocket(name)) {
      if ((await answersIn(folder, name)) === false) await ifThere(disk.unlink(path.join(folder, name)));
      continue;
    }
    const bytes = await ifThere(disk.read(path.join(folder, name)));
    try {
      if (bytes && (await isGone(folder, parseOwner(folder, bytes), isLocal)))
        await ifThere(disk.unlink(path.join(folder, name)));
    } catch {
      // Not whole yet, or not ours.
    }
  }
}

function held(folder: string, owner: Owner | null): HoldfastError {
  const who = owner ? `pid ${owner.pid} on ${owner.host} since ${owner.since}` : "an unknown process";
  const file = path.join(folder, LOCK);
  const process = owner ? { pid: owner.pid, host: owner.host } : {};
  return new HoldfastError("HF-3023", { folder, who, file, ...process });
}
