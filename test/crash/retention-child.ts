import { createEngine, type RetentionPolicy } from "../../src/index.ts";
import { type Disk, nodeDisk } from "../../src/stores/disk.ts";
import { openFolder } from "../../src/stores/file/open.ts";
import { openAddress, type StoreAddress } from "../../src/testing/store-address.ts";
import { struckStore, type WriteKill } from "./struck-store.ts";

/** The configuration of a process that drops values: the store, the policy, and where it is killed. */
export interface PruneConfig {
  readonly store: StoreAddress;
  readonly policy: RetentionPolicy;
  readonly batch: number;
  /** The write at which it is killed. */
  readonly kill?: WriteKill;
  /** Files: the disk change before which it is killed, counted from opening; 0: nowhere, and changes are counted. */
  readonly killAtChange?: number;
  /** Repeats until its input is closed. */
  readonly again?: true;
}

let changes = 0;
let killAt = 0;

function counted<A extends readonly unknown[], R>(
  change: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return (...args) => {
    if (++changes === killAt) process.kill(process.pid, "SIGKILL");
    return change(...args);
  };
}

const mortalDisk: Disk = {
  ...nodeDisk,
  create: counted(nodeDisk.create),
  link: counted(nodeDisk.link),
  rename: counted(nodeDisk.rename),
  unlink: counted(nodeDisk.unlink),
  syncFolder: counted(nodeDisk.syncFolder),
};

const config = JSON.parse(process.argv[2] ?? "") as PruneConfig;
const { policy, batch, kill, killAtChange } = config;
const store =
  killAtChange === undefined
    ? await openAddress(config.store)
    : await openFolder({ folder: config.store.url.slice("file:".length) }, { disk: mortalDisk });
await store.identity();
changes = 0;
killAt = killAtChange ?? 0;
const { struck, writes } = struckStore(store, kill);
const engine = createEngine({ store: struck, execute: false });
let isOver = config.again !== true;
if (!isOver) process.stdin.resume().once("end", () => (isOver = true));
let runs = 0;
do runs += (await engine.retention.prune(policy, { batch })).runs.length;
while (!isOver);
const done = { writes: writes(), changes, runs };
await engine.close();
await store.close();
process.stdout.write(JSON.stringify(done));
