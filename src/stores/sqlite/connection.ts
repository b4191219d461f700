import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import type { SqliteConnection, SqliteDriver, SqliteStatement } from "./driver.ts";
import { isBusy } from "./errors.ts";
import { inspect, migrate } from "./migrations.ts";
import { type Files, holdsRemovedMemory, lookAt, type Standing, standingOf } from "./side-files.ts";
import { SQL } from "./statements.ts";

/**
 * Of new files. Measured against 8 KiB with entries of 2 KiB: commits take the same time, because the sync
 * outweighs the bytes; reading a long journal is a quarter faster and the file a fifth smaller.
 */
const PAGE_SIZE = 16_384;
/** A checkpoint is due after so many pages, and the WAL file is cut back to so many bytes. */
const CHECKPOINT_PAGES = 256;
const WAL_BYTES = 16 * 1024 * 1024;
/** Short, because SQLite waits inside the event loop; the store itself waits outside it. */
const BUSY_TIMEOUT_MS = 50;
/** So many free pages, at most, are given back to the disk after a commit that dropped something: some 30 ms of work. */
const SHRINK_PAGES = 512;

/** Sizes in the format of the WAL. */
const [WAL_HEAD, FRAME_HEAD] = [32, 24];

/** The value of `auto_vacuum` for a file that gives pages back when it is told to. */
const INCREMENTAL = 2;

const SETTINGS = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA synchronous = FULL;
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
  PRAGMA journal_size_limit = ${WAL_BYTES};
  PRAGMA mmap_size = 0;
