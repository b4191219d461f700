import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Describes a process so that another can tell later whether it is still alive. */
export interface ProcessMark {
  readonly pid: number;
  readonly host: string;
  /** Its start time in the kernel's ticks, because a later process may have the same pid. `null` when unknown. */
  readonly started: string | null;
  /** The machine's boot id: no process survives a reboot. */
  readonly boot: string | null;
  /** Pids are only meaningful between processes in the same namespace; a container has its own. */
  readonly pidNamespace: string | null;
}

export const thisProcess = (): ProcessMark => ({
  pid: process.pid,
  host: hostname(),
  started: statusOf(process.pid)?.started ?? null,
  boot: read("/proc/sys/kernel/random/boot_id"),
  pidNamespace: pidNamespace(),
});

/** `unknown`: the process is in another container or on another machine, where its pid means nothing here. */
export type Standing = "alive" | "dead" | "unknown";

/**
 * Decides whether a process is still alive. `isLocal`: only this machine can reach the mark, so a different boot id
 * means an earlier boot of this machine. Host names don't prove that, because every container has its own.
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
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Linux only. A killed process keeps its pid until its parent reaps it, but does nothing more. */
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
