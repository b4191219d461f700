import { ended, type RunRow } from "../../types.ts";

/** A run that gets nowhere: since when, and in a few words why. */
export interface Stall {
  /**
   * `unclaimed`: it could go on, and no worker takes it. `abandoned`: its worker is gone, and its claim has still to run out. `quiet`: a
   * worker has it, and nothing of it was saved for a long time.
   */
  readonly kind: "unclaimed" | "abandoned" | "quiet";
  readonly since: number;
  readonly reason: string;
}

/** A worker takes a run that is due within a second or so; later than this, there is none. */
const GRACE_MS = 10_000;
/** A call may take long. After this, somebody may want to know that it does. */
const QUIET_MS = 600_000;

type StallRow = Pick<RunRow, "status" | "wakeAt" | "claim" | "updatedAt">;

/**
 * Why a run gets nowhere, or `null`: it gets on, has ended, or waits for something that has a name. `now` is the store's time;
 * `isGone` says of the run's owner that it is known to be dead.
 *
 * @example
 * ```ts
 * import { type Engine, stallOf } from "holdfast";
 *
 * export async function stalledRuns(engine: Engine, now: number): Promise<string[]> {
 *   const { runs } = await engine.list({ status: ["queued", "running", "waiting"], limit: 100 });
 *   return runs.flatMap((run) => stallOf(run, now)?.reason ?? []);
 * }
 * ```
 */
export function stallOf(row: StallRow, now: number, isGone = false): Stall | null {
  const { status, wakeAt, claim, updatedAt } = row;
  if (ended(status) || status === "paused" || wakeAt === null || wakeAt > now) return null;
  if (claim.owner !== null && claim.until > now) {
    if (isGone) return { kind: "abandoned", since: updatedAt, reason: "its worker is gone" };
    if (status !== "running" || now - updatedAt < QUIET_MS) return null;
    return { kind: "quiet", since: updatedAt, reason: `nothing of it was saved since ${time(updatedAt)}` };
  }
  const since = Math.max(wakeAt, claim.until, updatedAt);
  if (now - since < GRACE_MS) return null;
  return { kind: "unclaimed", since, reason: `no worker has taken it since ${time(since)}` };
}

const time = (at: number): string => new Date(at).toISOString();
