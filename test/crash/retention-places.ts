import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import { blobsIn } from "../../src/core/journal/values.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { withStoreAt } from "../../src/testing/store-address.ts";
import type { StoreKind, StorePlace } from "../../src/testing/store-kinds.ts";
import { journal, namedBlobs } from "../support/retention.ts";

/** A filled place, and a way to remove it. */
export interface Filled {
  readonly place: StorePlace;
  /** Bytes on disk, if known. */
  readonly bytes?: () => number;
  remove(): Promise<void>;
}

/** Fills a store once and provides copies of it. */
export interface Template {
  copy(): Promise<Filled>;
  /** True when copies are identical to the byte. */
  readonly isExact: boolean;
  /** What the place counts: blobs, or runs with blobs. */
  readonly counts: "blobs" | "runs";
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(path.join(folder, name)))
    .reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0);

/** Stores that consist of a folder. */
export async function inFolders(
  kind: StoreKind,
  root: string,
  fill: (store: Store) => Promise<void>,
): Promise<Template> {
  const original = mkdtempSync(path.join(root, `${kind.name}-`));
  const filled = (folder: string): Filled => {
    if (folder !== original) cpSync(original, folder, { recursive: true });
    return {
      place: kind.place(folder),
      bytes: () => sizeOf(folder),
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    };
  };
  const first = filled(original);
  await withStoreAt(first.place.address, fill);
  return {
    copy: async () => filled(mkdtempSync(path.join(root, `${kind.name}-`))),
    isExact: true,
    counts: "blobs",
  };
}

const TABLES = ["meta", "runs", "journal", "blobs"];

/** Schemas in one database. */
export async function inSchemas(
  kind: StoreKind,
  url: string,
  fill: (store: Store) => Promise<void>,
): Promise<Template> {
  const filled = async (put: (place: StorePlace) => Promise<unknown>): Promise<Filled> => {
    const place = kind.place("");
    await put(place);
    return { place, remove: () => place.clear() };
  };
  const first = await filled((place) => withStoreAt(place.address, fill));
  const copied = async ({ address }: StorePlace): Promise<void> => {
    await withStoreAt(address, (store) => store.identity());
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const table of TABLES) {
      await client.query(`DELETE FROM ${address.schema}.${table}`);
      await client.query(
        `INSERT INTO ${address.schema}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${first.place.address.schema}.${table}`,
      );
    }
    await client.query(`ALTER TABLE ${address.schema}.runs ALTER COLUMN n RESTART WITH 1000`);
    await client.end();
  };
  return { copy: () => filled(copied), isExact: true, counts: "blobs" };
}

/** Stores that can't be copied are filled each time. */
export function filledAnew(kind: StoreKind, fill: (store: Store) => Promise<void>): Template {
  return {
    async copy() {
      const place = kind.place("");
      await withStoreAt(place.address, fill);
      return { place, remove: () => place.clear() };
    },
    isExact: false,
    counts: kind.name === "redis" ? "runs" : "blobs",
  };
}

/** The remainder of every run: entries with values and existing blobs, including those that only a snapshot names. */
export async function held(
  store: Store,
  ids: readonly string[],
): Promise<readonly [string, number[], string[]][]> {
  const found: [string, number[], string[]][] = [];
  for (const id of ids) {
    const entries = (await journal(store, id)).filter(({ data }) => data !== null);
    const named = await store.blobs(id, await namedBlobs(store, id));
    const texts = [...entries.map(({ data }) => data ?? ""), ...named.values()];
    const inner = await store.blobs(id, [...new Set(texts.flatMap(blobsIn))]);
    const blobs = [...new Set([...named.keys(), ...inner.keys()])].sort();
    found.push([id, entries.map(({ seq }) => seq), blobs]);
  }
  return found;
}
