import type { Append } from "../../../src/core/store.ts";
import { runChildFromArgs } from "../../../src/testing/crash/run-child.ts";
import { withParts } from "../../../src/testing/crash/striker.ts";

/** A worker whose retention drops all values there are, whatever it was told to keep; it dies right after that. */
const greedy = (append: Append): Append => {
  const last = append.entries[0]?.seq ?? 1;
  const entries = Array.from({ length: last - 1 }, (_, index) => index + 1);
  return append.drop ? { ...append, drop: { ...append.drop, entries } } : append;
};

await runChildFromArgs({
  store: (store) =>
    withParts(store, {
      async append(batch) {
        const results = await store.append(batch.map(greedy));
        const isTaken = batch.some(({ drop }, index) => drop && results[index]?.ok);
        if (isTaken) process.kill(process.pid, "SIGKILL");
        return results;
      },
    }),
});
