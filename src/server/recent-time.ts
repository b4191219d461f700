import type { Clock } from "../core/clock.ts";
import type { Store } from "../core/store/contract.ts";
import { StoreTime } from "../core/store/time.ts";

const READ_AGAIN_MS = 1_000;

/** The store's time for what is shown: asked for once a second, however many requests need it. */
export function recentTime(store: Store, clock: Clock): () => Promise<number> {
  const time = new StoreTime(store, clock);
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<unknown> | null = null;
  return async () => {
    if (clock.monotonic() - readAt >= READ_AGAIN_MS) {
      reading ??= time.read().finally(() => {
        reading = null;
      });
      await reading;
      readAt = clock.monotonic();
    }
    return time.now();
  };
}
