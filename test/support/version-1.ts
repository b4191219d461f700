import { readFileSync } from "node:fs";
import type { SqlValue } from "../../src/core/sql.ts";
import { chooseDriver, type SqliteConnection } from "../../src/stores/sqlite/driver.ts";

const FIXTURE = new URL("./version-1.sql", import.meta.url);

/** Creates a file with the first schema version and some runs; `more` is SQL that adds to them. */
export async function makeVersion1(file: string, more = ""): Promise<void> {
  await withFile(file, (db) => db.exec(readFileSync(FIXTURE, "utf8") + more));
}

/** The contents of a file: its schema version, the schema itself, and every row of every table. */
export interface Contents {
  readonly version: SqlValue;
  readonly schema: readonly (readonly SqlValue[])[];
  readonly rows: Readonly<Record<string, readonly (readonly SqlValue[])[]>>;
}

export function contentsOf(file: string): Promise<Contents> {
  return withFile(file, (db) => {
    const all = (sql: string) => db.prepare(sql).all();
    const tables = all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").map(String);
    return {
      version: all("PRAGMA user_version")[0]?.[0] ?? null,
      schema: all("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"),
      rows: Object.fromEntries(tables.map((table) => [table, all(`SELECT * FROM ${table} ORDER BY 1`)])),
    };
  });
}

/** Opens a file without Holdfast, and closes it again. */
export async function withFile<T>(file: string, work: (db: SqliteConnection) => T): Promise<T> {
  const db = (await chooseDriver("auto")).connect(file);
  try {
    return work(db);
  } finally {
    db.close();
  }
}
