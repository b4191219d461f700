import { defined } from "../core/defined.ts";
import type { Store } from "../core/store/contract.ts";
import { openStore } from "../stores/open.ts";
import { openPostgresStore } from "../stores/postgres/index.ts";
import { openRedisCache, openRedisStore } from "../stores/redis/index.ts";
import { createTieredStore } from "../stores/tiered/index.ts";

/** A store as described to a worker process: a URL, and options that the URL can't express. */
export interface StoreAddress {
  readonly url: string;
  /** PostgreSQL: the schema. */
  readonly schema?: string;
  /** PostgreSQL: its option of the same name. */
  readonly timeoutMs?: number;
  /** Redis: the prefix of all keys. */
  readonly prefix?: string;
  /** The URL of a Redis with copies of what is at `url`. */
  readonly cache?: string;
}

/** Opens the store at an address. */
export async function openAddress(address: StoreAddress): Promise<Store> {
  const primary = await openPrimary(address);
  const { cache } = address;
  return cache === undefined
    ? primary
    : createTieredStore({ primary, cache: openRedisCache({ url: cache }) });
}

/** Opens the store, calls `use` and closes it. */
export async function withStoreAt<T>(address: StoreAddress, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openAddress(address);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

function openPrimary({ url, schema, timeoutMs, prefix }: StoreAddress): Promise<Store> {
  if (schema !== undefined)
    return openPostgresStore({ connectionString: url, schema, ...defined({ timeoutMs }) });
  if (prefix !== undefined) return openRedisStore({ url, prefix });
  return openStore(url);
}

/** The name of the ledger scenario's table, beside the runs. */
export const ledgerIn = ({ schema }: StoreAddress): string =>
  schema === undefined ? "ledger" : `"${schema}".ledger`;
