import type { Clock } from "../clock.ts";

/** A hook that has not answered by then never will, as far as a run is concerned. */
export const HOOK_MS = 300_000;

export const LATE = Symbol("late");

/** What `ask` answers, or `LATE` when it takes longer than `ms`. What it answers after that counts for nothing. */
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
