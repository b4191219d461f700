import { badOption } from "../../core/check-options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { StoreIdentity } from "../../core/store/contract.ts";
import { newKey, restoration } from "../restoration.ts";
import { isForbidden, isMissing } from "./errors.ts";
import type { Database, Queryable, Value } from "./queryable.ts";
import { RECORD_NAMES } from "./record-tables.ts";
import { functionsOf, MIGRATIONS } from "./schema.ts";
import { type Checked, checkSettings, SETTINGS } from "./settings.ts";
import { type Bind, CLOCK } from "./statement.ts";

/** The schema: its plain name, and quoted with a dot as a prefix for table names. */
export interface Place {
  readonly schema: string;
  readonly at: string;
  /** The name used in error messages. */
  readonly name: string;
}

const TABLES = ["meta", "runs", "journal", "blobs"];

/** Finds which of the store's names are taken. */
const TABLES_FOUND = `SELECT c.relname FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])`;

/**
 * Finds which of the store's functions name another schema. The server keeps their text as it was written: after the
 * schema is renamed they still name the old one, unlike views, indexes and defaults. A dump may name it without quotes.
 */
const STALE = `SELECT p.proname FROM pg_catalog.pg_proc AS p
  JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
  WHERE n.nspname = $1 AND p.proname = ANY ($2::text[])
    AND position('"' || $1 || '".' IN p.prosrc) = 0 AND p.prosrc !~ ('\\m' || $1 || '[.]')`;

interface Found {
  /** 0 when there is nothing yet. */
  readonly version: number;
  readonly identity: StoreIdentity;
  /** Functions that name another schema. */
  readonly stale: readonly string[];
}

/** Identifies the store that a process has opened: the server's id of its table, and its incarnation. */
export interface Opened {
  readonly table: string;
  readonly incarnation: string;
}

export async function openedAs(one: Queryable, { at }: Place): Promise<Opened> {
  const rows = await one.query(`SELECT tableoid::text, value FROM ${at}meta WHERE key = 'incarnation'`);
  const [[table, incarnation] = ["", ""]] = rows as readonly [string, string][];
  return { table, incarnation };
}

/** The condition, part of every writing statement, that the store is still the same. */
export const isSame = (at: string, { table, incarnation }: Opened, bind: Bind): string =>
  `EXISTS (SELECT 1 FROM ${at}meta AS meta WHERE meta.key = 'incarnation'
    AND meta.value = ${bind(incarnation, "text")} AND meta.tableoid::text = ${bind(table, "text")})`;

/** Examines the schema without changing it. Refuses a schema that isn't ours or is newer. */
async function inspect(one: Queryable, { schema, at, name }: Place): Promise<Found> {
  const tables = await one.query(TABLES_FOUND, [schema, TABLES]);
  if (tables.length === 0) return { version: 0, identity: { incarnation: "", secret: "" }, stale: [] };
  if (tables.length < TABLES.length) throw foreign(name);
  const found = foundIn(await one.query(`SELECT key, value FROM ${at}meta`), name);
  const stale = await one.query(STALE, [schema, functionsOf(at).map((made) => made.name)]);
  return { ...found, stale: stale.map(([stray]) => stray as string) };
}

function foundIn(rows: readonly (readonly Value[])[], name: string): Omit<Found, "stale"> {
  const meta = new Map(rows as readonly [string, string][]);
  const version = Number(meta.get("schema"));
  const [incarnation, secret] = [meta.get("incarnation"), meta.get("secret")];
  if (meta.get("application") !== "holdfast" || !(version > 0) || !incarnation || !secret)
    throw foreign(name);
  if (version > MIGRATIONS.length)
    throw new HoldfastError("HF-3005", { file: name, found: version, known: MIGRATIONS.length });
  const restoredAt = meta.get("restored_at");
  const since = restoredAt === undefined ? {} : { restoredAt: Number(restoredAt) };
  return { version, identity: { incarnation, secret, ...since } };
}

const foreign = (name: string): HoldfastError =>
  new HoldfastError("HF-3006", { file: name, message: "It holds tables of another program." });

/**
 * The identity of a store that was open before, in one statement: workers ask before they take runs. `null` when it
 * isn't as it was, so that everything has to be looked at again.
 */
export async function sameAgain(
  one: Queryable,
  { at, name }: Place,
): Promise<(Checked & { readonly identity: StoreIdentity }) | null> {
  const rows = await one.query(`SELECT key, value, ${SETTINGS} FROM ${at}meta`).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const [first] = rows;
  if (!first) return null;
  const checked = checkSettings(first.slice(2), name);
  const { version, identity } = foundIn(rows, name);
  return version === MIGRATIONS.length ? { ...checked, identity } : null;
}

