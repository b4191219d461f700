import { fileURLToPath } from "node:url";
import { HoldfastError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { type Logger, silentLogger } from "../core/ports.ts";
import type { Store } from "../core/store.ts";

/** What every kind of store can be given. What belongs to one kind is an option of the function that opens that kind. */
export interface OpenStoreOptions {
  /** Told what weakens a store's promises, and of what was found damaged. Default: nobody. */
  readonly logger?: Logger;
}

type Opener = (url: string, logger: Logger) => Promise<Store>;

const openPostgres: Opener = async (url, logger) =>
  (await import("./postgres/index.ts")).openPostgresStore({ connectionString: url, logger });

const openRedis: Opener = async (url, logger) =>
  (await import("./redis/index.ts")).openRedisStore({ url, logger });

/** By scheme. Each is loaded when it is asked for, and with it its driver. */
const OPENERS: Readonly<Record<string, Opener>> = {
  sqlite: async (url) => (await import("./sqlite/index.ts")).openSqliteStore({ file: pathIn(url) }),
  memory: async (url) => {
    if (url !== "memory:") throw invalid("a store in memory has no place; write memory:");
    return (await import("./memory.ts")).createMemoryStore();
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  pglite: async (url, logger) =>
    (await import("./pglite/index.ts")).openPgliteStore({ folder: pathIn(url), logger }),
  redis: openRedis,
  rediss: openRedis,
  file: async (url, logger) =>
    (await import("./file/index.ts")).openFileStore({ folder: pathIn(url), logger }),
};

/** At least two letters: `C:\runs.db` is a path. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Opens the store that a URL names: `sqlite:./runs.db` or a path that ends in `.db`, `postgres://user@host/database`,
 * `pglite:./folder`, `redis://host`, `file:./folder`, `memory:`. Only what that store needs is loaded.
 *
 * @example
 * ```ts
 * import { openStore } from "holdfast/stores";
 *
 * export const store = await openStore(process.env["HOLDFAST_STORE"] ?? "sqlite:./runs.db");
 * ```
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { logger = silentLogger } = options;
  const known = Object.keys(OPENERS);
  const [, scheme] = SCHEME.exec(url) ?? [];
  if (scheme === undefined) {
    if (/.\.db$/i.test(url)) return (OPENERS["sqlite"] as Opener)(`sqlite:${url}`, logger);
    throw invalid(`it names no kind of store; it must end in .db or begin with one of ${listed(known)}`);
  }
  const name = scheme.toLowerCase();
  if (Object.hasOwn(OPENERS, name)) return (OPENERS[name] as Opener)(url, logger);
  // Only the scheme is told: what comes after it may hold a password.
  const meant = `did you mean ${nearest(name, known)}:`;
  throw invalid(`there is no store ${scheme.slice(0, 40)}:; known are ${listed(known)}; ${meant}`);
}

/** What stands after the scheme: a path as it is, or one that begins with three slashes, as in a URL. */
function pathIn(url: string): string {
  const scheme = url.slice(0, url.indexOf(":") + 1);
  const place = url.slice(scheme.length);
  if (place === "" || /^\/\/([^/]|$)/.test(place))
    throw invalid(`a path must follow, such as ${scheme}./runs or ${scheme}/var/lib/runs`);
  if (!place.startsWith("///")) return place;
  try {
    return fileURLToPath(`file:${place}`);
  } catch {
    throw invalid(`what follows ${scheme} is not a path`);
  }
}

const listed = (schemes: readonly string[]): string => schemes.map((scheme) => `${scheme}:`).join(", ");

const invalid = (problem: string) => new HoldfastError("HF-1003", { option: "url", problem });
