import { createEngine, type RetentionPolicy } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { withParts } from "../../src/testing/crash/striker.ts";

/** What a process that drops values is told: where, by which policy, and at which of its writes it is killed. */
export interface PruneConfig {
  readonly file: string;
  readonly policy: RetentionPolicy;
  readonly batch: number;
  readonly kill?: { readonly write: number; readonly side: "before" | "after" };
}

const { file, policy, batch, kill } = JSON.parse(process.argv[2] ?? "") as PruneConfig;
const store = await openSqliteStore({ file });
let writes = 0;
const strike = (side: "before" | "after"): void => {
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
const engine = createEngine({ store: struck, execute: false });
await engine.retention.prune(policy, { batch });
await engine.close();
await store.close();
process.stdout.write(`${writes}`);
