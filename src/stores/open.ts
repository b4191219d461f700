import { fileURLToPath } from "node:url";
import { badOption, checkMethod, checkText } from "../core/check-options.ts";
import { type Logger, silentLogger } from "../core/logger.ts";
import { didYouMean } from "../core/nearest.ts";
import type { Store } from "../core/store/contract.ts";
import { checkOptions } from "./options.ts";

export type { AsyncSqlHandle, SqlRow, SqlValue } from "../core/sql.ts";
export type { StoreCapabilities, StoreIdentity } from "../core/store/contract.ts";

/** Options that apply to every kind of store. For options of one kind, use the function that opens it. */
export interface OpenStoreOptions {
  /** Receives warnings about weakened guarantees and damaged data. Default: no logging. */
  readonly logger?: Logger;
}

type Opener = (url: string, logger: Logger) => Promise<Store>;

const openPostgres: Opener = async (url, logger) => {
  const { rest, schema } = schemaIn(url);
  const { openPostgresStore } = await import("./postgres/index.ts");
  return openPostgresStore({ connectionString: rest, ...schema, logger });
};

const openRedis: Opener = async (url, logger) =>
  (await import("./redis/index.ts")).openRedisStore({ url, logger });

/** Openers by scheme. Each store and its driver are loaded on demand. */
const OPENERS: Readonly<Record<string, Opener>> = {
  sqlite: async (url) => (await import("./sqlite/index.ts")).openSqliteStore({ file: pathIn(url) }),
  memory: async (url) => {
    if (url !== "memory:") throw invalid("a store in memory has no place; write memory:");
    return (await import("./memory.ts")).createMemoryStore();
  },
  postgres: openPostgres,
  postgresql: openPostgres,
  pglite: async (url, logger) => {
    const { rest, schema } = schemaIn(url);
    return (await import("./pglite/index.ts")).openPgliteStore({ folder: pathIn(rest), ...schema, logger });
  },
  redis: openRedis,
  rediss: openRedis,
  file: async (url, logger) =>
    (await import("./file/index.ts")).openFileStore({ folder: pathIn(url), logger }),
  dynamodb: async (url) => (await import("./dynamodb/index.ts")).openDynamoStore(tableIn(url)),
  tiered: async (url, logger) => {
    const { primary, cache } = tiersIn(url);
    const { openRedisCache } = await import("./redis/index.ts");
    const { createTieredStore } = await import("./tiered/index.ts");
    // A cache that is away fails no call, so nobody would hear that its driver was never installed.
    await (await import("./redis/driver.ts")).load();
    return createTieredStore({
      primary: await openStore(primary, { logger }),
      cache: openRedisCache({ url: cache }),
      logger,
    });
  },
};

/** At least two letters: `C:\runs.db` is a path. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Opens the store that a URL names: `sqlite:./runs.db` or a path that ends in `.db`, `postgres://user@host/database`,
 * `pglite:./folder`, `redis://host`, `file:./folder`, `dynamodb://region/table`, `memory:`; or one of them with a Redis
 * cache beside it, `tiered:postgres://host/database?cache=redis%3A%2F%2Fhost`. Loads only what that store needs.
 * `?schema=public` puts the tables of PostgreSQL and PGlite into a schema other than `holdfast`.
 *
 * @example
 * ```ts
 * import { openStore } from "holdfast/stores";
 *
 * export const store = await openStore(process.env["HOLDFAST_STORE"] ?? "sqlite:./runs.db");
 * ```
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  checkText("url", url, 1);
  checkOptions("openStore", options, ["logger"]);
  const { logger = silentLogger } = options;
  checkMethod("logger", logger, "warn");
  const known = Object.keys(OPENERS);
  const [, scheme] = SCHEME.exec(url) ?? [];
  if (scheme === undefined) {
    if (/.\.db$/i.test(url)) return (OPENERS["sqlite"] as Opener)(`sqlite:${url}`, logger);
    throw invalid(`it names no kind of store; it must end in .db or begin with one of ${listed(known)}`);
  }
  const name = scheme.toLowerCase();
  if (Object.hasOwn(OPENERS, name)) return (OPENERS[name] as Opener)(url, logger);
  // Names only the scheme: the rest may contain a password.
  const meant = didYouMean(name, known, "; did you mean ", ":");
  throw invalid(`there is no store ${scheme.slice(0, 40)}:; there are ${listed(known)}${meant}`);
}

/** The path after the scheme: as it is, or with three slashes as in a URL. */
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

/** `dynamodb://region/table`. The region defaults to the environment's; the keys always come from there. */
function tableIn(url: string): { table: string; region?: string; endpoint?: string } {
  const example =
    "dynamodb://eu-central-1/holdfast, with ?endpoint= and its encoded URL for a service of your own";
  const [, region, table, query = ""] = /^[a-z]+:\/\/([a-z0-9-]*)\/([\w.-]+)(?:\?(.*))?$/i.exec(url) ?? [];
  const settings = new URLSearchParams(query);
  const endpoint = settings.get("endpoint");
  const unknown = [...settings.keys()].some((key) => key !== "endpoint");
  if (table === undefined || unknown) throw invalid(`it must be of the form ${example}`);
  return { table, ...(region ? { region } : {}), ...(endpoint === null ? {} : { endpoint }) };
}

/** The primary's URL has an extra parameter, which is removed: the encoded URL of the cache. */
function tiersIn(url: string): { primary: string; cache: string } {
  const whole = url.slice(url.indexOf(":") + 1);
  const { rest, value = "" } = takeOut(whole, /([?&])cache=([^&]*)/);
  if (!/^rediss?:/i.test(value))
    throw invalid("a tiered store names its cache, as in tiered:postgres://host/db?cache=redis%3A%2F%2Fhost");
  if (/^tiered:/i.test(whole)) throw invalid("a tiered store holds its runs in a store that is not tiered");
  return { primary: rest, cache: value };
}

/** `?schema=public` names the schema of the tables. The driver would ignore it. */
function schemaIn(url: string): { rest: string; schema: { schema?: string } } {
  const { rest, value } = takeOut(url, /([?&])schema=([^&]*)/);
  if (value === "") throw invalid("a schema must have a name, such as ?schema=public");
  return { rest, schema: value === undefined ? {} : { schema: value } };
}

/** The URL without a parameter, and what that was. */
function takeOut(url: string, parameter: RegExp): { rest: string; value?: string } {
  const [whole, before, encoded = ""] = parameter.exec(url) ?? [];
  if (whole === undefined || before === undefined) return { rest: url };
  const after = url.slice(url.indexOf(whole) + whole.length);
  const rest = url.slice(0, url.indexOf(whole)) + (after === "" ? "" : before + after.slice(1));
  return { rest, value: decoded(encoded) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const listed = (schemes: readonly string[]): string => schemes.map((scheme) => `${scheme}:`).join(", ");

const invalid = (problem: string) => badOption("url", problem);
