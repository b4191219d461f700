import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import type { AppendResult, RunPage, RunQuery, Store } from "../core/store/contract.ts";
import { everyRun } from "../core/store/query.ts";
import type { RunRow } from "../core/types.ts";
import { Addresses, splitAddress } from "./addresses.ts";
import type { Settings } from "./config/settings.ts";
import { hasPlaceholder, isOpenAddress, type Sealing } from "./config/store-url.ts";

/**
 * Stores that workflow files, or paths with a workflow's name in them, have put runs into. A project remembers them, so
 * that other commands look there as well.
 */
const FILE = join(".holdfast", "places.json");
const MOST_PLACES = 200;
const LOCAL = /^(sqlite|pglite|file):(.+)$/;

/** A remembered store: its URL, and how values are written there if the file that named it says so. */
export interface Place extends Sealing {
  readonly url: string;
}

/** Remembers a store. One in a network whose address has a password in it is named explicitly each time. */
export function rememberPlace(root: string, { url, ...sealing }: Place): void {
  const at = writtenDown(root, url);
  if (at === undefined) return;
  const entry = Object.keys(sealing).length === 0 ? at : { at, ...sealing };
  const known = readPlaces(root);
  if (known.some((one) => JSON.stringify(one) === JSON.stringify(entry))) return;
  const others = known.filter((one) => atOf(one) !== at);
  const file = join(root, FILE);
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ places: [entry, ...others].slice(0, MOST_PLACES) }, null, 2)}\n`);
  renameSync(draft, file);
}

function writtenDown(root: string, url: string): string | undefined {
  const [, kind, path] = LOCAL.exec(url) ?? [];
  if (isOpenAddress(url)) return url;
  return path === undefined ? undefined : `${kind}:${relative(root, path).replaceAll("\\", "/")}`;
}

/** Those that still exist, as far as that can be told without asking them. */
export function knownPlaces(root: string): readonly Place[] {
  return readPlaces(root).flatMap((entry) => {
    const { at, ...sealing } = typeof entry === "string" ? { at: entry } : entry;
    if (isOpenAddress(at)) return [{ url: at, ...sealing }];
    const [, kind, path] = LOCAL.exec(at) ?? [];
    if (kind === undefined || path === undefined) return [];
    const place = resolve(root, path);
    return existsSync(place) ? [{ url: `${kind}:${place}`, ...sealing }] : [];
  });
}

type Entry = string | (Sealing & { readonly at: string });

const atOf = (entry: Entry): string => (typeof entry === "string" ? entry : entry.at);

function readPlaces(root: string): readonly Entry[] {
  try {
    const { places } = JSON.parse(readFileSync(join(root, FILE), "utf8")) as { places?: unknown };
    return Array.isArray(places) ? places.flatMap(readEntry) : [];
  } catch {
    // None was remembered, or the file was edited: only the configured store is used.
    return [];
  }
}

function readEntry(given: unknown): Entry[] {
  if (typeof given === "string") return [given];
  if (!isRecord(given) || typeof given["at"] !== "string") return [];
  const { at, compression, encryption } = given;
  return [
    {
      at,
      ...(typeof compression === "boolean" || typeof compression === "number" ? { compression } : {}),
      ...(typeof encryption === "boolean" ? { encryption } : {}),
    },
  ];
}

/** True when runs may be outside the configured store: none is named, or its path depends on the workflow. */
export function hasPlaces(settings: Settings): boolean {
  if (hasPlaceholder(settings)) return true;
  const { store, storage, path } = settings.origins;
  return (
    store === "default" &&
    storage === undefined &&
    path === undefined &&
    knownPlaces(settings.root).length > 0
  );
}

/**
 * The store with the run in question (the newest, if several have one), or all of them for reading. One that can't be
 * opened (`undefined`) is left out.
 */
export async function chooseStore(
  address: string | undefined,
  urls: readonly string[],
  open: (url: string) => Promise<Store | undefined>,
): Promise<{ readonly found: Store | undefined; readonly url: string | undefined }> {
  const opened = await Promise.all(urls.map(open));
  return choose(
    address,
    urls.filter((_, index) => opened[index] !== undefined),
    opened.filter((store) => store !== undefined),
  );
}

async function choose(
  address: string | undefined,
  urls: readonly string[],
  stores: readonly Store[],
): Promise<{ readonly found: Store | undefined; readonly url: string | undefined }> {
  const [first, ...rest] = stores;
  if (!first) return { found: undefined, url: undefined };
  if (rest.length === 0) return { found: first, url: urls[0] };
  const rows = address === undefined ? [] : await Promise.all(stores.map((store) => newest(store, address)));
  const newestAt = Math.max(...rows.map((row) => row?.createdAt ?? -1));
  const index = rows.findIndex((row) => row !== undefined && row.createdAt === newestAt);
  const found = stores[index];
  if (!found) return { found: lookingInto([first, ...rest]), url: urls.join(", ") };
  for (const store of stores) if (store !== found) await store.close();
  return { found, url: urls[index] };
}

/** The run of an address in one store; `undefined` when there is none. */
async function newest(store: Store, address: string): Promise<RunRow | undefined> {
  const addresses = new Addresses(store, "", () => Promise.reject(new Error("no checkpoints are asked for")));
  try {
    return await addresses.run(splitAddress(address).run);
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    if (error.code !== "HF-4302") return undefined;
    // Ambiguous: the command that uses it reports that.
    return (await store.list({ limit: 1 })).runs[0];
  }
}

/** Combines several stores. A run's data comes from its own store and goes there, and so does that of its forks. */
export function lookingInto(stores: readonly [Store, ...Store[]]): Store {
  const [first] = stores;
  const owners = new Map<string, Store>();
  const ownerOf = async (runId: string): Promise<Store> => {
    const known = owners.get(runId);
    if (known) return known;
    for (const store of stores) {
      if ((await store.read(runId)) === null) continue;
      owners.set(runId, store);
      return store;
    }
    return first;
  };
  return {
    name: first.name,
    capabilities: first.capabilities,
    identity: () => first.identity(),
    now: () => first.now(),
    append: async (batch) => {
      const results = batch.map(async (one) => {
        const { id, origin } = one.run;
        const isNew = origin !== null && (await ownerOf(id)) === first && (await first.read(id)) === null;
        const [result] = await (await ownerOf(isNew ? origin.runId : id)).append([one]);
        return result as AppendResult;
      });
      return Promise.all(results);
    },
    renew: (batch) => first.renew(batch),
    read: async (runId) => (await ownerOf(runId)).read(runId),
    entries: async (runId, range) => (await ownerOf(runId)).entries(runId, range),
    blobs: async (runId, hashes) => (await ownerOf(runId)).blobs(runId, hashes),
    list: (query) => listAll(stores, query),
    due: async (query) =>
      (await Promise.all(stores.map((store) => store.due(query)))).flat().slice(0, query.limit),
    close: async () => {
      for (const store of stores) await store.close();
    },
  };
}

/** Runs of all of them, newest first. The cursor holds how many of each were seen. */
async function listAll(stores: readonly Store[], { limit, cursor, ...query }: RunQuery): Promise<RunPage> {
  const seen = cursor === undefined ? stores.map(() => 0) : cursor.split(",").map(Number);
  const lists = await Promise.all(
    stores.map((store, index) => take(store, query, seen[index] ?? 0, limit + 1)),
  );
  const all = lists.flatMap((rows, index) => rows.map((row) => ({ row, index })));
  all.sort((a, b) => b.row.createdAt - a.row.createdAt || (a.row.id < b.row.id ? 1 : -1));
  const page = all.slice(0, limit);
  const after = seen.map((count, index) => count + page.filter((one) => one.index === index).length);
  return { runs: page.map(({ row }) => row), cursor: all.length > limit ? after.join(",") : null };
}

async function take(
  store: Store,
  query: Omit<RunQuery, "limit" | "cursor">,
  skip: number,
  most: number,
): Promise<readonly RunRow[]> {
  const rows: RunRow[] = [];
  let left = skip;
  for await (const row of everyRun(store, query)) {
    if (left-- > 0) continue;
    rows.push(row);
    if (rows.length === most) break;
  }
  return rows;
}
