import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { filesIn, useFolders } from "../../../test/support/folders.ts";
import { buildEntry } from "../../core/journal/journal.ts";
import type { Store } from "../../core/store/contract.ts";
import {
  accepted,
  anEntry,
  creation,
  everythingOf,
  outsideAct,
  step,
  storeConformance,
} from "../../testing/conformance/index.ts";
import { type FileOptions, type FileStore, openFileStore } from "./index.ts";
import { idOf, parseRecordName, recordName, safeName } from "./names.ts";
import { openFolder } from "./open.ts";
import { seal, unseal } from "./sealed.ts";

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

const newFolder = useFolders("file");
const opened: Store[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function open(options: Partial<FileOptions> = {}): Promise<FileStore & { readonly folder: string }> {
  const folder = options.folder ?? newFolder();
  const store = await openFileStore({ clock, ...options, folder });
  opened.push(store);
  return Object.assign(store, { folder });
}

let last = "";
storeConformance(
  {
    name: "file",
    open: () => {
      last = newFolder();
      return openFileStore({ folder: last, clock });
    },
    reopen: () => openFileStore({ folder: last, clock }),
    clock,
  },
  { describe, it },
);

describe("opening a files store", () => {
  it("makes private files in private folders", async () => {
    const store = await open({ folder: path.join(newFolder(), "deep", "er") });
    const row = await accepted(store, creation({ blobs: [{ hash: "h1", data: "first" }] }));
    await accepted(store, step(row, { blobs: [{ hash: "h2", data: "second" }] }));
    const { claim } = row;
    await store.renew([{ runId: row.id, epoch: claim.epoch, token: claim.token ?? "", ttlMs: 1000 }]);
    await store.close();
    const names = readdirSync(store.folder, { recursive: true, encoding: "utf8" });
    const modes = names.map((name) => {
      const stat = statSync(path.join(store.folder, name));
      return [name, stat.isFile() ? "file" : "folder", (stat.mode & 0o777).toString(8)];
    });
    expect(modes.filter(([, kind, mode]) => mode !== (kind === "file" ? "600" : "700"))).toEqual([]);
    expect(names.length).toBeGreaterThan(10);
    expect(store.capabilities).toMatchObject({ durability: "power-loss", transactions: false });
  });

  it("refuses what is not the name of a folder", async () => {
    for (const folder of ["", "a\0b", undefined, 7]) {
      const options = { folder } as FileOptions;
      await expect(openFileStore(options)).rejects.toMatchObject({ code: "HF-1003" });
    }
    const file = newFolder();
    writeFileSync(file, "");
    await expect(open({ folder: file })).rejects.toMatchObject({ code: "HF-3004" });
    await expect(open({ folder: path.join(file, "deeper") })).rejects.toMatchObject({ code: "HF-3004" });
  });

  it("refuses a network file system, unless it is forced", async () => {
    const folder = newFolder();
    const fileSystem = async () => 0x6969;
    await expect(openFolder({ folder }, { fileSystem })).rejects.toMatchObject({ code: "HF-1003" });
    expect(readdirSync(folder)).toEqual([]);
    await (await openFolder({ folder, force: true }, { fileSystem })).close();
  });

  it("removes what a crash has left half done", async () => {
    const store = await open();
    await accepted(store, creation());
    await store.close();
    const tmp = path.join(store.folder, "tmp");
    writeFileSync(path.join(tmp, "1"), '{"ver');
    mkdirSync(path.join(tmp, "2", "blobs"), { recursive: true });
    writeFileSync(path.join(tmp, "2", "checkpoint_00000001_x.json"), "");
    const outside = newFolder();
    mkdirSync(outside);
    writeFileSync(path.join(outside, "mine"), "");
    symlinkSync(outside, path.join(tmp, "3"));
    const again = await open({ folder: store.folder });
    expect(readdirSync(tmp)).toEqual([]);
    expect(existsSync(path.join(outside, "mine"))).toBe(true);
    expect([again.recovered, (await again.list({ limit: 9 })).runs.length]).toEqual([[], 1]);
  });

  it("stays where it was opened when the working directory changes", async () => {
    const parent = newFolder();
    mkdirSync(parent);
    const before = process.cwd;
    process.cwd = () => parent;
    const folder = "relative";
    const store = await openFileStore({ folder: path.join(parent, folder), clock });
    process.cwd = () => newFolder();
    await accepted(store, creation());
    process.cwd = before;
    await store.close();
    expect(existsSync(path.join(parent, folder, "runs", "run-1", "run.json"))).toBe(true);
  });

  it("does not take a folder for its own that is a link to somewhere else", async () => {
    const store = await open();
    await store.close();
    const outside = newFolder();
    mkdirSync(outside);
    rmSync(path.join(store.folder, "tmp"), { recursive: true });
    symlinkSync(outside, path.join(store.folder, "tmp"));
    await expect(open({ folder: store.folder })).rejects.toMatchObject({ code: "HF-3004" });
  });

  it("tells the logger what it found", async () => {
    const store = await open();
    await accepted(store, step(await accepted(store, creation())));
    await store.close();
    const files = filesIn(store.folder).filter((name) => name.includes("checkpoint_"));
    writeFileSync(path.join(store.folder, files[1] ?? ""), "");
    const warnings: unknown[] = [];
    const nothing = () => undefined;
    const warn = (message: string, fields?: object) => warnings.push({ message, ...fields });
    const logger = { debug: nothing, info: nothing, warn, error: nothing };
    const again = await open({ folder: store.folder, logger });
    expect(warnings).toEqual([
      {
        message: "a file of the store was changed from outside",
        runId: "run-1",
        file: path.dirname(files[1] ?? ""),
        problem: `${path.basename(files[1] ?? "")}: it is cut short.`,
        keptAs: null,
      },
    ]);
    expect(again.recovered).toHaveLength(1);
  });

  it("takes no more than the newest record of each run to open", { timeout: 60_000 }, async () => {
    const store = await open();
    const ids = Array.from({ length: 1000 }, (_, i) => `run-${i}`);
    await store.append(ids.map((id) => creation({ run: { id } })));
    const first = (await store.read("run-0")) ?? expect.unreachable();
    for (let i = 0; i < 2; i++)
      await store.append(ids.map((id) => step({ ...first, id, lineage: id, seq: 1 + i })));
    await store.close();
    for (const name of filesIn(store.folder))
      if (/checkpoint_0000000[12]_/.test(name)) writeFileSync(path.join(store.folder, name), "unread");
    const again = await open({ folder: store.folder });
    expect(again.recovered).toEqual([]);
    expect((await again.list({ limit: 1000 })).runs.every(({ seq }) => seq === 3)).toBe(true);
  });
});

describe("the files", () => {
  it("are records that people can read, with the exact texts beside", async () => {
    clock.time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    const store = await open();
    const events = [
      { kind: "step_completed", step: "pay", meta: { attempt: 1 }, data: '{"paid":true}' },
      { kind: "note", step: "", meta: {}, data: JSON.stringify("x".repeat(2000)) },
    ];
    const context = { prev: "", seq: 1, at: clock.time, epoch: 1 };
    const { entry } = buildEntry(events as never, context);
    await accepted(store, creation({ entry }));
    await store.close();
    const file = path.join(store.folder, "runs/run-1/checkpoint_00000001_2026-01-02T03-04-05-678Z.json");
    const text = readFileSync(file, "utf8");
    const record = JSON.parse(text);
    expect(record).toMatchObject({
      version: "1.1",
      checkpoint_id: "run-1@1",
      workflow_id: "run-1",
      timestamp: "2026-01-02T03:04:05.678Z",
      seq: 1,
      count: 2,
      status: "running",
      events: [
        { event: "step_completed", step: "pay", about: { attempt: 1 }, value: { paid: true } },
        { event: "note", value: "(2002 characters)" },
      ],
      run: { id: "run-1", seq: 2, claim: { owner: "ada", epoch: 1 } },
      head: entry.head,
      data: entry.data,
      checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(text).toContain('\n  "checkpoint_id": "run-1@1",\n');
    expect(text.endsWith('"\n}\n')).toBe(true);
    const copy = JSON.parse(readFileSync(path.join(store.folder, "runs/run-1/run.json"), "utf8"));
    expect(copy.run).toEqual(record.run);
  });

  it("show no value that was dropped", async () => {
    const store = await open();
    const event = { kind: "note", step: "", meta: {}, data: '"secret"' };
    const { entry } = buildEntry([event] as never, { prev: "", seq: 1, at: 1, epoch: 1 });
    const row = await accepted(store, creation({ entry, blobs: [{ hash: "h1", data: "secret" }] }));
    await accepted(store, outsideAct(row, { drop: { entries: [1], blobs: ["h1"] } }));
    await store.close();
    const texts = filesIn(store.folder).map((name) => readFileSync(path.join(store.folder, name), "utf8"));
    expect(texts.filter((text) => text.includes('"secret"') && !text.includes("incarnation"))).toEqual([]);
    expect(texts.filter((text) => text.includes('"value": "(dropped)"'))).toHaveLength(1);
    expect(filesIn(store.folder).filter((name) => name.includes("blobs"))).toEqual([]);
  });

  it("keep key material and locks out of Git, and Git's hands off line ends", async () => {
    const store = await open();
    const read = (name: string) => readFileSync(path.join(store.folder, name), "utf8");
    expect(read(".gitignore").split("\n")).toEqual(
      expect.arrayContaining(["/store.json", "/lock.json", "/tmp/"]),
    );
    expect(read(".gitattributes")).toBe("* -text\n");
  });

  it("lose a race for a name as a conflict, and the store reads what is there", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const other = await open();
    await accepted(other, creation());
    const taken = step(row, { entry: { head: "theirs" } });
    await accepted(other, taken);
    for (const name of filesIn(path.join(other.folder, "runs/run-1"))) {
      if (!name.startsWith("checkpoint_00000002")) continue;
      const text = readFileSync(path.join(other.folder, "runs/run-1", name));
      writeFileSync(path.join(store.folder, "runs/run-1", name), text);
    }
    const [result] = await store.append([step(row, { entry: { head: "mine" } })]);
    expect(result).toMatchObject({ ok: false, reason: "conflict", row: { seq: 2 } });
    expect((await everythingOf(store, "run-1")).entries[1]?.head).toBe("theirs");
  });

  it("may be deleted by hand while nobody uses them", async () => {
    const store = await open();
    await accepted(store, creation());
    await accepted(store, creation({ run: { id: "other" } }));
    await store.close();
    rmSync(path.join(store.folder, "runs", "run-1"), { recursive: true });
    const again = await open({ folder: store.folder });
    expect((await again.list({ limit: 10 })).runs.map(({ id }) => id)).toEqual(["other"]);
    await accepted(again, creation());
  });

  it("that vanish under the store are an error, not a loss in silence, and hold back no other run (D9)", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const other = await accepted(store, creation({ run: { id: "run-2" } }));
    rmSync(path.join(store.folder, "runs", "run-1"), { recursive: true });
    expect(await store.append([step(row), step(other)])).toEqual([
      { ok: false, reason: "damaged", row: null },
      { ok: true },
    ]);
    await expect(store.read("run-1")).rejects.toMatchObject({ code: "HF-3010" });
    expect(store.recovered.map(({ problem }) => problem)).toEqual(["Its folder is gone."]);
  });

  it.skipIf(process.getuid?.() === 0)("that may not be written are told from broken ones", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    chmodSync(path.join(store.folder, "runs", "run-1"), 0o500);
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3004" });
    chmodSync(path.join(store.folder, "runs", "run-1"), 0o700);
    await accepted(store, step(row));
  });
});

