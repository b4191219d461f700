import { runChildFromArgs } from "../../../lab/crash/run-child.ts";
import type { Append } from "../../../src/core/store/contract.ts";
import { withParts } from "../../../src/testing/with-parts.ts";

/** A worker that drops all values of a run with its first write, and dies right after that. */
const greedy = (append: Append): Append => {
  const entries = Array.from({ length: append.expect?.seq ?? 0 }, (_, index) => index + 1);
  return append.expect ? { ...append, drop: { entries, blobs: [] } } : append;
};

await runChildFromArgs({
  store: (store) =>
    withParts(store, {
      async append(batch) {
        const results = await store.append(batch.map(greedy));
        if (batch.some(({ expect }, index) => expect && results[index]?.ok))
          process.kill(process.pid, "SIGKILL");
        return results;
      },
    }),
});
