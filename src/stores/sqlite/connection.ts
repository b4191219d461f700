import { type Stats, statSync } from "node:fs";
import type { StoreIdentity } from "../../core/store.ts";
import type { SqliteConnection, SqliteDriver, SqliteStatement } from "./driver.ts";
import { isBusy } from "./errors.ts";
import { inspect, migrate } from "./migrations.ts";
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

/** One open handle on the file, with its statements prepared. */
export class Connection {
  readonly db: SqliteConnection;
  /** Set when a checkpoint failed: what was acknowledged is safe in the WAL, but this handle has had its day. */
  isBroken = false;
  readonly #file: string;
  readonly #statements = new Map<string, SqliteStatement>();
  readonly #inodes: readonly (number | undefined)[];
  /** Files made by the first versions cannot give pages back; they use them again. */
  readonly #canShrink: boolean;
  #checkpointAt = WAL_BYTES;

  constructor(driver: SqliteDriver, file: string) {
    this.#file = file;
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
      this.#inodes = this.#stats().map((stat) => stat?.ino);
    } catch (error) {
      this.db.close();
      throw error;
    }
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
    let walBytes: number;
    try {
      value = body();
      walBytes = this.#verifyFiles();
      this.prepare(isKept(value) ? SQL.commit : SQL.rollback).run();
    } catch (error) {
      this.#rollBack();
      throw error;
    }
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
    } catch {
      this.isBroken = true;
    }
  }

  /** Makes the file smaller after something was dropped. What is left to do is done after the next time. */
  shrink(): void {
    if (!this.#canShrink) return;
    try {
      this.db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
    } catch (error) {
      this.isBroken ||= !isBusy(error);
    }
  }

  /**
   * Empties the WAL as far as others let it, then closes. Not every driver finalizes its statements on close;
   * SQLite then keeps the handle until they are collected, and would keep the WAL as well.
   */
  close(): void {
    this.#rollBack();
    try {
      this.db.exec("PRAGMA busy_timeout = 0");
      this.checkpoint();
      this.#statements.clear();
      this.db.close();
    } catch {
      // Given up either way; what was acknowledged is on the disk.
    }
  }

  #rollBack(): void {
    try {
      this.prepare(SQL.rollback).run();
    } catch {
      // SQLite has already rolled back by itself.
    }
  }

  #stats(): readonly (Stats | undefined)[] {
    return [this.#file, `${this.#file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false }));
  }

  /** Whether this handle still reads and writes the file of its name, and not one that was deleted or replaced. */
  get isCurrent(): boolean {
    return this.#areSame(this.#stats());
  }

  #areSame(stats: readonly (Stats | undefined)[]): boolean {
    return stats.every((stat, i) => stat?.ino === this.#inodes[i]);
  }

  /** A commit into a file that was deleted or replaced would be acknowledged and lost. Gives the WAL's size. */
  #verifyFiles(): number {
    const stats = this.#stats();
    if (!this.#areSame(stats))
      throw new Error("the file or its WAL was removed or replaced while it was open");
    return stats[1]?.size ?? 0;
  }
}
