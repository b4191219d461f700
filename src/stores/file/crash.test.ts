import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import { ENDINGS, type Ending, ShakyDisk } from "../../../test/support/shaky-disk.ts";
import type { Append, Renewal, Store } from "../../core/store/contract.ts";
import type { RunRow } from "../../core/types.ts";
import {
  accepted,
  anEntry,
  creation,
  outsideAct,
  step,
  takeBriefly,
} from "../../testing/conformance/index.ts";
import { createMemoryStore } from "../memory.ts";
import { openFolder } from "./open.ts";

const newFolder = useFolders("file-crash");
const clock = { now: () => 1_800_000_000_000 };
const IDS = ["a", "b", "copy"];
const HASHES = ["h1", "h2", "h3"];
const blob = (hash: string) => ({ hash, data: `the text of ${hash}` });
const row = async (store: Store, id: string): Promise<RunRow> => (await store.read(id)) as RunRow;

type Write = (store: Store) => Promise<readonly Append[] | readonly Renewal[]>;

/** One of each kind of write. */
const WRITES: readonly Write[] = [
  async () => [creation({ run: { id: "a" }, blobs: [blob("h1")] })],
  async (store) => [step(await row(store, "a"))],
  async (store) => [step(await row(store, "a"), { blobs: [blob("h1"), blob("h2")] })],
  async (store) => {
    const a = await row(store, "a");
    return [step(a), creation({ run: { id: "b" } }), step({ ...a, seq: a.seq + 1 })];
  },
  async (store) => {
    const { epoch, token } = (await row(store, "a")).claim;
    return [{ runId: "a", epoch, token: token ?? "", ttlMs: 7_000_000 }];
  },
  async () => {
    const entries = [1, 2, 3, 4].map((seq) => anEntry(seq));
    return [creation({ run: { id: "copy" }, entries, blobs: HASHES.map(blob) })];
  },
  async (store) => {
    const drop = { entries: [1, 2, 4], blobs: ["h1", "h3"] };
    return [outsideAct(await row(store, "copy"), { run: { prunedAt: 5 }, drop })];
  },
  async (store) => [step(await row(store, "copy"), { blobs: [blob("h3")] }), step(await row(store, "b"))],
];

async function perform(store: Store, batch: readonly Append[] | readonly Renewal[]): Promise<void> {
  const [first] = batch;
  if (first && "runId" in first) await store.renew(batch as readonly Renewal[]);
  else await store.append(batch as readonly Append[]);
}

interface Seen {
  readonly state: string;
  readonly until: number | undefined;
  readonly blobs: readonly string[];
}

async function look(store: Store): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const id of IDS) {
    const found = await store.read(id);
    const entries = await store.entries(id, { from: 1, limit: 100 });
    const state = JSON.stringify([found && { ...found, claim: { ...found.claim, until: 0 } }, entries]);
    const blobs = [...(await store.blobs(id, HASHES)).keys()];
    seen.set(id, { state, until: found?.claim.until, blobs });
  }
  return seen;
}

/** The states allowed during each write: from before it, append by append, to after it. */
async function expectations(): Promise<Map<string, Seen>[][]> {
  const store = createMemoryStore({ clock });
  let last = await look(store);
  const all: Map<string, Seen>[][] = [];
  for (const write of WRITES) {
    const stages = [last];
    for (const part of await write(store)) {
      await perform(store, [part] as readonly Append[]);
      stages.push((last = await look(store)));
    }
    all.push(stages);
  }
  return [...all, [last]];
}

/** Writes until the disk stops; returns how many writes were acknowledged. */
async function writeUntilStopped(disk: ShakyDisk, folder: string): Promise<number> {
  let acknowledged = 0;
  try {
    const store = await openFolder({ folder, clock }, { disk, copyDelayMs: 60_000 });
    for (const write of WRITES) {
      await perform(store, await write(store));
      acknowledged++;
    }
    await store.close();
  } catch (error) {
    if (!disk.hasStopped) throw error;
  }
  return acknowledged;
}

