import path from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { type Disk, hasCode, ifThere, writeFiles } from "./disk.ts";
import { isGone, type Owner, thisProcess } from "./folder-owner.ts";

const LOCK = "lock.json";
/** Whoever takes over from a dead owner makes this name first; it can be made once for each owner. */
const successorOf = (owner: Owner): string => `.lock-after-${owner.nonce}`;
const TRIES = 20;

/**
 * The right to use a folder: one process at a time. `lock.json` says who has it. To take it over from a dead process, a
 * newcomer links its own description to a name that only one can make, so two newcomers cannot both succeed.
 */
export class FolderLock {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #inode: bigint | null;
  #isReleased = false;

  private constructor(disk: Disk, folder: string, inode: bigint | null) {
    this.#disk = disk;
    this.#folder = folder;
    this.#inode = inode;
  }

  /** Takes the lock, or says who holds it (HF-3023). */
  static async take(disk: Disk, folder: string, since: string): Promise<FolderLock> {
    const own = thisProcess(since);
    const draft = path.join(folder, `.lock-${own.nonce}`);
    await writeFiles(disk, [{ path: draft, text: `${JSON.stringify(own, null, 2)}\n` }]);
    try {
      const inode = await disk.inode(draft);
      for (let i = 0; i < TRIES; i++) {
        if (await isTaken(disk, { folder, draft, own })) {
          await removeLeftovers(disk, folder);
          return new FolderLock(disk, folder, inode);
        }
      }
      throw held(folder, null);
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
  }
}

interface Attempt {
  readonly folder: string;
  readonly draft: string;
  readonly own: Owner;
}

async function isTaken(disk: Disk, { folder, draft, own }: Attempt): Promise<boolean> {
  const file = path.join(folder, LOCK);
  if (await isLinked(disk, draft, file)) return true;
  const owners = await succession(disk, folder);
  const last = owners.at(-1);
  if (!last) return false;
  if (!isGone(last)) throw held(folder, last);
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
async function removeLeftovers(disk: Disk, folder: string): Promise<void> {
  for (const { name } of await disk.list(folder)) {
    if (!name.startsWith(".lock-")) continue;
    const bytes = await ifThere(disk.read(path.join(folder, name)));
    try {
      if (bytes && isGone(parseOwner(folder, bytes))) await ifThere(disk.unlink(path.join(folder, name)));
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
