import { accessSync, constants } from "node:fs";
import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import type { SqliteConnection, SqliteDriver, SqliteStatement } from "./driver.ts";
import { isBusy, isReadOnly } from "./errors.ts";
import { inspect, migrate } from "./migrations.ts";
import {
  type Files,
  holdsRemovedMemory,
  lookAgain,
  lookAt,
  type Standing,
  standingOf,
} from "./side-files.ts";
import { SQL } from "./statements.ts";

/**
 * For new files. Measured against 8 KiB with entries of 2 KiB: commits take the same time, because the sync outweighs
 * the bytes; reading a long journal is a quarter faster and the file a fifth smaller.
 */
const PAGE_SIZE = 16_384;
/** The number of pages after which a checkpoint is due, and the size in bytes that the WAL is truncated to. */
const CHECKPOINT_PAGES = 256;
const WAL_BYTES = 16 * 1024 * 1024;
/** The number of writes after which the size of the WAL is looked at. */
const SIZE_AFTER_WRITES = 16;
/** Short, because SQLite waits inside the event loop. The store waits outside it. */
const BUSY_TIMEOUT_MS = 50;
/** The most free pages returned to the disk after a commit that dropped something: about 30 ms of work. */
const SHRINK_PAGES = 512;

/** How often a WAL that seems too short is looked at again, while other processes write to it. */
const MOST_LOOKS = 100;

/** Sizes in the WAL format. */
const [WAL_HEAD, FRAME_HEAD] = [32, 24];

/** The `auto_vacuum` value of a file that returns pages on request. */
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

/** All connections of this process. SQLite gives connections to the same file the same shared memory, old or new. */
const open = new Set<Connection>();
/** Handles that are never closed or collected, because closing them would overwrite what others have written. */
const kept: (readonly [file: string, db: SqliteConnection])[] = [];

/** Thrown when this process must no longer use the file. */
export const orphaned = (file: string): HoldfastError => new HoldfastError("HF-3050", { file });

