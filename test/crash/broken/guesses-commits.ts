import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import { HoldfastError } from "../../../src/core/errors.ts";
import { withParts } from "../../../src/testing/with-parts.ts";

/** A worker whose store assumes that a write with an unknown outcome succeeded; it dies with the next one. */
await runChildFromArgs({
  store: (store) => {
    let hasGuessed = false;
    return withParts(store, {
      append: (batch) => {
        if (hasGuessed) process.kill(process.pid, "SIGKILL");
        return store.append(batch).catch((error: unknown) => {
          if (!HoldfastError.is(error, "HF-3002")) throw error;
          hasGuessed = true;
          return batch.map(() => ({ ok: true }) as const);
        });
      },
    });
  },
});
