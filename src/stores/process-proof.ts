import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, described so that another can tell later whether it still lives. */
export interface ProcessMark {
  readonly pid: number;
  readonly host: string;
  /** When it was started, in the kernel's ticks: a later process may have the same pid. `null` where that is not known. */
  readonly started: string | null;
  /** The machine's last start: nothing outlives it. */
  readonly boot: string | null;
  /** Pids mean something only to processes that share this: a container has one of its own. */
  readonly pidNamespace: string | null;
}

export const thisProcess = (): ProcessMark => ({
  pid: process.pid,
  host: hostname(),
  started: statusOf(process.pid)?.started ?? null,
  boot: read("/proc/sys/kernel/random/boot_id"),
  pidNamespace: pidNamespace(),
});

/** `unknown`: it is in another container, or on another machine, where its pid says nothing here. */
export type Standing = "alive" | "dead" | "unknown";

/**
 * Whether a process still lives. `isLocal`: its mark lies where only this machine reaches it, so that another start of a machine can only
 * be an earlier one of this machine; host names will not do, because every container has one of its own.
 */
export function standingOf(mark: ProcessMark, isLocal: boolean): Standing {
  const boot = read("/proc/sys/kernel/random/boot_id");
  if (boot !== null && mark.boot !== null && boot !== mark.boot)
    return isLocal || mark.host === hostname() ? "dead" : "unknown";
  if (boot === null ? mark.host !== hostname() : mark.pidNamespace !== pidNamespace()) return "unknown";
  if (!hasProcess(mark.pid)) return "dead";
  const status = statusOf(mark.pid);
  if (!status) return "alive";
  const isOther = mark.started !== null && status.started !== mark.started;
  return status.isDead || isOther ? "dead" : "alive";
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
