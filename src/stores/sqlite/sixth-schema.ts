import type { SqliteConnection } from "./driver.ts";
import { addItems } from "./fourth-schema.ts";

const ITEMS: Readonly<Record<string, string>> = {
  store_documents: `CREATE TABLE store_documents (
    kind TEXT NOT NULL, key TEXT NOT NULL, version TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
  ) WITHOUT ROWID`,
};

/** Schema version 6 adds what belongs to the store and not to a run. A table of that name that isn't ours stays as it is. */
export const addDocuments = (db: SqliteConnection, file: string): void => addItems(db, file, ITEMS);
