import { createEngine, type RetentionPolicy } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { struckStore, type WriteKill } from "./struck-store.ts";

/** What a process that drops values is told: where, by which policy, and at which of its writes it is killed. */
export interface PruneConfig {
  readonly file: string;
  readonly policy: RetentionPolicy;
  readonly batch: number;
  readonly kill?: WriteKill;
}

const { file, policy, batch, kill } = JSON.parse(process.argv[2] ?? "") as PruneConfig;
const store = await openSqliteStore({ file });
const { struck, writes } = struckStore(store, kill);
const engine = createEngine({ store: struck, execute: false });
await engine.retention.prune(policy, { batch });
await engine.close();
await store.close();
process.stdout.write(`${writes()}`);
