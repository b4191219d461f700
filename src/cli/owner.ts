import { hostname } from "node:os";
import type { Run } from "../core/types.ts";

/** This process's name in claims, from which others on the same machine can see whether it is alive. */
export const ownerName = (): string => `${hostname()}:${process.pid}`;

/** Who advances a run now; `undefined` when nobody does. `now` is the store's time. */
export interface Owner {
  readonly name: string;
  readonly until: number;
  /** True when it was a process of this machine that is gone: its claim only has to expire. */
  readonly isDead: boolean;
}

export function ownerOf({ claim }: Pick<Run, "claim">, now: number): Owner | undefined {
  if (claim.owner === null || claim.until <= now) return undefined;
  const { owner: name, until } = claim;
  const [, host, pid] = /^(.*):(\d+)$/.exec(name) ?? [];
  return { name, until, isDead: host === hostname() && !isAlive(Number(pid)) };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process can't be signalled, but is alive.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
