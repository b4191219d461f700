import { type ErrorCode, HoldfastError } from "../errors.ts";
import type { Ports } from "../ports.ts";
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from "../store/pauses.ts";

const AWAY: readonly ErrorCode[] = [
  ...(["HF-3002", "HF-3003", "HF-3009", "HF-3013", "HF-3024", "HF-3030"] as const),
  // A Temporal server, or the workers behind it.
  ...(["HF-7001", "HF-7003"] as const),
];

/** True when the store can't be used now, and may be back later. */
export const isAway = (error: unknown): boolean =>
  !HoldfastError.is(error) || AWAY.some((code) => HoldfastError.is(error, code));

/** Runs the start of work, and repeats it while the store is down. */
export async function untilThere<T>({ clock, logger }: Ports, begin: () => Promise<T>): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await begin();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (pause === FIRST_PAUSE_MS)
        logger.warn("work begins when the store is there", { error: String(error) });
    }
    await new Promise<void>((resolve) => void clock.setTimer(resolve, pause));
  }
}