`;

/** All of this process. SQLite gives connections of one process on one file the same shared memory, old or new. */
const open = new Set<Connection>();
/** Handles that are never closed, nor collected, because closing them would write over what others have written. */
const kept: (readonly [file: string, db: SqliteConnection])[] = [];

/** The file must not be used in this process any more. */
export const orphaned = (file: string): HoldfastError => new HoldfastError("HF-3050", { file });

/** Makes way for a new connection: what is not let go of yet would hand its shared memory to it. `isAgain`: something was just closed. */
export async function makeWay(file: string, driver: SqliteDriver, isAgain: boolean): Promise<void> {
  const stale = [...open].filter((one) => one.file === file && one.standing !== "current");
  for (const one of stale) one.close();
  if (stale.length > 0 || isAgain) await driver.settle();
  if (kept.some(([name]) => name === file) || holdsRemovedMemory(file)) throw orphaned(file);
}

/** One open handle on the file, with its statements prepared. */
export class Connection {
  readonly db: SqliteConnection;
  readonly file: string;
  /** Set when a checkpoint failed, or it was closed: what was acknowledged is safe, but this handle has had its day. */
  isBroken = false;
  /** It could not be closed without harm, so that the file is off limits for this process. */
  isKept = false;
  readonly #statements = new Map<string, SqliteStatement>();
  #files: Files;
  /** Files made by the first versions cannot give pages back; they use them again. */
  readonly #canShrink: boolean;
  #checkpointAt = WAL_BYTES;

  constructor(driver: SqliteDriver, file: string) {
    this.file = file;
    this.db = driver.connect(file);
    try {
      this.db.exec(SETTINGS);
      // Before the first change to the file, and a change of journal mode is one.
      const isNew = inspect(this.db, file) === 0;
      this.db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
      if (isNew) this.db.exec("PRAGMA auto_vacuum = INCREMENTAL");
      const mode = this.db.prepare("PRAGMA journal_mode = WAL").all()[0]?.[0];
      if (mode !== "wal") throw new Error(`journal mode ${String(mode)} instead of wal`);
      migrate(this.db, file);
      this.#canShrink = this.db.prepare("PRAGMA auto_vacuum").all()[0]?.[0] === INCREMENTAL;
      this.#files = lookAt(file);
      this.#checkSides();
    } catch (error) {
      this.#statements.clear();
      this.db.close();
      throw error;
    }
    open.add(this);
  }

  /** A WAL that is shorter than the shared memory says was removed under somebody who is still at work. */
  #checkSides(): void {
    const [, frames] = this.#frames();
    const [[pageSize] = [0]] = this.prepare("PRAGMA page_size").all();
    const needed = frames === 0 ? 0 : WAL_HEAD + frames * (Number(pageSize) + FRAME_HEAD);
    if (this.#files.walBytes < needed) throw orphaned(this.file);
  }

  /** Of the WAL, and how many of them are in the main file as well. */
  #frames(): [busy: number, all: number, written: number] {
    return this.prepare("PRAGMA wal_checkpoint(NOOP)").all()[0]?.map(Number) as [number, number, number];
  }

  get identity(): StoreIdentity {
    const meta = new Map(this.prepare(SQL.meta).all() as [string, string][]);
    const [incarnation = "", secret = ""] = [meta.get("incarnation"), meta.get("secret")];
    const restoredAt = meta.get("restored_at");
    return { incarnation, secret, ...(restoredAt === undefined ? {} : { restoredAt: Number(restoredAt) }) };
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs `body` in a write transaction, which is rolled back if `body` throws or `isKept` says no. */
  write<T>(body: () => T, isKept: (value: T) => boolean = () => true): T {
    this.prepare(SQL.begin).run();
    let value: T;
    try {
      value = body();
      this.#verifyFiles();
      this.prepare(isKept(value) ? SQL.commit : SQL.rollback).run();
    } catch (error) {
      this.#rollBack();
      throw error;
    }
    // Again, before it is acknowledged: the files may have gone while it was written.
    this.#files = this.#verifyFiles();
    const { walBytes } = this.#files;
    if (walBytes > this.#checkpointAt) this.checkpoint(walBytes);
    return value;
  }

  /** Runs reads that must all see the same moment. */
  snapshot<T>(body: () => T): T {
    this.prepare(SQL.snapshot).run();
    try {
      return body();
    } finally {
      this.#rollBack();
    }
  }

  /**
   * Writes everything back into the main file and empties the WAL, unless another connection is in the way.
   * Automatic checkpoints cannot empty it while reads overlap, and it would grow without bound.
   */
  checkpoint(walBytes = 0): void {
    try {
      const isBusy = this.prepare(SQL.checkpoint).all()[0]?.[0] !== 0;
      // A try may wait for BUSY_TIMEOUT_MS, so the next one waits for some growth.
      this.#checkpointAt = isBusy ? walBytes + WAL_BYTES / 4 : WAL_BYTES;
      this.#files = { ...this.#files, stamp: lookAt(this.file).stamp };
    } catch {
      this.isBroken = true;
    }
  }

  /** Makes the file smaller after something was dropped. What is left to do is done after the next time. */
  shrink(): void {
    if (!this.#canShrink) return;
    try {
      this.db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
      this.#files = { ...this.#files, stamp: lookAt(this.file).stamp };
    } catch (error) {
      this.isBroken ||= !isBusy(error);
    }
  }

  /**
   * Empties the WAL as far as others let it, then closes. Not every driver finalizes its statements on close; SQLite then keeps the
   * handle until they are collected (`settle`), and would keep the WAL as well.
   */
  close(): void {
    if (!open.delete(this)) return;
    this.isBroken = true;
    this.#rollBack();
    const { standing } = this;
    if (standing === "orphaned" && !this.#canGo()) {
      this.isKept = true;
      kept.push([this.file, this.db]);
      return;
    }
    try {
      this.db.exec("PRAGMA busy_timeout = 0");
      if (standing === "current") this.checkpoint();
      this.#statements.clear();
      this.db.close();
    } catch {
      // Given up either way; what was acknowledged is on the disk.
    }
  }

  /**
   * Whether an orphaned handle may be closed. SQLite then writes back what its own WAL holds and removes the WAL of that name: only
   * where nobody has written since, which saves what was acknowledged here, or there is nothing left to write back.
   */
  #canGo(): boolean {
    const { stamp, walBytes } = lookAt(this.file);
    if (walBytes > 0) return false;
    if (stamp === this.#files.stamp) return true;
    try {
      const [, all, written] = this.#frames();
      return all === written;
    } catch {
      return false;
    }
  }

  #rollBack(): void {
    try {
      this.prepare(SQL.rollback).run();
    } catch {
      // SQLite has already rolled back by itself.
    }
  }

  get inode(): number | undefined {
    return this.#files.inodes[0];
  }

  get standing(): Standing {
    return standingOf(this.#files, lookAt(this.file));
  }

  /** A commit into a file that was deleted or replaced would be acknowledged and lost. */
  #verifyFiles(): Files {
    const now = lookAt(this.file);
    if (standingOf(this.#files, now) === "current") return now;
    throw new Error("the file or a side file of it was removed or replaced while it was open");
  }
}
