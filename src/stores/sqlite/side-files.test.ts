import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import type { Store } from "../../core/store/contract.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { Connection } from "./connection.ts";
import { chooseDriver, type SqliteConnection, type SqliteDriver } from "./driver.ts";
import { openSqliteStore } from "./index.ts";
import { lookAgain, lookAt, standingOf } from "./side-files.ts";

const newFolder = useFolders("sqlite-sides");
const require = createRequire(import.meta.url);
const isLinux = process.platform === "linux";

function newFile(): string {
  const folder = newFolder();
  mkdirSync(folder);
  return path.join(folder, "runs.db");
}

const DRIVER = `const { DatabaseSync } = process.getBuiltinModule?.("node:sqlite") ?? require("@photostructure/sqlite");`;

/** Runs code on the file in another process, which ends by closing the file or by dying. */
function elsewhere(file: string, code: string): string {
  const script = `${DRIVER} const db = new DatabaseSync(${JSON.stringify(file)}); ${code}`;
  return execFileSync(process.execPath, ["--no-warnings", "-e", script], { encoding: "utf8" }).trim();
}

const write = (file: string, end = "db.close()"): string =>
  elsewhere(file, `db.exec("CREATE TABLE IF NOT EXISTS mine (x); INSERT INTO mine VALUES (1)"); ${end};`);
const mine = (file: string): string =>
  elsewhere(file, `console.log(db.prepare("SELECT count(*) AS n FROM mine").all()[0].n)`);
const runs = (file: string): string =>
  elsewhere(file, `console.log(db.prepare("SELECT id || ' ' || seq AS at FROM runs").all()[0]?.at)`);
const integrity = (file: string): string =>
  elsewhere(file, `console.log(db.prepare("PRAGMA integrity_check").all()[0].integrity_check)`);

const removeSides = (file: string): void => {
  for (const side of ["-wal", "-shm"]) rmSync(file + side, { force: true });
};

/** Another process that keeps the file open and writes a row on request. */
function neighbour(file: string) {
  const script = `${DRIVER} const db = new DatabaseSync(${JSON.stringify(file)});
    db.exec("PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS mine (x)");
    process.stdin.on("data", () => { db.exec("INSERT INTO mine VALUES (1)"); console.log("done"); }).on("end", () => db.close());`;
  const child = spawn(process.execPath, ["--no-warnings", "-e", script], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const told = async (act: () => void, event: string, from: NodeJS.EventEmitter): Promise<void> => {
    const done = once(from, event);
    act();
    await done;
  };
  return {
    write: () => told(() => child.stdin.write("w"), "data", child.stdout),
    end: () => told(() => child.stdin.end(), "exit", child),
  };
}

/** The store's files that this process has open. */
const openFiles = (file: string): string[] =>
  readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      return target.startsWith(file) ? [target] : [];
    } catch {
      return [];
    }
  });

