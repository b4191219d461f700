import { checkNumber, checkParts } from "../../check-options.ts";
import { ended, type RunRow } from "../../types.ts";

/** A run without progress: since when, and a short reason. */
export interface Stall {
  /**
   * `unclaimed`: it could continue, but no worker takes it. `abandoned`: its worker is dead, and its claim hasn't
   * expired yet. `quiet`: a worker has it, and nothing was saved for a long time. `ahead`: it is held, and was written
   * at a time that the store's clock hasn't reached, because that clock was set back; a worker takes it when its claim
   * hasn't been renewed for its length.
   */
  readonly kind: "unclaimed" | "abandoned" | "quiet" | "ahead";
  readonly since: number;
  readonly reason: string;
}

/** A worker takes a due run within about a second; after this time, there is none. */
const GRACE_MS = 10_000;
/** A call may take long. After this, a person may want to know. */
const QUIET_MS = 600_000;
/** How far the clocks of writing processes may be ahead of the store's. */
const AHEAD_MS = 60_000;

type StallRow = Pick<RunRow, "status" | "wakeAt" | "claim" | "updatedAt"> & Partial<Pick<RunRow, "queue">>;

/**
 * Why a run makes no progress, or `null` when it does, has ended, or waits for something specific. `now` is the store's
 * time; `isGone`: the run's owner is known to be dead.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { stallOf } from "holdfast/manage";
 *
 * export async function stalledRuns(engine: Engine, now: number): Promise<string[]> {
 *   const { runs } = await engine.list({ status: ["queued", "running", "waiting"], limit: 100 });
 *   return runs.flatMap((run) => stallOf(run, now)?.reason ?? []);
 * }
 * ```
 */
export function stallOf(row: StallRow, now: number, isGone = false): Stall | null {
  checkParts("run", row, { status: "text", claim: "object", updatedAt: "number" });
  checkNumber("now", now, { least: 0 });
  const { status, wakeAt, claim, updatedAt, queue = null } = row;
  if (ended(status) || status === "paused" || wakeAt === null || wakeAt > now) return null;
  if (claim.owner !== null && claim.until > now) {
    if (isGone) return { kind: "abandoned", since: updatedAt, reason: "its worker is gone" };
    if (updatedAt - now > AHEAD_MS) return { kind: "ahead", since: now, reason: putBack(updatedAt, now) };
    if (status !== "running" || now - updatedAt < QUIET_MS) return null;
    return { kind: "quiet", since: updatedAt, reason: `none of its work was saved since ${time(updatedAt)}` };
  }
  // It stands in line. Whether its queue moves is told by the queue.
  if (status === "queued" && queue !== null) return null;
  const since = Math.max(wakeAt, claim.until, updatedAt);
  if (now - since < GRACE_MS) return null;
  return { kind: "unclaimed", since, reason: `no worker has taken it since ${time(since)}` };
}

const putBack = (updatedAt: number, now: number): string =>
  `it was written at ${time(updatedAt)}, and the store's clock says ${time(now)}: that clock was put back`;

const time = (at: number): string => new Date(at).toISOString();
