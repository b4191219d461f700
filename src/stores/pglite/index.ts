import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { type Logger, silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { checkOptions } from "../options.ts";
import { PostgresStore } from "../postgres/store.ts";
import { onPglite, type PgliteDatabase } from "./database.ts";
import { openFolder } from "./folder.ts";

export type { PgliteDatabase, PgliteQueryable } from "./database.ts";

/** Options of the PGlite store: a folder or a PGlite, and the rest as it pleases. */
export interface PgliteOptions {
  /** Where to keep the database; made if need be. One process at a time: a second one is told who has it (HF-3023). */
  readonly folder?: string;
  /** A PGlite of your own, which stays open when the store is closed. That nobody else opens its files is up to you. */
  readonly db?: PgliteDatabase;
  /** The schema that holds everything. Default `holdfast`. */
  readonly schema?: string;
  /** Told what acknowledged writes do not survive. */
  readonly logger?: Pick<Logger, "warn">;
}

/**
 * Opens the PGlite store: the PostgreSQL store on a PostgreSQL inside this process. An acknowledged write survives the end
 * of the process, however it ends, but not a power loss: PGlite never syncs its files.
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
    throw new HoldfastError("HF-1003", {
      option: "folder",
      problem: "either a folder or a db must be given",
    });
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
