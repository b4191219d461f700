import type { MastraCompositeStore } from "@mastra/core/storage";
import type { Engine } from "../../core/engine/engine.ts";
import type { Store } from "../../core/store/contract.ts";
import { loadPackage } from "../load-package.ts";
import { ownEngine } from "../own-engine.ts";

/**
 * The storage of a Mastra application in a Holdfast store: its workflow runs, and the memory of its agents (threads,
 * messages, resources, observational memory). Each workflow run, each thread and each resource is a run of its own:
 * listed, verified, encrypted, exported and forked like any other. A change costs what has changed.
 *
 * Give a store, or an engine whose settings (redaction, limits, retention) then apply.
 *
 * @example
 * ```ts
 * import { Mastra } from "@mastra/core";
 * import { mastraStorage } from "holdfast/adapters/mastra";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * export const mastra = new Mastra({ storage: await mastraStorage(await openSqliteStore()) });
 * ```
 */
export async function mastraStorage(target: Store | Engine): Promise<MastraCompositeStore> {
  const { engine, owned } = ownEngine(target);
  const { HoldfastStorage } = await loadPackage(
    "@mastra/core",
    "The storage for Mastra",
    () => import("./composite.ts"),
  );
  return new HoldfastStorage(engine, owned);
}
