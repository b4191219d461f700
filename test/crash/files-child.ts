import { writeSync } from "node:fs";
import type { Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { type Disk, nodeDisk } from "../../src/stores/disk.ts";
import { openFolder } from "../../src/stores/file/open.ts";
import { creation, outsideAct, step } from "../../src/testing/conformance/index.ts";

/**
 * Appends to a few runs in a folder for ever, and prints each acknowledged position. Kills itself at the given disk
 * change, if any.
 */
const [folder = "", killAt = ""] = process.argv.slice(2);
const IDS = ["one", "two", "Two"];

let changes = 0;
const counted = <A extends readonly unknown[], R>(change: (...args: A) => Promise<R>) => {
  return (...args: A): Promise<R> => {
    if (++changes === Number(killAt)) process.kill(process.pid, "SIGKILL");
    return change(...args);
  };
};
const disk: Disk = {
  ...nodeDisk,
  create: counted(nodeDisk.create),
  link: counted(nodeDisk.link),
  rename: counted(nodeDisk.rename),
  unlink: counted(nodeDisk.unlink),
  syncFolder: counted(nodeDisk.syncFolder),
};

async function rowOf(store: Store, id: string): Promise<RunRow | null> {
  return store.read(id);
}

const store = await openFolder({ folder }, { disk, copyDelayMs: 5 });
for (let round = 0; ; round++) {
  const rows = await Promise.all(IDS.map((id) => rowOf(store, id)));
  const batch = IDS.map((id, index) => {
    const row = rows[index];
    const blobs = [{ hash: `h${(row?.seq ?? 0) + 1}`, data: `blob ${(row?.seq ?? 0) + 1}` }];
    if (!row) return creation({ run: { id }, blobs });
    const isDrop = row.seq % 5 === 4;
    const drop = { entries: [row.seq], blobs: [`h${row.seq}`] };
    return isDrop ? outsideAct(row, { blobs, drop }) : step(row, { blobs });
  });
  const results = await store.append(batch);
  if (results.some(({ ok }) => !ok)) throw new Error(JSON.stringify(results));
  writeSync(1, `${batch.map(({ entries }) => entries[0]?.seq).join(" ")}\n`);
}