/** The number of locks that this process holds on the main file. */
const locksOn = (file: string): number =>
  readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `)).length;

/** Writes until it fails; returns how far writes were acknowledged. */
async function writeOn(store: Store, seq: number, times: number): Promise<{ seq: number; code?: string }> {
  try {
    let row = await store.read("run-1");
    for (let i = 0; i < times && row; i++) [row, seq] = [await accepted(store, step(row)), row.seq + 1];
    return { seq };
  } catch (error) {
    return { seq, code: (error as { code: string }).code };
  }
}

/** A second copy of the library in this process, unaware of the first one's locks. */
function secondLibrary(folder: string): new (file: string) => { exec(sql: string): void; close(): void } {
  const own = path.dirname(require.resolve("@photostructure/sqlite/package.json"));
  const from = path.join(own, "prebuilds", `${process.platform}-${process.arch}`);
  const [name = ""] = readdirSync(from).filter((one) => one.endsWith("glibc.node"));
  const copy = path.join(folder, "second.node");
  copyFileSync(path.join(from, name), copy);
  const module = { exports: {} as { DatabaseSync: ReturnType<typeof secondLibrary> } };
  process.dlopen(module, copy);
  return module.exports.DatabaseSync;
}

/** Makes a folder seem unchanged for long, once the clock that stamps files has moved on since its last change. */
function letRest(file: string): void {
  const other = newFolder();
  mkdirSync(other);
  const now = (): number => {
    writeFileSync(path.join(other, "clock"), "");
    return statSync(path.join(other, "clock")).mtimeMs;
  };
  while (now() <= statSync(path.dirname(file)).ctimeMs);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
}

afterEach(() => void vi.useRealTimers());

describe("the names of a SQLite file", () => {
  /** Puts another file in the place of the WAL, as a process does that finds none. */
  function replaceWal(file: string): void {
    writeFileSync(`${file}-other`, "");
    renameSync(`${file}-other`, `${file}-wal`);
  }

  it("are looked at again when one of them was replaced", () => {
    const file = newFile();
    for (const side of ["", "-wal", "-shm"]) writeFileSync(file + side, "");
    letRest(file);
    const known = lookAt(file);
    expect(known.folder).toBeDefined();
    expect(standingOf(known, lookAgain(file, known))).toBe("current");
    replaceWal(file);
    expect(standingOf(known, lookAgain(file, known))).toBe("orphaned");
  });

  it("are looked at each time while the clock can't tell two changes of their folder apart", () => {
    const file = newFile();
    for (const side of ["", "-wal", "-shm"]) writeFileSync(file + side, "");
    const { ctimeMs } = statSync(path.dirname(file));
    const known = lookAt(file, ctimeMs + 1);
    expect(known.folder).toBeUndefined();
    replaceWal(file);
    expect(standingOf(known, lookAgain(file, known))).toBe("orphaned");
  });

  it("are looked at when the whole folder was replaced", () => {
    const file = newFile();
    for (const side of ["", "-wal", "-shm"]) writeFileSync(file + side, "");
    letRest(file);
    const known = lookAt(file);
    renameSync(path.dirname(file), `${path.dirname(file)}-old`);
    expect(standingOf(known, lookAgain(file, known))).toBe("replaced");
  });
});

describe.each(["in a folder that was just changed", "in a folder that is at rest"])(
  "a SQLite store %s",
  (folder) => {
    const openStore = async (file: string): Promise<Store> => {
      const store = await openSqliteStore({ file });
      if (folder.endsWith("at rest")) letRest(file);
      return store;
    };

    it.runIf(isLinux)("has let go of its files when it is closed (D1)", async () => {
      const file = newFile();
      const store = await openStore(file);
      const row = await accepted(store, creation());
      await accepted(store, step(row));
      expect(openFiles(file)).toHaveLength(3);
      await store.close();
      expect(openFiles(file)).toEqual([]);
      expect(readdirSync(path.dirname(file))).toEqual(["runs.db"]);
    });

    it("takes no locks away from a store on the same file in the same process (D1)", async () => {
      const file = newFile();
      const first = await openStore(file);
      const row = await accepted(first, creation());
      const second = await openStore(file);
      await second.close();
      if (isLinux) expect(locksOn(file)).toBe(1);
      await accepted(first, step(row));
      await first.close();
      expect(runs(file)).toBe("run-1 2");
    });

    it("writes nothing more when its side files were removed and others have written since (D1)", async () => {
      for (const end of ["db.close()", "process.kill(process.pid, 'SIGKILL')"]) {
        const file = newFile();
        const store = await openStore(file);
        await accepted(store, creation());
        removeSides(file);
        try {
          write(file, end);
        } catch {
          // It was killed.
        }
        expect(await writeOn(store, 1, 3)).toEqual({ seq: 1, code: "HF-3050" });
        await expect(store.list({ limit: 1 })).rejects.toMatchObject({ code: "HF-3050" });
        await expect(openSqliteStore({ file })).rejects.toMatchObject({ code: "HF-3050" });
        await store.close();
        expect([mine(file), integrity(file)]).toEqual(["1", "ok"]);
      }
    });

    it("keeps what it has acknowledged when its side files were removed and nobody has written since (D1)", async () => {
      const file = newFile();
      const [store, beside] = [await openStore(file), await openStore(file)];
      const row = await accepted(store, creation());
      removeSides(file);
      await expect(store.append([step(row)])).rejects.toMatchObject({ code: "HF-3013" });
      expect(await beside.read("run-1")).toEqual(row);
      expect(await writeOn(store, 1, 3)).toEqual({ seq: 4 });
      write(file);
      expect(await writeOn(beside, 4, 3)).toEqual({ seq: 7 });
      await store.close();
      await beside.close();
      expect([runs(file), mine(file), integrity(file)]).toEqual(["run-1 7", "1", "ok"]);
    });

    it.runIf(isLinux)(
      "acknowledges nothing that is lost when another SQLite library in its process takes its locks away (D1)",
      async () => {
        const file = newFile();
        const store = await openStore(file);
        let { seq } = await accepted(store, creation());
        const Second = secondLibrary(path.dirname(file));
        let rows = 0;
        for (let i = 0; i < 4; i++) {
          const other = new Second(file);
          other.exec("SELECT count(*) FROM runs");
          other.close();
          ({ seq } = await writeOn(store, seq, 2));
          const beside = neighbour(file);
          for (let k = 0; k < 3; k++) {
            await beside.write();
            rows++;
            ({ seq } = await writeOn(store, seq, 2));
          }
          await beside.end();
          expect([runs(file), mine(file)]).toEqual([`run-1 ${seq}`, String(rows)]);
        }
        await store.close();
        expect([runs(file), mine(file), integrity(file)]).toEqual([`run-1 ${seq}`, String(rows), "ok"]);
      },
    );
  },
);

describe("a SQLite store", () => {
  it("doesn't take a file for damaged that another process writes to while it is opened", async () => {
    const file = newFile();
    const driver = await chooseDriver("auto");
    const first = new Connection(driver, file);
    const beside = driver.connect(file);
    beside.exec("CREATE TABLE mine (x)");
    const text = "x".repeat(1_000_000);
    /** Right before the number of frames is asked for, another connection makes the WAL longer. */
    const disturbed: SqliteDriver = {
      ...driver,
      connect(name) {
        const db = driver.connect(name);
        const prepare = (sql: string) => {
          if (sql.includes("wal_checkpoint(NOOP)")) beside.exec(`INSERT INTO mine VALUES ('${text}')`);
          return db.prepare(sql);
        };
        return new Proxy(db, {
          get: (target, key: keyof SqliteConnection) =>
            key === "prepare" ? prepare : target[key].bind(target),
        });
      },
    };
    const second = new Connection(disturbed, file);
    expect(second.isBroken).toBe(false);
    second.close();
    beside.close();
    first.close();
    expect(mine(file)).toBe("1");
  });
});
