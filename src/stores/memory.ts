import { checkMethod } from "../core/check-options.ts";
import type { Store } from "../core/store/contract.ts";
import { memoryRuns, memoryStore } from "../core/store/in-memory.ts";
import { checkOptions } from "./options.ts";

/**
 * Creates a store that lasts as long as the process, for tests and first steps. `clock` decides when claims expire and
 * runs are due.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * export const store = createMemoryStore();
 * ```
 */
export function createMemoryStore(options: { readonly clock?: { now(): number } } = {}): Store {
  checkOptions("createMemoryStore", options, ["clock"]);
  const { clock = Date } = options;
  checkMethod("clock", clock, "now");
  const incarnation = crypto.randomUUID();
  const secret = crypto.randomUUID() + crypto.randomUUID();
  return memoryStore(memoryRuns(clock), { incarnation, secret });
}
