import {
  checkedDocuments,
  type Documents,
  type DocumentWrite,
  type StoredDocument,
} from "../../core/store/documents.ts";
import { otherStore } from "../other-store.ts";
import type { Writing } from "./append.ts";
import { isSame } from "./migrations.ts";
import type { Database, Queryable, Value } from "./queryable.ts";
import { type Bind, FLUSH, statement } from "./statement.ts";

/** How the store runs its calls, and where. */
interface Access {
  readonly at: string;
  readonly call: <T>(work: (database: Database) => Promise<T>) => Promise<T>;
  readonly writing: () => Promise<Writing>;
}

/** Each write is one statement, and so its own transaction. */
export const documentsIn = ({ at, call, writing }: Access): Documents =>
  checkedDocuments({
    async read(kind, key) {
      const text = `SELECT key, version, value FROM ${at}store_documents WHERE kind = $1 AND key = $2`;
      const [values] = await call((database) => database.query(text, [kind, key]));
      return values ? toDocument(kind, values) : null;
    },
    async list(kind, { after = "", limit }) {
      const text = `SELECT key, version, value FROM ${at}store_documents WHERE kind = $1 AND key > $2 ORDER BY key LIMIT $3`;
      const found = await call((database) => database.query(text, [kind, after, limit]));
      return found.map((values) => toDocument(kind, values));
    },
    async write(batch) {
      const results: boolean[] = [];
      for (const one of batch)
        results.push(await call(async (database) => apply(database, await writing(), one)));
      return results;
    },
  });

async function apply(one: Queryable, { at, name, opened }: Writing, write: DocumentWrite): Promise<boolean> {
  const { text, values } = statement((bind) => change(at, isSame(at, opened, bind), write, bind));
  if ((await one.query(text, values)).length === 1) return true;
  const check = statement((bind) => `SELECT 1 WHERE ${isSame(at, opened, bind)}`);
  if ((await one.query(check.text, check.values)).length === 0) throw otherStore(name);
  return false;
}

/** Returns one row if the write was accepted. */
function change(at: string, same: string, { kind, key, expect, put }: DocumentWrite, bind: Bind): string {
  const [k, id] = [bind(kind, "text"), bind(key, "text")];
  const there = `kind = ${k} AND key = ${id}`;
  if (expect === null && !put)
    return `SELECT 1 WHERE ${same} AND NOT EXISTS (SELECT FROM ${at}store_documents WHERE ${there})`;
  if (expect === null)
    return `INSERT INTO ${at}store_documents (kind, key, version, value)
      SELECT ${k}, ${id}, ${bind(put?.version, "text")}, ${bind(put?.value, "text")} WHERE ${same}
      ON CONFLICT (kind, key) DO NOTHING RETURNING ${FLUSH}`;
  const needs = `${there} AND version = ${bind(expect, "text")} AND ${same} RETURNING ${FLUSH}`;
  if (!put) return `DELETE FROM ${at}store_documents WHERE ${needs}`;
  return `UPDATE ${at}store_documents SET version = ${bind(put.version, "text")}, value = ${bind(put.value, "text")}
    WHERE ${needs}`;
}

function toDocument(kind: string, values: readonly Value[]): StoredDocument {
  const [key, version, value] = values as readonly [string, string, string];
  return { kind, key, version, value };
}
