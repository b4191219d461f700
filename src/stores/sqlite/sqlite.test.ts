import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { SqlHandle } from "../../core/sql.ts";
import type { Store } from "../../core/store/contract.ts";
import {
  accepted,
  creation,
  everythingOf,
  outsideAct,
  step,
  storeConformance,
} from "../../testing/conformance/index.ts";
import { isNetworkFs } from "../network-fs.ts";
import { acceptable, chooseDriver, type DriverName, loadDriver, type SqliteConnection } from "./driver.ts";
import { isBusy, storeError } from "./errors.ts";
import { openSqliteStore, type SqliteOptions } from "./index.ts";

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

const root = mkdtempSync(path.join(tmpdir(), "holdfast-sqlite-"));
const mounted: string[] = [];
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;
afterAll(() => {
  for (const folder of mounted) run("umount", "--lazy", folder);
  rmSync(root, { recursive: true, force: true });
});

let count = 0;
const newFile = (): string => path.join(root, String(++count), "runs.db");

const opened: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function open(options: SqliteOptions = {}): Promise<Store> {
  const store = await openSqliteStore({ file: newFile(), ...options });
  opened.push(store);
  return store;
}

/** A connection independent of Holdfast. */
async function connect(file: string): Promise<SqliteConnection> {
  const connection = (await chooseDriver("auto")).connect(file);
  let isOpen = true;
  const close = () => {
    if (isOpen) connection.close();
    isOpen = false;
  };
  opened.push({ close });
  return { ...connection, close };
}

const DRIVERS: readonly DriverName[] = ["node", "photostructure", "better-sqlite3"];
for (const name of DRIVERS) {
  const driver = await loadDriver(name);
  if (typeof driver === "string") {
    it.skip(`the sqlite store on ${name} (skipped: ${driver})`, () => undefined);
    continue;
  }
  if (!acceptable(driver.version)) {
    it("refuses a SQLite that is too old", async () => {
      await expect(openSqliteStore({ file: newFile(), driver: name })).rejects.toMatchObject({
        code: "HF-3007",
      });
    });
    continue;
  }
  let file = "";
  storeConformance(
    {
      name: `sqlite (${name} ${driver.version})`,
      open: () => {
        file = newFile();
        return openSqliteStore({ file, driver: name, clock });
      },
      reopen: () => openSqliteStore({ file, driver: name, clock }),
      clock,
    },
    { describe, it },
  );
}

