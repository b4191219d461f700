import { statfs } from "node:fs/promises";
import path from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { type ProcessMark, standingOf, thisProcess } from "../core/process-proof.ts";
import { type Disk, hasCode, ifThere, writeFiles } from "./disk.ts";
import { answersIn, type LifeLine, listenIn } from "./life-line.ts";
import { isNetworkFs } from "./network-fs.ts";

const LOCK = "lock.json";
/** A process that takes over from a dead owner creates this name first. It can be created only once per owner. */
const successorOf = (owner: Owner): string => `.lock-after-${owner.nonce}`;
const TRIES = 20;

/** The process that holds a folder. */
interface Owner extends ProcessMark {
  readonly since: string;
  readonly nonce: string;
  /** The socket it listens on, for processes in other containers, where its pid means nothing. */
  readonly socket: string | null;
}

/**
 * The right to use a folder, one process at a time. `lock.json` names the owner. To take over from a dead process, a
 * newcomer links its own description to a name that can be created only once, so two newcomers can't both succeed. The
 * owner's death is proven by its pid, by a reboot of the machine, or, from another container, by its socket, which
 * closes with the process.
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

  /** Takes the lock, or throws HF-3023 with its owner. */
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

  /** Throws when this process no longer owns the lock, because someone removed it or took it for dead. */
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

/** True when the owner is certainly gone. When that can't be determined, the owner counts as alive. */
async function isGone(folder: string, owner: Owner, isLocal: boolean): Promise<boolean> {
  const standing = standingOf(owner, isLocal);
  if (standing !== "unknown") return standing === "dead";
  // A socket that doesn't answer proves that its process is gone only within one boot of one machine.
  if (owner.boot === null || owner.boot !== thisProcess().boot || !isSocket(owner.socket)) return false;
  return (await answersIn(folder, owner.socket)) === false;
}

/** True for a socket name of ours; never a path. */
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
  // The dead owner's lock may have been replaced since it was read; then the name just created leads nowhere.
  if ((await succession(disk, folder)).at(-1)?.nonce !== own.nonce) {
    await ifThere(disk.unlink(successor));
    return false;
  }
  await disk.rename(draft, file);
  for (const owner of owners) await ifThere(disk.unlink(path.join(folder, successorOf(owner))));
  return true;
}

/** The owner of the lock and the processes that have begun to take over from each other; the last one counts. */
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
    // Reported below.
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

/** Removes files of processes that died while taking the lock. */
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
      // The file is incomplete or isn't ours.
    }
  }
}

function held(folder: string, owner: Owner | null): HoldfastError {
  const who = owner ? `pid ${owner.pid} on ${owner.host} since ${owner.since}` : "an unknown process";
  const file = path.join(folder, LOCK);
  const process = owner ? { pid: owner.pid, host: owner.host } : {};
  return new HoldfastError("HF-3023", { folder, who, file, ...process });
}
