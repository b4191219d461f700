import { hostname } from "node:os";
import { systemProcesses } from "../core/process-proof.ts";
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
  const { owner: name, until, token } = claim;
  return { name, until, isDead: token !== null && systemProcesses.isGone(token) };
}