describe("opening a SQLite store", () => {
  it("makes a private file in a private folder", async () => {
    const file = path.join(root, "deep", "er", "runs.db");
    const store = await open({ file });
    await accepted(store, creation());
    const modes = [file, `${file}-wal`, `${file}-shm`].map((name) => statSync(name).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600, 0o600]);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(store.capabilities).toMatchObject({ durability: "power-loss", transactions: "sync" });
  });

  it("refuses options it cannot honour", async () => {
    for (const options of [{ file: ":memory:" }, { file: "" }, { busyMs: -1 }, { busyMs: Number.NaN }]) {
      await expect(open(options)).rejects.toMatchObject({ code: "HF-1003" });
    }
    await expect(open({ driver: "other" as DriverName })).rejects.toMatchObject({ code: "HF-1003" });
  });

  it("lets any number of openers of a new file agree on one schema and one identity (S3-26)", async () => {
    const file = newFile();
    const stores = await Promise.all(Array.from({ length: 20 }, () => open({ file })));
    const identities = await Promise.all(stores.map((store) => store.identity()));
    expect(new Set(identities.map(({ secret }) => secret)).size).toBe(1);
    const db = await connect(file);
    expect(db.prepare("PRAGMA user_version").all()).toEqual([[7]]);
    expect(db.prepare("PRAGMA auto_vacuum").all()).toEqual([[2]]);
    expect(db.prepare("PRAGMA page_size").all()).toEqual([[16_384]]);
    expect(db.prepare("PRAGMA integrity_check").all()).toEqual([["ok"]]);
  });

  it("waits while another process is making the file", async () => {
    const file = newFile();
    await open();
    const other = await connect(path.join(root, "busy.db"));
    other.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
    const pending = open({ file: path.join(root, "busy.db") });
    other.exec("ROLLBACK");
    await accepted(await pending, creation());
    expect(existsSync(file)).toBe(false);
  });

  it("does not touch a file of a newer version (S4-05, S4-24)", async () => {
    const file = newFile();
    await (await open({ file })).close();
    const db = await connect(file);
    db.exec("PRAGMA user_version = 99");
    // Some drivers release a file only at garbage collection. By then nothing must be left to move into it.
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
    const before = readFileSync(file);
    await expect(open({ file })).rejects.toMatchObject({ code: "HF-3005", detail: { found: 99, known: 7 } });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("does not touch the database of another program", async () => {
    const changes = ["CREATE TABLE t (a)", "PRAGMA user_version = 3", "PRAGMA application_id = 7"];
    for (const [i, change] of changes.entries()) {
      const file = path.join(root, `foreign-${i}.db`);
      const db = await connect(file);
      db.exec(change);
      db.close();
      const before = readFileSync(file);
      await expect(open({ file })).rejects.toMatchObject({ code: "HF-3006" });
      expect(readFileSync(file).equals(before)).toBe(true);
    }
  });

  it("does not touch a file that is no database", async () => {
    const file = path.join(root, "letter.txt");
    writeFileSync(file, "Dear diary, ".repeat(1000));
    await expect(open({ file })).rejects.toMatchObject({ code: "HF-3006" });
    expect(readFileSync(file, "utf8")).toBe("Dear diary, ".repeat(1000));
  });

  it("takes an empty file for a new one", async () => {
    const file = path.join(root, "empty.db");
    writeFileSync(file, "");
    await accepted(await open({ file }), creation());
  });

  it("tells a folder in place of the file", async () => {
    await expect(open({ file: root })).rejects.toMatchObject({ code: "HF-3006", why: "It is a folder." });
  });
});

describe("the drivers", () => {
  it("are chosen by whether their SQLite shares a WAL file safely", () => {
    const good = ["3.51.3", "3.51.10", "3.53.0", "4.0.0"];
    const bad = ["3.51.2", "3.50.9", "3.9.99", "2.99.99", "3.52.0"];
    expect(good.filter((version) => !acceptable(version))).toEqual([]);
    expect(bad.filter(acceptable)).toEqual([]);
  });

  it("give one clear error where none is there", async () => {
    const results = await Promise.all(DRIVERS.map(async (name) => [name, await loadDriver(name)] as const));
    for (const [name] of results.filter(([, driver]) => typeof driver === "string")) {
      await expect(chooseDriver(name)).rejects.toMatchObject({ code: "HF-3008" });
    }
    await expect(chooseDriver("auto")).resolves.toHaveProperty("version");
  });
});

describe("failures of SQLite", () => {
  const codes = (causes: readonly unknown[]) => causes.map((cause) => storeError(cause, "f.db").code);

  it("become errors a person can act on, whichever driver reports them", () => {
    expect(codes([{ errcode: 13 }, { code: "SQLITE_FULL" }, { code: "ENOSPC" }])).toEqual(
      Array(3).fill("HF-3003"),
    );
    const readOnly = [{ errcode: 8 }, { errcode: 8 | (4 << 8) }, { code: "SQLITE_READONLY_DBMOVED" }];
    expect(codes(readOnly)).toEqual(Array(3).fill("HF-3004"));
    expect(codes([{ errcode: 14 }, { code: "EACCES" }, { code: "EROFS" }])).toEqual(Array(3).fill("HF-3004"));
    expect(codes([{ errcode: 11 }, { errcode: 26 }, { code: "SQLITE_NOTADB" }])).toEqual([
      "HF-3014",
      "HF-3006",
      "HF-3006",
    ]);
    const ioErrors = [{ errcode: 10 | (4 << 8) }, { code: "SQLITE_IOERR_FSYNC" }, new Error("odd"), null];
    expect(codes(ioErrors)).toEqual(Array(4).fill("HF-3013"));
  });

  it("are known by their text where a driver leaves out the code", () => {
    const failure = (text: string) => Object.assign(new Error(text), { code: "ERR_SQLITE_ERROR" });
    expect(isBusy(failure("database is locked"))).toBe(true);
    const texts = ["database or disk is full", "database disk image is malformed", "no such table: t"];
    expect(codes(texts.map(failure))).toEqual(["HF-3003", "HF-3014", "HF-3013"]);
  });

  it("tell a lock from everything else", () => {
    const busy = [
      { errcode: 5 },
      { errcode: 261 },
      { errcode: 6 },
      { errcode: 15 },
      { code: "SQLITE_BUSY_SNAPSHOT" },
    ];
    expect(busy.every(isBusy)).toBe(true);
    expect([{ errcode: 10 }, new Error("database is locked"), undefined].some(isBusy)).toBe(false);
  });
});

describe("several connections on one file", () => {
  it("append side by side without a lock error", async () => {
    const file = newFile();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open({ file })));
    await Promise.all(
      stores.map(async (store, i) => {
        let row = await accepted(store, creation({ run: { id: `run-${i}` } }));
        for (let k = 0; k < 20; k++) row = await accepted(store, step(row));
      }),
    );
    const { runs } = await (stores[0] as Store).list({ limit: 100 });
    expect(runs.map(({ seq }) => seq)).toEqual(Array(8).fill(21));
  });

  it("wait for a lock and go on when it is free", async () => {
    const file = newFile();
    const store = await open({ file });
    const row = await accepted(store, creation());
    const other = await connect(file);
    other.exec("BEGIN IMMEDIATE");
    const pending = store.append([step(row)]);
    expect((await store.read(row.id))?.seq).toBe(1);
    other.exec("COMMIT");
    expect(await pending).toEqual([{ ok: true }]);
  });

  it("give up on a lock after busyMs, with nothing written", async () => {
    const file = newFile();
    const store = await open({ file, busyMs: 0 });
    const row = await accepted(store, creation());
    const other = await connect(file);
    other.exec("BEGIN IMMEDIATE");
    await expect(store.append([step(row)])).rejects.toMatchObject({
      code: "HF-3009",
      detail: { file, ms: 0 },
    });
    other.exec("COMMIT");
    expect(await store.read(row.id)).toEqual(row);
    await accepted(store, step(row));
  });

  it("stop waiting when the store is closed", async () => {
    const file = newFile();
    const store = await open({ file });
    const other = await connect(file);
    other.exec("BEGIN IMMEDIATE");
    const pending = store.append([creation()]);
    await store.close();
    await expect(pending).rejects.toMatchObject({ code: "HF-3012" });
  });

  it("keep the WAL bounded once a long read is over", async () => {
    const file = newFile();
    const store = await open({ file });
    let row = await accepted(store, creation());
    const reader = await connect(file);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM runs").all();
    const data = "x".repeat(1024 * 1024);
    const grow = async () => {
      row = await accepted(store, step(row, { entry: { data } }));
      return statSync(`${file}-wal`).size;
    };
    let size = 0;
    for (let i = 0; i < 24; i++) size = await grow();
    expect(size).toBeGreaterThan(16 * 1024 * 1024);
    reader.exec("COMMIT");
    for (let i = 0; i < 8; i++) size = await grow();
    expect(size).toBeLessThanOrEqual(16 * 1024 * 1024);
  });
});

