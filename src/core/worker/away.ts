import type { Ports } from "../ports.ts";
import { isAway } from "../store/faults.ts";
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from "../store/pauses.ts";

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
