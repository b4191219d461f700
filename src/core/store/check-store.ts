import { badOption, checkMethod } from "../check-options.ts";
import type { Store } from "./contract.ts";

const METHODS: readonly (keyof Store)[] = ["append", "renew", "read", "entries", "list", "due", "close"];

/** Refuses what isn't a store. */
export function checkStore(option: string, store: unknown): asserts store is Store {
  if (typeof store !== "object" || store === null)
    throw badOption(option, "it must be a store, such as openSqliteStore returns");
  if (store instanceof Promise)
    throw badOption(option, "it is a promise of a store. Put await before the call: await openSqliteStore()");
  for (const method of METHODS) checkMethod(option, store as Store, method);
}
