import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { AsyncSqlHandle, SqlWork } from "../../core/sql.ts";
import type { Append, TransactionResult } from "../../core/store/contract.ts";
import { send, type Writing } from "./append.ts";
import { isOwnFault } from "./errors.ts";
import { type Database, type Queryable, RolledBack } from "./queryable.ts";

/** The outcome of the caller's part: done, or an error thrown by the caller's code. */
type Outcome<T> = TransactionResult<T> | { readonly result?: undefined; readonly thrown: unknown };

/** Statements that would end the transaction behind the store's back, or change the connection for later users. */
const CONTROL =
  /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:begin|start|commit|end|rollback|abort|savepoint|release|prepare|deallocate|discard|listen|unlisten|reset|vacuum|set(?!\s+(?:local|constraints)\b))\b/i;

/**
 * Runs the caller's writes, then the append, on one connection from BEGIN to COMMIT. Never repeats them, because the
 * work is the caller's.
 */
export async function transact<T>(
  database: Database,
  to: Writing,
  work: SqlWork<T, AsyncSqlHandle>,
  append: (value: T) => Append,
  toFault: (error: unknown) => HoldfastError,
): Promise<Outcome<T>> {
  try {
    return await database.transaction(async (one) => {
      const outcome = await runWork(one, to, handleOn(one, toFault), work, append);
      if (outcome.result?.ok) return outcome;
      throw new RolledBack(outcome);
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.value as Outcome<T>;
    throw error;
  }
}

async function runWork<T>(
  one: Queryable,
  to: Writing,
  { handle, end }: Handle,
  work: SqlWork<T, AsyncSqlHandle>,
  append: (value: T) => Append,
): Promise<Outcome<T>> {
  let value: T;
  let built: Append;
  try {
    value = await work(handle);
    await end();
    built = append(value);
  } catch (thrown) {
    await end().catch((error: unknown) => {
      if (HoldfastError.is(error)) throw error;
    });
    return { thrown };
  }
  const [result] = await send(one, to, [built]);
  return { value, result: result as NonNullable<typeof result> };
}

interface Handle {
  readonly handle: AsyncSqlHandle;
  readonly end: () => Promise<void>;
}

/**
 * `end` closes the handle once every statement on it has finished. It rethrows a failure even if the caller caught it
 * or didn't wait for it: after any failure the server rejects the rest of this transaction.
 */
function handleOn(one: Queryable, toFault: (error: unknown) => HoldfastError): Handle {
  let isOver = false;
  let fault: { readonly error: unknown } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const query: AsyncSqlHandle["all"] = (sql, ...values) => {
    const answer = last.then(async () => {
      if (fault) throw fault.error;
      try {
        return await one.rows(sql, values);
      } catch (error) {
        fault = { error: isOwnFault(error) ? toFault(error) : error };
        throw fault.error;
      }
    });
    last = answer.catch(() => undefined);
    return answer;
  };
  const all: AsyncSqlHandle["all"] = async (sql, ...values) => {
    if (isOver) throw new HoldfastError("HF-1009");
    if (CONTROL.test(sql)) throw badOption("sql", "it controls transactions");
    return query(sql, ...values);
  };
  const end = async (): Promise<void> => {
    isOver = true;
    await last;
    if (fault) throw fault.error;
  };
  return { handle: { run: async (sql, ...values) => void (await all(sql, ...values)), all }, end };
}