describe("a store that loses its file", () => {
  it("refuses to write to one that was moved, and goes on when it is back", async () => {
    const file = newFile();
    const store = await open({ file });
    const row = await accepted(store, creation());
    renameSync(file, `${file}.away`);
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3013" });
    await expect(store.read(row.id)).rejects.toMatchObject({ code: "HF-3004" });
    expect(existsSync(file)).toBe(false);
    renameSync(`${file}.away`, file);
    expect(await store.read(row.id)).toEqual(row);
    await accepted(store, step(row));
  });

  it("refuses to write when the WAL was deleted, and keeps what was acknowledged", async () => {
    const file = newFile();
    const store = await open({ file });
    const row = await accepted(store, creation());
    rmSync(`${file}-wal`);
    await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3013" });
    expect(await store.read(row.id)).toEqual(row);
    await accepted(store, step(row));
  });

  it.each([
    "UPDATE meta SET key = 'hncarnation' WHERE key = 'incarnation'",
    "UPDATE meta SET key = 'recret' WHERE key = 'secret'",
    "UPDATE meta SET value = '' WHERE key = 'secret'",
    "DELETE FROM meta",
  ])("is not opened without knowing who it is, or as somebody else: %s", async (damage) => {
    const file = newFile();
    await (await open({ file })).close();
    const db = new DatabaseSync(file);
    db.exec(damage);
    db.close();
    await expect(open({ file })).rejects.toMatchObject({ code: "HF-3014" });
  });

  it("is not opened for reading only because of one bit in its header (D2)", async () => {
    const file = newFile();
    await (await open({ file })).close();
    const bytes = readFileSync(file);
    bytes[18] = 3;
    writeFileSync(file, bytes);
    await expect(open({ file })).rejects.toMatchObject({ code: "HF-3014" });
  });

  it("says so when the file is damaged", async () => {
    const file = newFile();
    const store = await open({ file });
    await accepted(store, creation());
    await store.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, 16_384));
    const damaged = async () => everythingOf(await open({ file }), "run-1");
    await expect(damaged()).rejects.toMatchObject({ code: "HF-3014" });
  });
});

