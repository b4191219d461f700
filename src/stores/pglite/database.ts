import type { Database, Queryable, Value } from "../postgres/queryable.ts";

/** What statements are sent to: a PGlite, or a transaction of one. */
export interface PgliteQueryable {
  query<T>(
    text: string,
    values?: unknown[],
    options?: { readonly rowMode?: "array" },
  ): Promise<{ readonly rows: T[] }>;
}

/** What is asked of a PGlite, or of something of the same shape. */
export interface PgliteDatabase extends PgliteQueryable {
  readonly waitReady: Promise<void>;
  /** `undefined` or `memory://` for one that keeps nothing. */
  readonly dataDir?: string | undefined;
  transaction<T>(work: (one: PgliteQueryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A PGlite as a database of the PostgreSQL store. It has one connection, which it gives to one after the other. */
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
    transaction: (work) => tracked(db.transaction((one) => work(on(one)))),
    async close() {
      await Promise.allSettled(underWay);
      await end();
    },
  };
}

const on = (one: PgliteQueryable): Queryable => ({
  query: async (text, values = []) =>
    (await one.query<Value[]>(text, [...values], { rowMode: "array" })).rows,
});

/** Its errors carry the values of the statement, which must not get into a log. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error) || !("params" in error)) return error;
  const { code } = error as { readonly code?: unknown };
  return Object.assign(new Error(error.message), code === undefined ? {} : { code });
}
