import { defined } from "../../core/defined.ts";
import type { SqlValue } from "../../core/sql.ts";
import { PARSERS } from "../postgres/parsers.ts";
import type { Database, Queryable, Value } from "../postgres/queryable.ts";
import { Texts } from "../postgres/texts.ts";

/** Accepts statements: a PGlite, or a transaction of one. */
export interface PgliteQueryable {
  query<T>(
    text: string,
    values?: unknown[],
    options?: {
      readonly rowMode?: "array" | "object";
      readonly parsers?: Record<number, (text: string) => unknown>;
    },
  ): Promise<{ readonly rows: T[] }>;
}

/** The part of a PGlite that the store uses. */
export interface PgliteDatabase extends PgliteQueryable {
  readonly waitReady: Promise<void>;
  /** `undefined` or `memory://` for a database in memory. */
  readonly dataDir?: string | undefined;
  transaction<T>(work: (one: PgliteQueryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Adapts a PGlite to the PostgreSQL store. It has one connection, which its callers take in turn. */
export function onPglite(db: PgliteDatabase, end: () => Promise<void>): Database {
  const underWay = new Set<Promise<unknown>>();
  const tracked = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    try {
      return await work;
    } catch (error) {
      throw withoutValues(error);
    } finally {
      underWay.delete(work);
    }
  };
  return {
    query: (text, values) => tracked(on(db).query(text, values)),
    rows: (text, values) => tracked(on(db).rows(text, values)),
    transaction: (work) => tracked(db.transaction((one) => work(on(one)))),
    async close() {
      await Promise.allSettled(underWay);
      await end();
    },
  };
}

const on = (one: PgliteQueryable): Queryable => ({
  query: async (text, values = []) =>
    (await one.query<Value[]>(text, values.map(plainArray), { rowMode: "array" })).rows,
  rows: async (text, values) => {
    const { rows } = await one.query<Record<string, unknown>>(text, [...values], {
      rowMode: "object",
      parsers: { ...AS_WRITTEN, ...PARSERS },
    });
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    );
  },
});

const plainArray = (value: unknown): unknown => (value instanceof Texts ? value.values : value);

/** Types that PGlite would parse into dates and objects: json, jsonb, date, time and timestamps, and numeric. */
const AS_WRITTEN = Object.fromEntries(
  [114, 3802, 1082, 1083, 1114, 1184, 1266, 1700].map((oid) => [oid, (text: string) => text]),
);

/** PGlite always parses arrays. */
const plain = (value: unknown): SqlValue | boolean =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : (value as SqlValue | boolean);

/** PGlite's errors carry the values of the statement, which must not be logged. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error) || !("params" in error)) return error;
  const { code } = error as { readonly code?: unknown };
  return Object.assign(new Error(error.message), defined({ code }));
}
