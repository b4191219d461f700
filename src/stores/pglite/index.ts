import path from "node:path";
import { badOption, checkText } from "../../core/check-options.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkOptions } from "../options.ts";
import { PostgresStore } from "../postgres/store.ts";
import { onPglite, type PgliteDatabase } from "./database.ts";
import { openFolder } from "./folder.ts";

export type { PgliteDatabase, PgliteQueryable } from "./database.ts";

/** Options of the PGlite store. Give a folder or a PGlite. */
export interface PgliteOptions {
  /**
   * The folder of the database; created if needed. One process at a time: a second one gets HF-3023, which names the
   * first.
   */
  readonly folder?: string;
  /** Your own PGlite, which stays open when the store is closed. Make sure that nothing else opens its files. */
  readonly db?: PgliteDatabase;
  /** The schema that holds everything. Default `holdfast`. */
  readonly schema?: string;
  /** Receives a warning about what acknowledged writes don't survive. */
  readonly logger?: Pick<Logger, "warn">;
}

/**
 * Opens the PGlite store: the PostgreSQL store on a PostgreSQL inside this process. An acknowledged write survives a
 * crash of the process, but not a power loss: PGlite never syncs its files.
 *
 * @example
 * ```ts
 * import { openPgliteStore } from "holdfast/stores/pglite";
 *
 * export const store = await openPgliteStore({ folder: "./runs" });
 * ```
 */
export async function openPgliteStore(options: PgliteOptions): Promise<Store> {
  checkOptions("openPgliteStore", options, ["folder", "db", "schema", "logger"]);
  const { db: given, folder, schema = "holdfast", logger = silentLogger } = options;
  if ((given === undefined) === (folder === undefined) || folder === "")
    throw badOption("folder", "either a folder or a db must be given");
  if (folder !== undefined) checkText("folder", folder, 1);
  const { db, close } = given
    ? { db: given, close: async () => undefined }
    : await openFolder(folder as string);
  await db.waitReady;
  const store = new PostgresStore({
    database: onPglite(db, close),
    schema,
    create: true,
    logger,
    name: "pglite",
    where: folder === undefined ? `PGlite schema ${schema}` : path.resolve(folder),
    isVolatile: db.dataDir === undefined || db.dataDir.startsWith("memory://"),
  });
  try {
    await store.identity();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