function problems(stages: readonly Map<string, Seen>[], found: Map<string, Seen>, ending: Ending): string[] {
  return IDS.flatMap((id) => {
    const possible = stages.map((stage) => stage.get(id) as Seen);
    const now = found.get(id) as Seen;
    const same = possible.filter(({ state }) => state === now.state);
    const known = possible.flatMap(({ blobs }) => blobs);
    // Any blob of a write in progress may exist.
    const needed = same.map(({ blobs }) => blobs.filter((hash) => !now.blobs.includes(hash)));
    const isRightClaim = ending !== "kill" || possible.some(({ until }) => until === now.until);
    return [
      ...(same.length > 0 ? [] : [`${id} is neither before nor after: ${now.state}`]),
      ...(needed.some(({ length }) => length === 0) ? [] : [`${id} has lost blobs: ${needed.join(" or ")}`]),
      ...now.blobs.filter((hash) => !known.includes(hash)).map((hash) => `${id} has blob ${hash} again`),
      ...(isRightClaim ? [] : [`${id} is claimed until ${now.until}`]),
    ];
  });
}

describe("a process or machine that stops before any change to the disk", { timeout: 60_000 }, () => {
  it.each(ENDINGS)(
    "leaves every acknowledged write, and others whole or not at all (%s) (S1-13)",
    async (ending) => {
      const expected = await expectations();
      let steps = 0;
      for (let stopAt = 1; ; stopAt++) {
        const folder = newFolder();
        const disk = new ShakyDisk(stopAt);
        const acknowledged = await writeUntilStopped(disk, folder);
        if (!disk.hasStopped) break;
        steps++;
        disk.end(ending);
        // This very process holds the lock.
        rmSync(path.join(folder, "lock.json"), { force: true });
        const store = await openFolder({ folder, clock }, {});
        const found = await look(store);
        const at = `${ending} before change ${stopAt}, after ${acknowledged} writes`;
        expect(problems(expected[acknowledged]!, found, ending), at).toEqual([]);
        expect(store.recovered, at).toEqual([]);
        expect(readdirSync(path.join(folder, "tmp")), at).toEqual([]);
        for (const { id } of (await store.list({ limit: 10 })).runs) {
          const next = await accepted(store, outsideAct(await row(store, id), { claim: { kind: "revoke" } }));
          await accepted(store, outsideAct(next, { claim: takeBriefly("eve") }));
        }
        await store.close();
        rmSync(folder, { recursive: true });
      }
      expect(steps).toBeGreaterThan(60);
    },
  );
});

describe("a disk that fails one change", { timeout: 60_000 }, () => {
  /** Fails once and then works again, like a full or flaky disk. */
  class FlakyDisk extends ShakyDisk {
    failAt = Number.POSITIVE_INFINITY;
    count = 0;
    override get hasStopped(): boolean {
      return false;
    }
    fails(): boolean {
      return ++this.count === this.failAt;
    }
  }

  it("leaves the outcome to be looked up, and the store goes on", async () => {
    const names = ["create", "link", "rename", "unlink", "makeFolder", "syncFolder"] as const;
    let failures = 0;
    for (let failAt = 1, isOver = false; !isOver; failAt++) {
      const folder = newFolder();
      const disk = new FlakyDisk();
      for (const name of names) {
        const real = disk[name] as (...args: readonly string[]) => Promise<never>;
        const flaky = async (...args: readonly string[]) => {
          if (disk.fails()) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
          return real(...args);
        };
        Object.assign(disk, { [name]: flaky });
      }
      const store = await openFolder({ folder, clock }, { disk, copyDelayMs: 60_000 });
      disk.failAt = failAt;
      const expected = await expectations();
      let isReached = false;
      for (const [index, write] of WRITES.entries()) {
        try {
          await perform(store, await write(store));
        } catch (error) {
          isReached = true;
          expect(error).toMatchObject({ code: "HF-3003" });
          expect(problems(expected[index]!, await look(store), "kill"), `failure ${failAt}`).toEqual([]);
          break;
        }
      }
      if (isReached) failures++;
      isOver = disk.count < failAt;
      disk.failAt = Number.POSITIVE_INFINITY;
      expect(store.recovered).toEqual([]);
      await accepted(store, creation({ run: { id: "later" } }));
      await store.close();
      rmSync(folder, { recursive: true });
    }
    expect(failures).toBeGreaterThan(40);
  });
});