describe("transactions on SQLite", () => {
  const never = () => expect.unreachable();
  const withTable = async (): Promise<Store & Required<Pick<Store, "transaction">>> => {
    const store = (await open()) as Store & Required<Pick<Store, "transaction">>;
    await store.transaction(
      (sql) => sql.run("CREATE TABLE t (k PRIMARY KEY, v)"),
      () => creation(),
    );
    return store;
  };

  it("bind values of every kind", async () => {
    const store = await withTable();
    const row = (await store.read("run-1")) ?? never();
    const values = ["text", 1.5, 2n ** 40n, null, new Uint8Array([1, 2])] as const;
    const work = (sql: SqlHandle) => {
      for (const [k, value] of values.entries()) sql.run("INSERT INTO t VALUES (?, ?)", k, value);
      return sql.all("SELECT v FROM t WHERE k >= ? ORDER BY k", 0).map((found) => found["v"]);
    };
    const { value } = await store.transaction(work, () => step(row));
    expect(value.slice(0, 4)).toEqual(["text", 1.5, 2 ** 40, null]);
    expect(new Uint8Array(value[4] as Uint8Array)).toEqual(new Uint8Array([1, 2]));
  });

  it("refuse statements that would end them", async () => {
    const store = await withTable();
    for (const sql of [
      "COMMIT",
      " -- x\n rollback",
      "/* a */ END",
      "savepoint s",
      "PRAGMA user_version = 7",
    ]) {
      await expect(store.transaction((handle) => handle.run(sql), never)).rejects.toMatchObject({
        code: "HF-1003",
      });
    }
  });

  it("are lost as a whole when a statement has rolled them back, even if the caller goes on", async () => {
    const store = await withTable();
    const row = (await store.read("run-1")) ?? never();
    const work = (sql: SqlHandle) => {
      sql.run("INSERT INTO t VALUES (1, 1)");
      try {
        sql.run("INSERT OR ROLLBACK INTO t VALUES (1, 2)");
      } catch {
        // As a careless caller would.
      }
    };
    await expect(store.transaction(work, () => step(row))).rejects.toMatchObject({ code: "HF-3013" });
    expect(await store.read("run-1")).toEqual(row);
  });

  it("close their handle", async () => {
    const store = await withTable();
    const row = (await store.read("run-1")) ?? never();
    let kept: SqlHandle | undefined;
    await store.transaction(
      (sql) => {
        kept = sql;
      },
      () => outsideAct(row),
    );
    expect(() => kept?.run("INSERT INTO t VALUES (1, 1)")).toThrow(
      expect.objectContaining({ code: "HF-1009" }),
    );
  });
});

describe("network file systems", () => {
  it("are known by their type, signed or not", () => {
    const network = [0x6969, 0xff534d42, 0xff534d42 | 0, 0xfe534d42, 0x517b, 0x65735546];
    const local = [0xef53, 0x01021994, 0x9123683e, 0x58465342, 0x794c7630, 0];
    expect(network.every(isNetworkFs)).toBe(true);
    expect(local.some(isNetworkFs)).toBe(false);
  });
});

/** Mounts a file system in memory, where this process may. */
const mountTmpfs = (name: string, options: string): string | undefined => {
  const folder = path.join(root, name);
  mkdirSync(folder);
  if (!run("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder)) return undefined;
  mounted.push(folder);
  return folder;
};
const small = mountTmpfs("small", "size=2m");
const readOnly = mountTmpfs("read-only", "size=1m,ro");
const whyNot = small && readOnly ? "" : " (skipped: this process may not mount a file system)";

describe.skipIf(whyNot !== "")(`a disk${whyNot}`, () => {
  it("that is full refuses writes, keeps what was acknowledged, and is written again once it has room", async () => {
    const ballast = path.join(small ?? "", "ballast");
    writeFileSync(ballast, Buffer.alloc(512 * 1024));
    const store = await open({ file: path.join(small ?? "", "runs.db") });
    let row = await accepted(store, creation());
    const data = "x".repeat(32 * 1024);
    const fill = async () => {
      for (let i = 0; i < 100; i++) row = await accepted(store, step(row, { entry: { data } }));
    };
    await expect(fill()).rejects.toMatchObject({ code: "HF-3003" });
    expect(row.seq).toBeGreaterThan(5);
    expect(await store.read(row.id)).toEqual(row);
    expect((await everythingOf(store, row.id)).entries).toHaveLength(row.seq);
    rmSync(ballast);
    await accepted(store, step(row, { entry: { data } }));
  });

  it("that is read-only is told from one that is broken", async () => {
    const file = path.join(readOnly ?? "", "runs.db");
    await expect(open({ file })).rejects.toMatchObject({ code: "HF-3004" });
    await expect(open({ file: path.join(file, "deeper.db") })).rejects.toMatchObject({ code: "HF-3004" });
  });
});