describe("renewed claims", () => {
  it("outlive the store that renewed them, until the next record says otherwise", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const { epoch, token } = row.claim;
    const renewal = { runId: "run-1", epoch, token: token ?? "", ttlMs: 50_000_000 };
    const [renewed] = await store.renew([renewal]);
    await store.close();
    const again = await open({ folder: store.folder });
    expect(await again.read("run-1")).toEqual(renewed);
    const after = await accepted(again, step(row, { claim: { kind: "release" } }));
    await again.close();
    const last = await open({ folder: store.folder });
    expect(await last.read("run-1")).toEqual(after);
    expect(after.claim.until).toBe(0);
  });

  it("are kept by an act from outside that leaves the claim alone", async () => {
    const store = await open();
    const row = await accepted(store, creation());
    const { epoch, token } = row.claim;
    await store.renew([{ runId: "run-1", epoch, token: token ?? "", ttlMs: 50_000_000 }]);
    const after = await accepted(store, outsideAct(row));
    await store.close();
    const again = await open({ folder: store.folder });
    expect(await again.read("run-1")).toEqual(after);
    expect(after.claim.until).toBe(clock.time + 50_000_000);
  });
});

describe("names", () => {
  it("tell ids apart where the file system does not tell capitals apart", () => {
    const ids = ["run", "RUN", "Run", "rUn", "a".repeat(64), "A".repeat(64), "con", "CON", "_", "-"];
    const names = ids.map(safeName);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(ids.length);
    expect(names.map(idOf)).toEqual(ids);
    expect(names.slice(0, 3)).toEqual(["run", "RUN~7", "Run~1"]);
    expect(names[6]).toBe("con~0");
  });

  it("come from ids only: anything else becomes a digest", () => {
    for (const text of ["", "..", "../x", "a/b", "a\\b", "a\0", "x".repeat(65), "é", "a~0", "C:"])
      expect(safeName(text)).toMatch(/^~[0-9a-f]{64}$/);
    for (const name of ["..", "run~7", "RUN", "con", "run~", "~0", "a b", safeName("..")])
      expect(idOf(name)).toBeUndefined();
  });

  it("of runs that are no ids are refused, and reach no path", async () => {
    const store = await open();
    for (const id of ["../../escape", "..", "a/b", "", "a\0b"]) {
      await expect(store.append([creation({ run: { id } })])).rejects.toMatchObject({ code: "HF-1004" });
      expect(await store.read(id)).toBeNull();
      expect(await store.entries(id, { from: 1, limit: 1 })).toEqual([]);
    }
    expect(existsSync(path.join(store.folder, "..", "escape"))).toBe(false);
    const row = await accepted(store, creation({ blobs: [{ hash: "../../../escape", data: "x" }] }));
    expect((await store.blobs(row.id, ["../../../escape", ".."])).size).toBe(1);
    expect(filesIn(store.folder).filter((name) => name.includes("escape"))).toEqual([]);
  });

  it("of records are in order of position, also past eight digits", () => {
    const name = recordName(12, "2026-01-02T03:04:05.678Z");
    expect(name).toBe("checkpoint_00000012_2026-01-02T03-04-05-678Z.json");
    expect(parseRecordName(name)).toEqual({ name, seq: 12 });
    const far = recordName(9_007_199_254_740_991, "2026-01-02T03:04:05.678Z");
    expect(parseRecordName(far)).toMatchObject({ seq: 9_007_199_254_740_991 });
    expect(parseRecordName("checkpoint_12.json")).toBe("misnamed");
    expect([`${name}.bad`, "run.json", "checkpoint_00000012_x"].map(parseRecordName)).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("of a seal: any change to a sealed text is noticed", () => {
    const sealed = Buffer.from(seal({ a: 1, b: "é" }));
    expect(unseal(sealed)).toMatchObject({ body: { a: 1, b: "é" } });
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect(unseal(changed)).toHaveProperty("problem");
      expect(unseal(sealed.subarray(0, i))).toHaveProperty("problem");
    }
  });
});

describe("a batch", () => {
  it("carries a drop out before the run's next append", async () => {
    const store = await open();
    const row = await accepted(store, creation({ entries: [anEntry(1), anEntry(2)] }));
    const drop = { entries: [1, 3], blobs: [] };
    const results = await store.append([
      step(row, { drop: { entries: [2], blobs: [] } }),
      step({ ...row, seq: 3 }, { drop }),
      step({ ...row, seq: 4 }),
    ]);
    expect(results).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    const { entries } = await everythingOf(store, "run-1");
    expect(entries.map(({ data }) => data)).toEqual([null, null, null, '{"value":4}', '{"value":5}']);
  });
});
