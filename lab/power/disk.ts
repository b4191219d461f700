import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isRoot, output, run } from "../services/service.ts";

/** _IOR('X', 125, __u32) with 2: the file system stops at once, and nothing it holds in memory reaches the disk. */
const SHUTDOWN = `open(my $at, "<", $ARGV[0]) or die "$!\\n"; my $how = pack("L", 2); ioctl($at, 0x8004587D, $how) or die "$!\\n";`;

const SIZE = "1G";
const MOST_TRIES = 200;

/** A disk that can lose its power: an ext4 file system in a file. */
export class PowerDisk {
  readonly mount: string;
  readonly #root: string;
  readonly #image: string;

  private constructor(root: string) {
    this.#root = root;
    this.#image = path.join(root, "disk.img");
    this.mount = path.join(root, "disk");
  }

  /** Explains what is missing when no such disk can be made. */
  static async make(): Promise<PowerDisk> {
    if (process.platform !== "linux") throw new Error("Only Linux can cut the power of a file system.");
    if (!isRoot) throw new Error("Only root may mount a disk.");
    if ((await output("perl", ["-e", "1"])) === null)
      throw new Error("The power is cut with perl, which is not there.");
    const disk = new PowerDisk(mkdtempSync(path.join(tmpdir(), "holdfast-power-")));
    // Servers run as their own users.
    chmodSync(disk.#root, 0o755);
    mkdirSync(disk.mount);
    try {
      await run("truncate", ["-s", SIZE, disk.#image]);
      await run("mkfs.ext4", ["-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk.#image]);
      await disk.#mounted();
      return disk;
    } catch (error) {
      rmSync(disk.#root, { recursive: true, force: true });
      throw error;
    }
  }

  /** Makes everything written so far durable. */
  sync(): Promise<void> {
    return run("sync", ["-f", this.mount]);
  }

  /**
   * Stops these processes and all their children, cuts the power, kills them, and brings the disk back with what had
   * reached it. They are stopped first, so that nothing is acknowledged after the power is gone.
   */
  async cut(pids: readonly number[]): Promise<void> {
    const all = await stopped(pids);
    await run("perl", ["-e", SHUTDOWN, this.mount]);
    for (const pid of all) signalled(pid, "SIGKILL");
    await this.#unmounted();
    await this.#mounted();
  }

  async remove(): Promise<void> {
    // Some SQLite drivers release a closed file only at garbage collection.
    await run("umount", ["--lazy", this.mount]);
    rmSync(this.#root, { recursive: true, force: true });
  }

  #mounted(): Promise<void> {
    return run("mount", ["-o", "loop", this.#image, this.mount]);
  }

  /** Killed processes release their files a moment later. */
  async #unmounted(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await run("umount", [this.mount]);
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
      }
      await delay(25);
    }
  }
}

/** Stops a process tree; processes started in the meantime are found in the next round. */
async function stopped(pids: readonly number[]): Promise<readonly number[]> {
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const states = processes();
    const family = new Set(pids.filter((pid) => states.has(pid)));
    for (let size = -1; size !== family.size; ) {
      size = family.size;
      for (const [pid, { parent }] of states) if (family.has(parent)) family.add(pid);
    }
    const moving = [...family].filter((pid) => !"TZ".includes(states.get(pid)?.state ?? "Z"));
    if (moving.length === 0) return [...family];
    for (const pid of moving) signalled(pid, "SIGSTOP");
    await delay(5);
  }
  throw new Error("There are processes that cannot be stopped.");
}

function processes(): Map<number, { readonly parent: number; readonly state: string }> {
  const found = new Map<number, { parent: number; state: string }>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
      found.set(Number(name), { parent: Number(parent), state });
    } catch {
      // The process has just ended.
    }
  }
  return found;
}

function signalled(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has just ended.
  }
}
