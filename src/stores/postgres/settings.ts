import { HoldfastError } from "../../core/errors.ts";
import type { StoreCapabilities } from "../../core/store/contract.ts";
import { TO_PRIMARY } from "./errors.ts";
import type { Queryable, Value } from "./queryable.ts";

/** The first version with materialized common table expressions and hashes of texts. */
const OLDEST = 120_000;

/** The columns that `checkSettings` takes. */
export const SETTINGS = `pg_is_in_recovery()::text, current_setting('transaction_read_only'),
  current_setting('server_encoding'), current_setting('server_version_num'),
  current_setting('fsync'), current_setting('full_page_writes')`;

export interface Checked {
  readonly durability: StoreCapabilities["durability"];
  /** Why acknowledged writes may not survive a power loss, if so. */
  readonly doubt?: string;
}

/** Refuses a server that can't take writes as required, and returns what its commits survive. */
export async function checkServer(one: Queryable, name: string): Promise<Checked> {
  const [row = []] = await one.query(`SELECT ${SETTINGS}`);
  return checkSettings(row, name);
}

export function checkSettings(row: readonly Value[], name: string): Checked {
  const [recovery, readOnly, encoding, version, fsync, fullPages] = row as readonly string[];
  const refuse = (message: string, fix: string) =>
    new HoldfastError("HF-3022", { place: name, message, fix });
  if (recovery === "true") throw refuse("the server is a standby, which takes no writes.", TO_PRIMARY);
  if (readOnly === "on") throw refuse("transactions are read-only here.", TO_PRIMARY);
  if (encoding !== "UTF8")
    throw refuse(
      `the database keeps texts as ${encoding}, UTF8 is needed.`,
      "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
    );
  if (Number(version) < OLDEST) throw refuse("PostgreSQL 12 or later is needed.", "Upgrade the server.");
  const off = [fsync === "off" && "fsync", fullPages === "off" && "full_page_writes"].filter(Boolean);
  if (off.length === 0) return { durability: "power-loss" };
  return { durability: "process", doubt: `the server runs with ${off.join(" and ")} off` };
}
