import {
  cpSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { filesIn, useFolders } from "../../../test/support/folders.ts";
import type { Store } from "../../core/store/contract.ts";
import {
  accepted,
  anEntry,
  creation,
  everythingOf,
  outsideAct,
  step,
} from "../../testing/conformance/index.ts";
import { type FileStore, openFileStore } from "./index.ts";
import { seal } from "./sealed.ts";

const newFolder = useFolders("file-damage");
const clock = { now: () => 1_800_000_000_000 };
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function open(folder: string): Promise<FileStore> {
  const store = await openFileStore({ folder, clock });
  opened.push(store);
  return store;
}

const recordsOf = (folder: string, id: string): string[] =>
  readdirSync(path.join(folder, "runs", id))
    .filter((name) => name.startsWith("checkpoint_") && name.endsWith(".json"))
    .sort()
    .map((name) => path.join(folder, "runs", id, name));

/**
 * Creates runs of two records each, damages each second record in its own way, and returns the store as it then opens.
 */
async function damagedRuns(
  count: (size: number) => number,
  damage: (file: string, index: number) => void,
): Promise<{ store: FileStore; ids: string[] }> {
  const folder = newFolder();
  const idOf = (index: number): string => `run-${String(index).padStart(5, "0")}`;
  const first = await open(folder);
  const row = await accepted(first, creation({ run: { id: idOf(0) } }));
  await accepted(first, step(row));
  const size = readFileSync(recordsOf(folder, idOf(0))[1] ?? "").length;
  const ids = Array.from({ length: count(size) }, (_, index) => idOf(index));
  await first.append(ids.slice(1).map((id) => creation({ run: { id } })));
  await first.append(ids.slice(1).map((id) => step({ ...row, id, lineage: id })));
  await first.close();
  for (const [index, id] of ids.entries()) {
    const [, last = ""] = recordsOf(folder, id);
    expect(readFileSync(last).length).toBe(size);
    damage(last, index);
  }
  return { store: await open(folder), ids };
}

/** Each run waits for a person: nothing is read, written, or moved away. */
async function expectUnread(store: FileStore, ids: readonly string[]): Promise<void> {
  const codes = await Promise.all(ids.map((id) => store.read(id).catch(({ code }) => code)));
  expect(codes.filter((code) => code !== "HF-3010")).toEqual([]);
  const { runs } = await store.list({ limit: 1_000 });
  expect(runs.length).toBe(Math.min(1_000, ids.length));
  expect(runs.filter(({ status, damage }) => status !== "waiting" || damage === undefined)).toEqual([]);
  expect(await store.due({ workflows: ["flow"], limit: 1_000 })).toEqual([]);
  expect(new Set(store.recovered.map(({ runId }) => runId))).toEqual(new Set(ids));
  expect(store.recovered.every(({ keptAs }) => keptAs === null)).toBe(true);
}

describe("the newest record of a run", { timeout: 60_000 }, () => {
  it("that is cut short at any byte waits for review (D2, S1-13)", async () => {
    const { store, ids } = await damagedRuns((size) => size, truncateSync);
    expect(ids.length).toBeGreaterThan(1_000);
    await expectUnread(store, ids);
  });

  it("that has a wrong bit at any byte waits for review (D2)", async () => {
    const { store, ids } = await damagedRuns(
      (size) => size,
      (file, index) => {
        const bytes = readFileSync(file);
        bytes[index] = (bytes[index] ?? 0) ^ (1 << (index % 8));
        writeFileSync(file, bytes);
      },
    );
    await expectUnread(store, ids);
  });

  it("that is longer than it was, or full of zeros, or a copy of another, waits for review", async () => {
    const { store, ids } = await damagedRuns(
      () => 4,
      (file, index) => {
        const bytes = readFileSync(file);
        const first = path.join(path.dirname(file), readdirSync(path.dirname(file)).sort()[0] ?? "");
        const other = file.replace("run-00003", "run-00002");
        const contents = [Buffer.concat([bytes, Buffer.from("\n")]), bytes.fill(0), readFileSync(first)];
        writeFileSync(file, contents[index] ?? readFileSync(other));
      },
    );
    await expectUnread(store, ids);
  });

  /** Moves the run's second name back to the record before the newest one, as if the writer had stopped there. */
  function asUnacknowledged(folder: string): void {
    const [first = ""] = recordsOf(folder, "run-1");
    rmSync(path.join(path.dirname(first), "newest.json"));
    linkSync(first, path.join(path.dirname(first), "newest.json"));
    rmSync(path.join(path.dirname(first), "run.json"), { force: true });
  }

  it("that is torn and was acknowledged by nobody is set aside each time, and the run goes on in its place", async () => {
    const folder = newFolder();
    let store = await open(folder);
    let row = await accepted(store, creation());
    const texts: string[] = [];
    for (const mark of ["one", "two"]) {
      row = await accepted(store, step(row, { entry: { data: `"${mark}"` } }));
      await store.close();
      const last = recordsOf(folder, "run-1").at(-1) ?? "";
      truncateSync(last, 900);
      asUnacknowledged(folder);
      texts.push(readFileSync(last, "utf8"));
      store = await open(folder);
      row = (await store.read("run-1")) ?? expect.unreachable();
      expect([row.seq, store.recovered.length]).toEqual([1, 1]);
    }
    const kept = readdirSync(path.join(folder, "runs", "run-1")).filter((name) => name.includes(".bad"));
    expect(kept.map((name) => name.replace(/.*json/, ""))).toEqual([".bad", ".bad.1"]);
    expect(kept.map((name) => readFileSync(path.join(folder, "runs", "run-1", name), "utf8"))).toEqual(texts);
    await accepted(store, step(row));
    await store.close();
    expect((await open(folder)).recovered).toEqual([]);
  });

  it("that was set aside goes with the values at its position", async () => {
    const folder = newFolder();
    const store = await open(folder);
    await accepted(store, step(await accepted(store, creation())));
    await store.close();
    truncateSync(recordsOf(folder, "run-1").at(-1) ?? "", 900);
    asUnacknowledged(folder);
    const again = await open(folder);
    const row = await accepted(again, step((await again.read("run-1")) ?? expect.unreachable()));
    await accepted(again, outsideAct(row, { drop: { entries: [2], blobs: [] } }));
    expect(filesIn(folder).filter((name) => name.includes(".bad"))).toEqual([]);
  });

  it("that was removed is put back from its second name (D2)", async () => {
    const folder = newFolder();
    const store = await open(folder);
    const row = await accepted(store, step(await accepted(store, creation())));
    await store.close();
    const [, last = ""] = recordsOf(folder, "run-1");
    rmSync(last);
    rmSync(path.join(folder, "runs", "run-1", "run.json"));
    const again = await open(folder);
    expect(await again.read("run-1")).toEqual(row);
    expect((await everythingOf(again, "run-1")).entries).toHaveLength(2);
    const [{ file, problem } = expect.unreachable()] = again.recovered;
    expect([path.basename(file), problem]).toEqual([
      path.basename(last),
      "it was missing, and is there again from newest.json",
    ]);
    await again.close();
    expect((await open(folder)).recovered).toEqual([]);
  });

  it("that was removed with its second name waits for review (D2)", async () => {
    const folder = newFolder();
    const store = await open(folder);
    await accepted(store, step(await accepted(store, creation())));
    await store.close();
    rmSync(recordsOf(folder, "run-1")[1] ?? "");
    rmSync(path.join(folder, "runs", "run-1", "newest.json"));
    const again = await open(folder);
    await expect(again.read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
    await again.close();
    rmSync(path.join(folder, "runs", "run-1", "run.json"));
    await expect((await open(folder)).read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
  });
});

describe("a file that is missing", () => {
  /** Creates two runs of three records each, the first with blobs. */
  async function twoRuns(): Promise<string> {
    const folder = newFolder();
    const store = await open(folder);
    for (const id of ["one", "two"]) {
      let row = await accepted(store, creation({ run: { id }, blobs: [{ hash: "h1", data: "first" }] }));
      for (const _ of [2, 3]) row = await accepted(store, step(row));
      const { epoch, token } = row.claim;
      await store.renew([{ runId: id, epoch, token: token ?? "", ttlMs: 1 }]);
    }
    await store.close();
    return folder;
  }

  it("is noticed, whichever it is, and costs nothing but itself", async () => {
    const whole = await twoRuns();
    const files = filesIn(whole);
    expect(files).toHaveLength(2 * 6 + 4);
    for (const file of files) {
      const folder = newFolder();
      cpSync(whole, folder, { recursive: true });
      rmSync(path.join(folder, file));
      if (file === "store.json") {
        await expect(open(folder)).rejects.toMatchObject({ code: "HF-3006" });
        continue;
      }
      const store = await open(folder);
      const one = await everythingOf(store, "one");
      const two = await everythingOf(store, "two");
      const blobs = await Promise.all(["one", "two"].map((id) => store.blobs(id, ["h1"])));
      const found = [
        one.row?.seq,
        two.row?.seq,
        one.entries.length,
        two.entries.length,
        ...blobs.map((b) => b.size),
      ];
      const [, run, position] = /runs\/(\w+)\/(?:blobs|checkpoint_0*(\d))?/.exec(file) ?? [];
      const at = run === "one" ? 0 : 1;
      const expected = [3, 3, 3, 3, 1, 1];
      if (position === "1" || position === "2") expected[2 + at] = 2;
      if (file.includes("blobs")) expected[4 + at] = 0;
      expect(found, file).toEqual(expected);
      expect(
        store.recovered.map(({ runId }) => runId),
        file,
      ).toEqual(position === "3" ? [run] : []);
      await store.close();
    }
  });

  it("leaves a run without any record unread, and does not let it start anew", async () => {
    const folder = await twoRuns();
    for (const file of recordsOf(folder, "one")) rmSync(file);
    rmSync(path.join(folder, "runs", "one", "newest.json"));
    const store = await open(folder);
    for (const call of [
      store.read("one"),
      store.entries("one", { from: 1, limit: 1 }),
      store.blobs("one", ["h1"]),
    ])
      await expect(call).rejects.toMatchObject({ code: "HF-3010", detail: { run: "one" } });
    const results = await store.append([
      creation({ run: { id: "one" } }),
      creation({ run: { id: "three" } }),
    ]);
    expect(results).toEqual([{ ok: false, reason: "exists", row: null }, { ok: true }]);
    const { runs } = await store.list({ limit: 10 });
    expect(new Map(runs.map(({ id, damage }) => [id, damage !== undefined]))).toEqual(
      new Map([
        ["one", true],
        ["two", false],
        ["three", false],
      ]),
    );
  });
});

describe("damage elsewhere", () => {
  it("in the middle of a journal leaves a gap that is reported, and the rest of it readable", async () => {
    const folder = newFolder();
    const store = await open(folder);
    let row = await accepted(store, creation());
    for (let i = 0; i < 5; i++) row = await accepted(store, step(row));
    await store.close();
    const middle = recordsOf(folder, "run-1")[2] ?? "";
    writeFileSync(middle, readFileSync(middle, "utf8").replace("value", "Value"));
    const again = await open(folder);
    expect(await again.read("run-1")).toEqual(row);
    expect(again.recovered).toEqual([]);
    for (let i = 0; i < 2; i++) {
      const { entries } = await everythingOf(again, "run-1");
      expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 4, 5, 6]);
    }
    expect(await again.entries("run-1", { from: 2, limit: 2 })).toHaveLength(2);
    const file = path.relative(folder, middle);
    const problem = "its checksum does not match";
    expect(again.recovered).toEqual([{ runId: "run-1", file, problem, keptAs: null }]);
    expect(readFileSync(middle, "utf8")).toContain("Value");
  });

  it("in a fork's copied part leaves the whole fork unread: it came as one", async () => {
    const folder = newFolder();
    const store = await open(folder);
    await accepted(store, creation({ entries: [1, 2, 3].map((seq) => anEntry(seq)) }));
    await store.close();
    truncateSync(recordsOf(folder, "run-1")[2] ?? "", 10);
    const again = await open(folder);
    await expect(again.read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
    expect(recordsOf(folder, "run-1")).toHaveLength(3);
  });

  it("by a wrong name waits for review; files that are no records are left alone", async () => {
    const folder = newFolder();
    const store = await open(folder);
    await accepted(store, step(await accepted(store, creation())));
    await store.close();
    const run = path.join(folder, "runs", "run-1");
    const [first = "", last = ""] = recordsOf(folder, "run-1");
    renameSync(last, last.replace("00000002", "00000007"));
    cpSync(first, path.join(run, "checkpoint_first.json"));
    writeFileSync(path.join(run, "NOTES.md"), "mine");
    mkdirSync(path.join(folder, "runs", "not a run"));
    const again = await open(folder);
    await expect(again.read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
    expect(again.recovered.map(({ file, problem }) => `${path.basename(file)} ${problem}`).sort()).toEqual([
      "not a run it is not the folder of a run",
      expect.stringMatching(/^run-1 checkpoint_00000007_.*json: it belongs somewhere else\.$/),
    ]);
    expect(readFileSync(path.join(run, "NOTES.md"), "utf8")).toBe("mine");
  });

  it("to the list of renewed claims is reported, and claims end as their records say", async () => {
    const folder = newFolder();
    const store = await open(folder);
    const row = await accepted(store, creation());
    const { epoch, token } = row.claim;
    await store.renew([{ runId: "run-1", epoch, token: token ?? "", ttlMs: 9 * 3_600_000 }]);
    await store.close();
    truncateSync(path.join(folder, "claims.json"), 30);
    const again = await open(folder);
    expect(await again.read("run-1")).toEqual(row);
    expect(again.recovered.map(({ file }) => file)).toEqual(["claims.json"]);
  });

  it("to the store's identity is refused", async () => {
    const folder = newFolder();
    await (await open(folder)).close();
    const file = path.join(folder, "store.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace('"secret": "', '"secret": "x'));
    await expect(open(folder)).rejects.toMatchObject({ code: "HF-3006" });
    writeFileSync(file, seal({ version: "4.0" }));
    await expect(open(folder)).rejects.toMatchObject({
      code: "HF-3005",
      detail: { found: "4.0", known: "3.0" },
    });
    writeFileSync(file, text);
    await open(folder);
  });

  it("by a newer version's record is not set aside", async () => {
    const folder = newFolder();
    const store = await open(folder);
    await accepted(store, step(await accepted(store, creation())));
    await store.close();
    const last = recordsOf(folder, "run-1")[1] ?? "";
    const { checksum: _, ...body } = JSON.parse(readFileSync(last, "utf8"));
    writeFileSync(last, seal({ ...body, version: "2.0" }));
    const again = await open(folder);
    await expect(again.read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
    expect(recordsOf(folder, "run-1")).toHaveLength(2);
    await again.close();
    writeFileSync(last, seal({ ...body, version: "1.7" }));
    expect((await (await open(folder)).read("run-1"))?.seq).toBe(2);
  });

  it("by symbolic links is not followed", async () => {
    const folder = newFolder();
    const outside = newFolder();
    mkdirSync(outside);
    const store = await open(folder);
    for (const id of ["one", "two", "three"])
      await accepted(store, step(await accepted(store, creation({ run: { id } }))));
    await store.close();
    renameSync(path.join(folder, "runs", "one"), path.join(outside, "one"));
    symlinkSync(path.join(outside, "one"), path.join(folder, "runs", "one"));
    const last = recordsOf(folder, "two")[1] ?? "";
    renameSync(last, path.join(outside, "record.json"));
    symlinkSync(path.join(outside, "record.json"), last);
    symlinkSync(outside, path.join(folder, "runs", "three", "blobs"));
    const again = await open(folder);
    await expect(again.read("one")).rejects.toMatchObject({ code: "HF-3010" });
    await expect(again.read("two")).rejects.toMatchObject({ code: "HF-3010" });
    const three = (await again.read("three")) ?? expect.unreachable();
    const withBlob = step(three, { blobs: [{ hash: "h1", data: "first" }] });
    await expect(again.append([withBlob])).rejects.toMatchObject({ code: "HF-3004" });
    expect(readdirSync(outside).sort()).toEqual(["one", "record.json"]);
    expect(readdirSync(path.join(outside, "one"))).toHaveLength(4);
    expect(await again.read("three")).toEqual(three);
    const next = await accepted(again, step(three));
    renameSync(path.join(folder, "runs", "three"), path.join(outside, "three"));
    symlinkSync(path.join(outside, "three"), path.join(folder, "runs", "three"));
    await expect(again.append([step(next)])).rejects.toMatchObject({ code: "HF-3004" });
    await expect(again.read("three")).rejects.toMatchObject({ code: "HF-3010" });
  });
});