function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    accessSync(path.dirname(file), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const damagedFile = (file: string, message: string): HoldfastError =>
  new HoldfastError("HF-3014", { file, message });

/** Sizes and stamp after a write of our own. The inodes stay those that were opened. */
function sizesOf(file: string): Pick<Files, "stamp" | "walBytes"> {
  const { stamp, walBytes } = lookAt(file);
  return { stamp, walBytes };
}

/**
 * Prepares for a new connection: a handle that isn't released yet would share its memory with it. `isAgain`: a handle
 * was just closed.
 */
export async function makeWay(file: string, driver: SqliteDriver, isAgain: boolean): Promise<void> {
  const stale = [...open].filter((one) => one.file === file && one.standing !== "current");
  for (const one of stale) one.close();
  if (stale.length > 0 || isAgain) await driver.settle();
  if (kept.some(([name]) => name === file)) throw orphaned(file);
  if (!holdsRemovedMemory(file)) return;
  // A handle that was closed just now may not have been released yet.
  await driver.settle();
  if (holdsRemovedMemory(file)) throw orphaned(file);
}

/** One open handle to the file, with its prepared statements. */
export class Connection {
  readonly db: SqliteConnection;
  readonly file: string;
  /**
   * Set when a checkpoint failed or the handle was closed. Acknowledged writes are safe, but the handle must not be
   * used.
   */
  isBroken = false;
  /** Set when closing would do harm, so the handle stays open and this process must not use the file. */
  isKept = false;
  readonly #statements = new Map<string, SqliteStatement>();
  #files: Files;
  /** Files created by the first versions can't return pages to the disk; they reuse them. */
  readonly #canShrink: boolean;
  #checkpointAt = WAL_BYTES;
  #writes = 0;

  constructor(driver: SqliteDriver, file: string) {
    this.file = file;
    this.db = driver.connect(file);
    try {
      this.db.exec(SETTINGS);
      // Must come before the first change to the file, including a change of journal mode.
      const isNew = inspect(this.db, file) === 0;
      this.db.exec(`PRAGMA page_size = ${PAGE_SIZE}`);
      if (isNew) this.db.exec("PRAGMA auto_vacuum = INCREMENTAL");
      const mode = this.db.prepare("PRAGMA journal_mode = WAL").all()[0]?.[0];
      if (mode !== "wal") throw new Error(`journal mode ${String(mode)} instead of wal`);
      migrate(this.db, file);
      this.#checkHeader();
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

  /**
   * A WAL shorter than the shared memory says was removed while another connection was using it. Other processes append
   * to the WAL and restart it meanwhile, so its size is read after the number of its frames, and a WAL that seems too
   * short only counts when that number stays the same.
   */
  #checkSides(): void {
    const [[pageSize] = [0]] = this.prepare("PRAGMA page_size").all();
    for (let looks = 0, before = -1; looks < MOST_LOOKS; looks++) {
      const [, frames] = this.#frames();
      const needed = frames === 0 ? 0 : WAL_HEAD + frames * (Number(pageSize) + FRAME_HEAD);
      if (lookAt(this.file).walBytes >= needed) return;
      if (frames === before) throw orphaned(this.file);
      before = frames;
    }
    throw orphaned(this.file);
  }

  /** With an unknown version in its header SQLite opens the file for reading only, and says so at the first write. */
  #checkHeader(): void {
    try {
      this.db.exec("DELETE FROM meta WHERE 0");
    } catch (error) {
      if (isReadOnly(error) && mayWrite(this.file))
        throw damagedFile(this.file, "its header names an unknown format");
    }
  }

  /** The WAL's frames, and how many of them are also in the main file. */
  #frames(): [busy: number, all: number, written: number] {
    return this.prepare("PRAGMA wal_checkpoint(NOOP)").all()[0]?.map(Number) as [number, number, number];
  }

  get identity(): StoreIdentity {
    const meta = new Map(this.prepare(SQL.meta).all() as [string, unknown][]);
    const restoredAt = meta.get("restored_at");
    return {
      incarnation: this.#own(meta, "incarnation"),
      secret: this.#own(meta, "secret"),
      ...(restoredAt === undefined ? {} : { restoredAt: Number(restoredAt) }),
    };
  }

  /** Without its secret the store would make other idempotency keys, and without its incarnation it would be another one. */
  #own(meta: ReadonlyMap<string, unknown>, key: string): string {
    const value = meta.get(key);
    if (typeof value === "string" && value !== "") return value;
    throw damagedFile(this.file, `its table meta has no valid ${key}`);
  }

  prepare(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Runs `body` in a write transaction. Rolls back if `body` throws or `isKept` returns false. */
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
    // Checks again before acknowledging: the files may have disappeared during the write.
    this.#files = this.#verifyFiles(++this.#writes % SIZE_AFTER_WRITES === 0);
    const { walBytes } = this.#files;
    if (walBytes > this.#checkpointAt) this.checkpoint(walBytes);
    return value;
  }

  /** Runs reads that must all see the same state. */
  snapshot<T>(body: () => T): T {
    this.prepare(SQL.snapshot).run();
    try {
      return body();
    } finally {
      this.#rollBack();
    }
  }

  /**
   * Writes everything back to the main file and empties the WAL, unless another connection blocks it. Automatic
   * checkpoints can't empty it while reads overlap, and it would grow without limit.
   */
  checkpoint(walBytes = 0): void {
    try {
      const isBusy = this.prepare(SQL.checkpoint).all()[0]?.[0] !== 0;
      // Each attempt may wait for BUSY_TIMEOUT_MS, so the next one waits until the WAL has grown.
      this.#checkpointAt = isBusy ? walBytes + WAL_BYTES / 4 : WAL_BYTES;
      this.#files = { ...this.#files, ...sizesOf(this.file) };
    } catch {
      this.isBroken = true;
    }
  }

  /** Shrinks the file after a drop. The next drop continues with what remains. */
  shrink(): void {
    if (!this.#canShrink) return;
    try {
      this.db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
      this.#files = { ...this.#files, ...sizesOf(this.file) };
    } catch (error) {
      this.isBroken ||= !isBusy(error);
    }
  }

  /**
   * Empties the WAL as far as other connections allow, then closes. Not every driver finalizes its statements on close;
   * SQLite then keeps the handle, and with it the WAL, until they are collected (`settle`).
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
      // The handle is abandoned either way; acknowledged writes are on the disk.
    }
  }

  /**
   * True when an orphaned handle may be closed. Closing makes SQLite write back its own WAL and remove the WAL of that
   * name. That is only safe if no other process has written since, which saves acknowledged writes, or if nothing is
   * left to write back.
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
      // SQLite has already rolled back.
    }
  }

  get inode(): number | undefined {
    return this.#files.inodes[0];
  }

  get standing(): Standing {
    return standingOf(this.#files, lookAgain(this.file, this.#files));
  }

  /** A commit to a deleted or replaced file would be acknowledged and lost. */
  #verifyFiles(withSize = false): Files {
    const now = withSize ? lookAt(this.file) : lookAgain(this.file, this.#files);
    if (standingOf(this.#files, now) === "current") return now;
    throw new Error("the file or a side file of it was removed or replaced while it was open");
  }
}
