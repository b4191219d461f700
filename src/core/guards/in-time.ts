import type { Clock } from "../clock.ts";

/** A hook that takes longer counts as never answering. */
export const HOOK_MS = 300_000;

export const LATE = Symbol("late");

/** The result of `ask`, or `LATE` after `ms`. A later result is ignored. */
export async function inTime<T>(
  clock: Clock,
  ms: number,
  ask: () => T | Promise<T>,
): Promise<T | typeof LATE> {
  let cancel = (): void => undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    cancel = clock.setTimer(() => resolve(LATE), ms, { background: true });
  });
  try {
    return await Promise.race([(async () => ask())(), late]);
  } finally {
    cancel();
  }
}
