import type { SqlValue } from "../../core/sql.ts";
import {
  checkedDocuments,
  type Documents,
  type DocumentWrite,
  type StoredDocument,
} from "../../core/store/documents.ts";
import type { Connection } from "./connection.ts";

/** How the store runs a read, and a durable write. */
interface Access {
  readonly look: <T>(work: (connection: Connection) => T) => Promise<T>;
  readonly write: <T>(work: (connection: Connection) => T) => Promise<T>;
}

const SQL = {
  read: "SELECT key, version, value FROM store_documents WHERE kind = ? AND key = ?",
  list: "SELECT key, version, value FROM store_documents WHERE kind = ? AND key > ? ORDER BY key LIMIT ?",
  version: "SELECT version FROM store_documents WHERE kind = ? AND key = ?",
  put: `INSERT INTO store_documents (kind, key, version, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (kind, key) DO UPDATE SET version = excluded.version, value = excluded.value`,
  remove: "DELETE FROM store_documents WHERE kind = ? AND key = ?",
} as const;

/** The documents of a file. A key is never empty, so the first page begins after the empty one. */
export const documentsIn = ({ look, write }: Access): Documents =>
  checkedDocuments({
    async read(kind, key) {
      const [values] = await look((connection) => connection.prepare(SQL.read).all(kind, key));
      return values ? toDocument(kind, values) : null;
    },
    async list(kind, { after = "", limit }) {
      const found = await look((connection) => connection.prepare(SQL.list).all(kind, after, limit));
      return found.map((values) => toDocument(kind, values));
    },
    write: (batch) => write((connection) => batch.map((one) => apply(connection, one))),
  });

function apply(connection: Connection, { kind, key, expect, put }: DocumentWrite): boolean {
  const [[version] = []] = connection.prepare(SQL.version).all(kind, key);
  if ((version ?? null) !== expect) return false;
  if (put) connection.prepare(SQL.put).run(kind, key, put.version, put.value);
  else connection.prepare(SQL.remove).run(kind, key);
  return true;
}

const toDocument = (kind: string, [key, version, value]: readonly SqlValue[]): StoredDocument => ({
  kind,
  key: String(key),
  version: String(version),
  value: String(value),
});
