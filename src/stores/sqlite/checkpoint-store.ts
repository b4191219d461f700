import { checkNumber, checkText, checkWhole } from "../../core/check-options.ts";
import { COLUMNS, checkRecord, type FlowCheckpointRow } from "../../core/records.ts";
import type { SqlValue } from "../../core/sql.ts";
import { chooseDriver, type DriverName, type SqliteConnection, type SqliteDriver } from "./driver.ts";
import { storeError } from "./errors.ts";
import { openSqliteStore } from "./open.ts";

/** A checkpoint of a YAML workflow, with the names of the table's columns. `checkpoint_id` is the column `id`. */
export type CheckpointData = Omit<FlowCheckpointRow, "id" | "in_progress" | "updated_at"> & {
  readonly checkpoint_id: string;
  readonly in_progress: string | null;
  readonly updated_at: string;
};

/** A checkpoint to save. Times are dates or ISO texts; `updated_at` is now unless given. */
export type CheckpointToSave = Omit<CheckpointData, "created_at" | "updated_at"> & {
  readonly created_at: string | Date;
  readonly updated_at?: string | Date;
};

const NAMES = Object.keys(COLUMNS.checkpoints);
const SAVE = `INSERT INTO checkpoints (${NAMES.join(", ")}) VALUES (${NAMES.map(() => "?").join(", ")})
  ON CONFLICT (id) DO UPDATE SET ${NAMES.map((name) => `${name} = excluded.${name}`).join(", ")}`;
const SELECT = `SELECT ${NAMES.join(", ")} FROM checkpoints`;
/** The oldest of each workflow beyond the given number. */
const TOO_MANY = `SELECT id FROM (SELECT id, row_number()
  OVER (PARTITION BY workflow_name ORDER BY updated_at DESC, id DESC) AS place FROM checkpoints) WHERE place > ?`;

const DAY_MS = 86_400_000;

/**
 * The table `checkpoints` of a SQLite store: one row for each run of a YAML workflow whose file says
 * `checkpoint: { table: true }`, and those that a program saves itself. The rows are for reading; runs continue from
 * their journals, and deleting a row doesn't delete a run.
 *
 * @example
 * ```ts
 * import { SQLiteCheckpointStore } from "holdfast/stores/sqlite";
 *
 * const checkpoints = new SQLiteCheckpointStore(".conductor/checkpoints/long-analysis/holdfast.db");
 * for (const { checkpoint_id, in_progress } of await checkpoints.listCheckpoints("long-analysis"))
 *   console.log(checkpoint_id, in_progress);
 * await checkpoints.prune(7, 10);
 * await checkpoints.close();
 * ```
 */
export class SQLiteCheckpointStore {
  readonly #file: string;
  readonly #driver: "auto" | DriverName;
  #open: Promise<{ db: SqliteConnection; driver: SqliteDriver }> | undefined;

  constructor(dbPath: string, options: { readonly driver?: "auto" | DriverName } = {}) {
    this.#file = checkText("dbPath", dbPath, 1);
    this.#driver = options.driver ?? "auto";
  }

  /** Saves a checkpoint, replacing the one with the same id. */
  async save(data: CheckpointToSave): Promise<void> {
    const { checkpoint_id: id, created_at, updated_at = new Date(), ...rest } = data;
    const times = { created_at: isoText(created_at), updated_at: isoText(updated_at) };
    const { row } = checkRecord({ table: "checkpoints", row: { ...rest, ...times, id } });
    await this.#use((db) => db.prepare(SAVE).run(...NAMES.map((name) => toSql(name, row[name] ?? null))));
  }

  /** The checkpoint with this id, or `null`. */
  async load(checkpointId: string): Promise<CheckpointData | null> {
    const [found] = await this.#use((db) => db.prepare(`${SELECT} WHERE id = ?`).all(checkpointId));
    return found ? fromRow(found) : null;
  }

  /** All checkpoints, or those of one workflow; the latest first. */
  async listCheckpoints(workflowName?: string): Promise<readonly CheckpointData[]> {
    const [where, values] =
      workflowName === undefined ? ["", []] : ["WHERE workflow_name = ?", [workflowName]];
    const sql = `${SELECT} ${where} ORDER BY updated_at DESC, id DESC`;
    return (await this.#use((db) => db.prepare(sql).all(...values))).map(fromRow);
  }

  /** Deletes a checkpoint; one that isn't there is no error. */
  async delete(checkpointId: string): Promise<void> {
    await this.#use((db) => db.prepare("DELETE FROM checkpoints WHERE id = ?").run(checkpointId));
  }

  /** Deletes what is older, and of each workflow all but the latest `maxCount`. Returns how many were deleted. */
  async prune(maxAgeDays: number, maxCount: number): Promise<number> {
    checkNumber("maxAgeDays", maxAgeDays, { least: 0 });
    checkWhole("maxCount", maxCount, 0);
    const oldest = new Date(Date.now() - maxAgeDays * DAY_MS).toISOString();
    const sql = `DELETE FROM checkpoints WHERE updated_at < ? OR id IN (${TOO_MANY})`;
    return Number((await this.#use((db) => db.prepare(sql).run(oldest, maxCount))).changes);
  }

  async close(): Promise<void> {
    const opened = await this.#open?.catch(() => undefined);
    this.#open = undefined;
    opened?.db.close();
    await opened?.driver.settle();
  }

  async #use<T>(work: (db: SqliteConnection) => T): Promise<T> {
    this.#open ??= this.#connect();
    try {
      return work((await this.#open).db);
    } catch (error) {
      throw storeError(error, this.#file);
    }
  }

  /** The store itself creates the file and its tables, or refuses a file that isn't ours. */
  async #connect(): Promise<{ db: SqliteConnection; driver: SqliteDriver }> {
    await (await openSqliteStore({ file: this.#file, driver: this.#driver })).close();
    const driver = await chooseDriver(this.#driver);
    const db = driver.connect(this.#file);
    db.exec("PRAGMA busy_timeout = 30000; PRAGMA synchronous = FULL");
    return { db, driver };
  }
}

/** An invalid date stays what it is, and is refused with the other values that the column can't hold. */
const isoText = (time: string | Date): unknown =>
  time instanceof Date && Number.isFinite(time.getTime()) ? time.toISOString() : time;

const isJson = (name: string): boolean => ["json", "names"].includes(COLUMNS.checkpoints[name]?.kind ?? "");

function toSql(name: string, value: unknown): SqlValue {
  if (isJson(name)) return JSON.stringify(value);
  return typeof value === "number" || typeof value === "string" ? value : null;
}

function fromRow(values: readonly SqlValue[]): CheckpointData {
  const row = Object.fromEntries(
    NAMES.map((name, index) => {
      const value = values[index] ?? null;
      return [name, isJson(name) ? (JSON.parse(String(value)) as unknown) : value];
    }),
  );
  const { id, ...rest } = row;
  return { checkpoint_id: String(id), ...rest } as unknown as CheckpointData;
}