/** Gives the store a new incarnation, using the server's clock. */
export async function markRestored(database: Database, place: Place): Promise<StoreIdentity> {
  const { at } = place;
  return database.transaction(async (one) => {
    const [times] = await one.query(`SELECT ${CLOCK}, (SELECT max(created_at) FROM ${at}runs)`);
    const { incarnation, restoredAt } = restoration(Number(times?.[0]), Number(times?.[1] ?? 0));
    for (const entry of [
      ["incarnation", incarnation],
      ["restored_at", String(restoredAt)],
    ])
      await one.query(setMeta(at), entry);
    return (await inspect(one, place)).identity;
  });
}

const setMeta = (at: string): string =>
  `INSERT INTO ${at}meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/**
 * Brings the schema up to date if allowed, and returns the store's identity. Safe when many processes start at once:
 * they take turns, and the later ones find the work done.
 */
export async function prepare(database: Database, place: Place, create: boolean): Promise<StoreIdentity> {
  const { version, identity, stale } = await inspect(database, place);
  const isCurrent = version === MIGRATIONS.length;
  if (isCurrent && stale.length === 0) return identity;
  if (!create) throw isCurrent ? renamed(place, stale) : notReady(place, version);
  const made = database.transaction(async (one) => {
    const lock = `holdfast schema ${place.schema}`;
    await one.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [lock]);
    const found = await inspect(one, place);
    if (found.version < MIGRATIONS.length) await migrate(one, place, found.version);
    await renameIn(one, place, found.stale);
    return (await inspect(one, place)).identity;
  });
  return made.catch((error: unknown) => {
    throw isCurrent && isForbidden(error) ? renamed(place, stale) : error;
  });
}

/** Writes functions anew that name another schema. Who owns them, and who may call them, stays as it is. */
async function renameIn(one: Queryable, { at }: Place, stale: readonly string[]): Promise<void> {
  for (const { name, text } of functionsOf(at))
    if (stale.includes(name)) await one.query(text.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"));
}

function renamed({ name }: Place, stale: readonly string[]): HoldfastError {
  const problem = `${name} was renamed, its functions (${stale.join(", ")}) name the schema it was, and may not be made anew`;
  return badOption("create", `${problem}; open it once with create: true as the role that owns them`);
}

function notReady({ name }: Place, version: number): HoldfastError {
  const state = version === 0 ? "is not there" : `is of version ${version}, ${MIGRATIONS.length} is needed`;
  const problem = `${name} ${state}, and may not be made; open it once with create: true as a role that may`;
  return badOption("create", problem);
}

/** Refuses to begin when a name that is needed belongs to somebody else. */
async function checkNames(one: Queryable, { schema, name: place }: Place, from: number): Promise<void> {
  const needed = [
    ...(from > RECORDS_FROM ? [] : RECORD_NAMES),
    ...(from > DOCUMENTS_FROM ? [] : ["store_documents"]),
  ];
  if (needed.length === 0) return;
  const found = (await one.query(
    `SELECT c.relname, c.relkind::text FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])`,
    [schema, needed],
  )) as readonly [string, string][];
  // Stores of earlier versions have two views under these names.
  const isOurs = ([name, kind]: readonly [string, string]) =>
    from > 0 && kind === "v" && RECORD_NAMES.slice(0, 2).includes(name);
  const [foreign] = found.find((taken) => !isOurs(taken)) ?? [];
  if (foreign !== undefined) throw new HoldfastError("HF-3071", { place, name: foreign });
}

/** The version that has no tables of records yet. */
const RECORDS_FROM = 2;
/** The version that has no table of documents yet. */
const DOCUMENTS_FROM = 3;

async function migrate(one: Queryable, place: Place, from: number): Promise<void> {
  const { schema, at } = place;
  await checkNames(one, place, from);
  // `CREATE SCHEMA IF NOT EXISTS` needs the right to create one even when it exists.
  const there = await one.query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [schema]);
  if (there.length === 0) await one.query(`CREATE SCHEMA ${at.slice(0, -1)}`);
  for (const statements of MIGRATIONS.slice(from)) for (const text of statements(at)) await one.query(text);
  const values = { application: "holdfast", incarnation: newKey(), secret: newKey() };
  const insert = `INSERT INTO ${at}meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`;
  for (const entry of Object.entries(values)) await one.query(insert, entry);
  await one.query(setMeta(at), ["schema", String(MIGRATIONS.length)]);
}
