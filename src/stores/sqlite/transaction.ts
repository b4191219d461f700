import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SqlHandle, SqlWork } from "../../core/sql.ts";
import type { Append, AppendResult, TransactionResult } from "../../core/store/contract.ts";
import type { SqliteConnection } from "./driver.ts";
import { isStoreFault } from "./errors.ts";
import { withPlaces } from "./placeholders.ts";

/** The outcome of the caller's part: done, or an error thrown by the caller's code. */
export type Outcome<T> = TransactionResult<T> | { readonly result?: undefined; readonly thrown: unknown };

interface Steps<T> {
  readonly work: SqlWork<T>;
  readonly append: (value: T) => Append;
  readonly apply: (append: Append) => AppendResult;
}

/** Statements that would end the transaction behind the store's back, or reach outside it. */
const CONTROL =
  /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:begin|commit|end|rollback|savepoint|release|attach|detach|pragma|vacuum)\b/i;

/** Runs the caller's writes, then the append, inside the open transaction. */
export function runWork<T>(db: SqliteConnection, { work, append, apply }: Steps<T>): Outcome<T> {
  const { handle, end } = handleOn(db);
  let value: T;
  let built: Append;
  try {
    const done = work(handle);
    if (isThenable(done)) {
      // A failure here isn't reported: the work doesn't count anyway.
      done.then(undefined, () => undefined);
      throw new HoldfastError("HF-1018");
    }
    value = done;
    built = append(value);
  } catch (thrown) {
    return { thrown };
  } finally {
    end();
  }
  return { value, result: apply(built) };
}

/** `end` closes the handle and rethrows a fault of the disk or the file, even if the caller caught it. */
function handleOn(db: SqliteConnection): { handle: SqlHandle; end: () => void } {
  let isOver = false;
  let fault: { readonly error: unknown } | undefined;
  const query: SqlHandle["all"] = (sql, ...values) => {
    if (isOver) throw new HoldfastError("HF-1009");
    if (fault) throw fault.error;
    if (CONTROL.test(sql)) throw badOption("sql", "it controls transactions");
    const bound = withPlaces(sql, values);
    try {
      return db.query(bound.sql, bound.values);
    } catch (error) {
      // Some failures end the transaction; later writes would then be committed on their own.
      if (isStoreFault(error) || !db.isInTransaction()) fault = { error };
      throw error;
    }
  };
  const end = (): void => {
    isOver = true;
    if (fault) throw fault.error;
  };
  return { handle: { run: (sql, ...values) => void query(sql, ...values), all: query }, end };
}

const isThenable = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
