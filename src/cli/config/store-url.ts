import { type Stats, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { ConfigValues } from "./schema.ts";
import type { Settings } from "./settings.ts";

/** Kinds of store in the file system. */
const LOCAL = /^(sqlite|pglite|file):(?!\/\/)(.+)$/i;
const PLACEHOLDER = /\$\{workflow\.name\}|\{TASK\}/g;

/** The settings of a workflow file for the store of its runs. */
export interface StorePlace extends Sealing {
  readonly storage?: string;
  readonly path?: string;
}

/** How values are written: compressed (how hard), encrypted. */
export interface Sealing {
  readonly compression?: boolean | number;
  readonly encryption?: boolean;
}

/** The settings with the store that a workflow file names, unless another one is set. */
export function withPlace(settings: Settings, place: StorePlace | undefined): Settings {
  const sealed = withSealing(settings, place);
  const { values, origins } = sealed;
  const isSaid = [origins["store"], origins["storage"], origins["path"]].some(
    (from) => from && from !== "default",
  );
  if (isSaid || (place?.storage === undefined && place?.path === undefined)) return sealed;
  const { store: _, ...rest } = values;
  const { store: __, ...others } = origins;
  const { storage, path } = place;
  return {
    ...sealed,
    values: {
      ...rest,
      ...(storage === undefined ? {} : { storage: storage as NonNullable<ConfigValues["storage"]> }),
      ...defined({ path }),
    },
    origins: { ...others, path: "the workflow file", storage: "the workflow file" },
  };
}

/** The settings with a file's or a remembered place's way of writing values, where the configuration says nothing. */
export function withSealing(settings: Settings, { compression, encryption }: Sealing = {}): Settings {
  const { values, origins } = settings;
  const isFree = (key: string): boolean => (origins[key] ?? "default") === "default";
  const said = defined({
    compression: isFree("compression") ? compression : undefined,
    encryption: isFree("encryption") ? encryption : undefined,
  });
  const from = Object.keys(said).map((key) => [key, "the workflow file"]);
  return {
    ...settings,
    values: { ...values, ...(said as Pick<ConfigValues, "encryption">) } as Settings["values"],
    origins: { ...origins, ...Object.fromEntries(from) },
  };
}

/** True when the store depends on the workflow. */
export const hasPlaceholder = ({ values }: Settings): boolean =>
  values.store === undefined && values.path !== undefined && values.path.search(PLACEHOLDER) >= 0;

/** Kinds of store reached over a network, and their address formats. */
const REMOTE: Readonly<Record<string, RegExp>> = {
  postgres: /^postgres(ql)?:\/\//i,
  redis: /^rediss?:\/\//i,
};

/** The URL of the configured store. `cwd`: the base of a path on the command line or in a variable. */
export function storeUrl({ values, origins, root }: Settings, cwd: string, workflow?: string): string {
  const { store, storage = "sqlite", path = "./.holdfast/" } = values;
  const from =
    origins[store === undefined ? (values.path === undefined ? "storage" : "path") : "store"] ?? "";
  const base = /^(env|flag) /.test(from) ? cwd : root;
  if (store !== undefined) return absolute(store, base);
  if (storage === "memory") return "memory:";
  const address = REMOTE[storage];
  if (address) {
    if (values.path !== undefined && address.test(values.path)) return values.path;
    throw new HoldfastError("HF-4031", { source: from || "it", storage });
  }
  const place = filled(path, workflow, from);
  const isFolder = storage === "sqlite" && !/\.db$/i.test(place);
  return absolute(`${storage}:${isFolder ? join(place, "holdfast.db") : place}`, base);
}

function filled(path: string, workflow: string | undefined, source: string): string {
  return path.replace(PLACEHOLDER, (placeholder) => {
    if (workflow !== undefined) return workflow;
    const problems = `path contains ${placeholder}, and this command names no workflow; use --store sqlite:<file>.`;
    throw new HoldfastError("HF-4305", { problems, source });
  });
}

function absolute(url: string, base: string): string {
  const [, scheme, place] = LOCAL.exec(url) ?? [];
  if (scheme !== undefined && place !== undefined)
    return `${scheme}:${isAbsolute(place) ? place : resolve(base, place)}`;
  return /^[a-z][a-z0-9+.-]+:/i.test(url) ? url : resolve(base, url);
}

/** True when nothing is there yet: a read-only command shouldn't create it, nor make a store of an empty file. */
export function isAbsent(url: string): boolean {
  const place = LOCAL.exec(url)?.[2] ?? (/^[a-z][a-z0-9+.-]+:/i.test(url) ? undefined : url);
  return place !== undefined && isNothing(statSync(place, { throwIfNoEntry: false }));
}

const isNothing = (found: Stats | undefined): boolean =>
  found === undefined || (found.isFile() && found.size === 0);

/** True for the address of a store in a network that has no password in it: that may be written down. */
export function isOpenAddress(url: string): boolean {
  if (!Object.values(REMOTE).some((address) => address.test(url)) || !URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return password === "" && ![...searchParams.keys()].some((key) => /password|secret|token/i.test(key));
}

/** Removes what must not be shown. */
export const withoutPassword = (url: string): string => url.replace(/\/\/([^/@]*?):[^/@]*@/, "//$1:…@");
