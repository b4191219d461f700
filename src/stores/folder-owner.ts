import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The process that holds a folder, described so that another can tell whether it still lives. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** When it was started, in the kernel's ticks: a later process may have the same pid. `null` where that is not known. */
  readonly started: string | null;
  /** The machine's last start: nothing outlives it. */
  readonly boot: string | null;
  /** Pids mean something only to processes that share this. */
  readonly pidNamespace: string | null;
  readonly since: string;
  readonly nonce: string;
}

/** This process, as an owner. */
export const thisProcess = (since: string): Owner => ({
  pid: process.pid,
  host: hostname(),
  started: statusOf(process.pid)?.started ?? null,
  boot: read("/proc/sys/kernel/random/boot_id"),
  pidNamespace: pidNamespace(),
  since,
  nonce: crypto.randomUUID(),
});

/**
 * Whether the owner is surely gone. Of a process on another machine or in another container nothing is known, so it
 * counts as alive.
 */
export function isGone(owner: Owner): boolean {
  const boot = read("/proc/sys/kernel/random/boot_id");
  if (boot !== null && owner.boot !== null && boot !== owner.boot) return owner.host === hostname();
  if (boot === null ? owner.host !== hostname() : owner.pidNamespace !== pidNamespace()) return false;
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
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name before the last bracket may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { isDead: /^[ZXx]$/.test(fields[0] ?? ""), started: fields[19] ?? "" };
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return null;
  }
}

function pidNamespace(): string | null {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}
