import { sealStore } from "../../src/security/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { testKeyring } from "../support/sealed.ts";
import { struckStore, type WriteKill } from "./struck-store.ts";

/**
 * The configuration of a process that changes keys: the store, its keys, the action, and the write at which it is
 * killed.
 */
export interface RotationConfig {
  readonly file: string;
  readonly keys: readonly string[];
  readonly act: "rotate" | "shred";
  readonly runs: readonly string[];
  readonly kill?: WriteKill;
}

const { file, keys, act, runs, kill } = JSON.parse(process.argv[2] ?? "") as RotationConfig;
const store = await openSqliteStore({ file });
const { struck, writes } = struckStore(store, kill);
const sealed = await sealStore(struck, { keyring: testKeyring(...keys) });
if (act === "rotate") await sealed.rotate();
else for (const run of runs) await sealed.shred(run);
await store.close();
process.stdout.write(`${writes()}`);
