import type { Store } from "../../src/core/store/contract.ts";
import { withParts } from "../../src/testing/with-parts.ts";

/** The write before or after which a process kills itself. */
export interface WriteKill {
  readonly write: number;
  readonly side: "before" | "after";
}

/** Wraps the store so that the process dies at one of its writes, and counts them. */
export function struckStore(
  store: Store,
  kill: WriteKill | undefined,
): { readonly struck: Store; readonly writes: () => number } {
  let writes = 0;
  const strike = (side: WriteKill["side"]): void => {
    if (kill?.write === writes && kill.side === side) process.kill(process.pid, "SIGKILL");
  };
  const struck = withParts(store, {
    append: async (appends) => {
      writes++;
      strike("before");
      const results = await store.append(appends);
      strike("after");
      return results;
    },
  });
  return { struck, writes: () => writes };
}
