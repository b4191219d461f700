import { systemClock } from "./clock.ts";
import { fingerprint } from "./hash.ts";
import { nodeModule } from "./platform.ts";

const hostname = (): string => nodeModule("node:os").hostname();

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
  return isAlive(mark.pid, mark.started) ? "alive" : "dead";
}

/** For a process in this place. A later process may have the same pid, but not the same start time. */
function isAlive(pid: number, started: string | null): boolean {
  if (!hasProcess(pid)) return false;
  const status = statusOf(pid);
  if (!status) return true;
  return !status.isDead && (started === null || status.started === started);
}

/** What a claim's token tells about the process that holds it. */
export interface Processes {
  /** The end of every token of this process. */
  readonly mark: string;
  /** True only when the process that made this token is provably gone. */
  isGone(token: string): boolean;
}

/** How far two readings of the time of the last boot may differ, in seconds. */
const BOOT_SECONDS = 120;

/**
 * The processes of this machine. A mark has the pid, the start time and a digest of the place where a pid means
 * something: the boot, the pid namespace and the host name. Without Linux there is only the host name and the
 * approximate time of the boot. A process in another place is never said to be gone.
 */
export const systemProcesses: Processes = {
  get mark() {
    ownMark ??= markOf(process.pid, statusOf(process.pid)?.started ?? "");
    return ownMark;
  },
  isGone(token) {
    const [, pid = "", started = "", place = "", booted = ""] = token.split(".");
    const [here, since] = placeHere();
    if (place !== here || Math.abs(Number(booted) - since) > BOOT_SECONDS) return false;
    return !isAlive(Number(pid), started === "" ? null : started);
  },
};

let ownMark: string | undefined;
let ownPlace: readonly [place: string, booted: number] | undefined;

/** The mark of a process in this place. */
export const markOf = (pid: number, started: string): string => [pid, started, ...placeHere()].join(".");

function placeHere(): readonly [place: string, booted: number] {
  ownPlace ??= findPlace();
  return ownPlace;
}

function findPlace(): readonly [place: string, booted: number] {
  const [boot, namespace] = [read("/proc/sys/kernel/random/boot_id"), pidNamespace()];
  if (boot !== null && namespace !== null) return [fingerprint([boot, namespace, hostname()].join("|")), 0];
  return [fingerprint(hostname()), Math.round(systemClock.now() / 1_000 - nodeModule("node:os").uptime())];
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
    return nodeModule("node:fs").readFileSync(file, "utf8").trim();
  } catch {
    return null;
  }
}

function pidNamespace(): string | null {
  try {
    return nodeModule("node:fs").readlinkSync("/proc/self/ns/pid");
  } catch {
    return null;
  }
}
