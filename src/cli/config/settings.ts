import { existsSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative, resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { didYouMean } from "../../core/nearest.ts";
import type { Globals } from "../globals.ts";
import type { Host } from "../host.ts";
import { loadModule, messageOf, noFile } from "../modules.ts";
import type { ConfigInput, ConfigValues } from "./schema.ts";
import { unfoldBlocks } from "./seed-blocks.ts";
import { checkFound } from "./trust.ts";

const DEFAULTS = {
  store: "sqlite:./.holdfast/holdfast.db",
  enabled: true,
  on_failure: "pause",
  retention: "default",
  compression: false,
  encryption: false,
  size_limit: 100_000_000,
  auto_recovery: true,
  max_recovery_attempts: 3,
  recovery_timeout: "5m",
  fallback_to_previous: true,
  on_unrestorable: "park",
  async_writes: false,
  claim: "15s",
  ui: "auto",
  agent_consent: true,
} as const satisfies ConfigValues;

/** The effective settings of this command, and the origin of each value. */
export interface Settings {
  /** The base of relative paths in the configuration: its folder, or the current one. */
  readonly root: string;
  readonly file: string | undefined;
  readonly values: ConfigValues & Defaulted;
  /** By key: `default`, `holdfast.config.ts`, `profile production`, `env HOLDFAST_STORE`, `flag --store`. */
  readonly origins: Readonly<Record<string, string>>;
  /** Keys without effect here, and why; a sentence each. */
  readonly notes: readonly string[];
}

type Defaulted = {
  readonly [K in Exclude<keyof typeof DEFAULTS, "store">]: NonNullable<ConfigValues[K]>;
};

const NAMES = ["ts", "mts", "js", "mjs", "json", "yaml", "yml"].map((kind) => `holdfast.config.${kind}`);

/** The configuration that applies to a folder: its own, or that of the nearest folder above. */
export function findConfig(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = NAMES.map((name) => join(at, name)).find((file) => existsSync(file));
    if (found !== undefined || dirname(at) === at) return found;
  }
}

const FROM_ENV: Readonly<Record<string, keyof ConfigValues>> = {
  HOLDFAST_STORE: "store",
  HOLDFAST_ACTOR: "actor",
  HOLDFAST_UI: "ui",
};

export async function loadSettings(
  { env, cwd }: Pick<Host, "env" | "cwd">,
  globals: Globals,
): Promise<Settings> {
  const named = globals.config ?? env["HOLDFAST_CONFIG"];
  const file = named === undefined ? findConfig(cwd) : resolve(cwd, named);
  if (file !== undefined && named === undefined && isCode(file)) checkFound(file, cwd);
  const given = file === undefined ? {} : await readConfig(file, env);
  const profile = globals.profile ?? env["HOLDFAST_PROFILE"];
  const { profiles = {}, $schema: _, ...own } = given;
  const layers: [string, ConfigValues][] = [
    ["default", DEFAULTS],
    [file === undefined ? "" : relative(cwd, file), own],
  ];
  if (profile !== undefined) layers.push([`profile ${profile}`, chosen(profiles, profile, file)]);
  for (const [name, key] of Object.entries(FROM_ENV))
    if (env[name]) layers.push([`env ${name}`, { [key]: env[name] } as ConfigValues]);
  const { store, as, ui } = globals;
  if (store !== undefined) layers.push(["flag --store", { store }]);
  if (as !== undefined) layers.push(["flag --as", { actor: as }]);
  if (ui !== undefined) layers.push(["flag --ui", { ui }]);
  const unfolded = layers.map(([origin, layer]) => unfoldBlocks(origin, layer));
  return {
    root: file === undefined ? cwd : dirname(file),
    file,
    ...merge(unfolded.flatMap((one) => one.layers)),
    notes: unfolded.flatMap(({ notes }) => notes),
  };
}

function chosen(profiles: NonNullable<ConfigInput["profiles"]>, name: string, file: string | undefined) {
  const found = profiles[name];
  if (found) return found;
  const names = Object.keys(profiles);
  const meant = names.length === 0 ? "It has none." : `It has ${names.join(", ")}.${didYouMean(name, names)}`;
  throw new HoldfastError("HF-4305", {
    problems: `there is no profile ${name}. ${meant}`,
    source: file ?? "no file",
  });
}

/** Later layers win. The kind of store is one decision: a layer that sets any part of it sets all of it. */
function merge(layers: readonly (readonly [string, ConfigValues])[]): Pick<Settings, "values" | "origins"> {
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const [origin, layer] of layers) {
    const isAboutStore = layer.store !== undefined || layer.storage !== undefined || layer.path !== undefined;
    if (isAboutStore)
      for (const key of ["store", "storage", "path"]) {
        delete values[key];
        delete origins[key];
      }
    for (const [key, value] of Object.entries(layer)) {
      if (value === undefined) continue;
      values[key] = value;
      origins[key] = origin;
    }
  }
  return { values: values as Settings["values"], origins };
}

const isCode = (file: string): boolean => ![".json", ".yaml", ".yml"].includes(extname(file));

/** Reads and checks a file. */
async function readConfig(file: string, env: Host["env"]): Promise<ConfigInput> {
  const value = await readValue(file, env);
  const { checkConfig } = await import("./check.ts");
  const { config, problems } = checkConfig(value);
  if (problems.length === 0) return config;
  throw new HoldfastError("HF-4305", { problems: problems.join("\n"), source: file });
}

async function readValue(file: string, env: Host["env"]): Promise<unknown> {
  if (isCode(file)) return exported(await loadModule(file));
  return filled((await readData(file)) ?? {}, env, file);
}

/** The export called `config`, or the default one; a file read as CommonJS has either inside its default export. */
function exported(module: Readonly<Record<string, unknown>>): unknown {
  const { config, default: main } = module;
  if (config !== undefined) return config;
  const isWrapped = typeof main === "object" && main !== null && ("default" in main || "config" in main);
  return isWrapped ? exported(main as Readonly<Record<string, unknown>>) : (main ?? {});
}

/** Reads a JSON or YAML file. */
export async function readData(file: string): Promise<unknown> {
  const [text, kind] = [readText(file), extname(file)];
  try {
    return kind === ".json" ? JSON.parse(text) : (await import("yaml")).parse(text);
  } catch (error) {
    const why = `It is not ${kind.slice(1).toUpperCase()}.`;
    throw unreadable(file, messageOf(error), why, "Correct the file.");
  }
}

function readText(file: string): string {
  if (!existsSync(file)) throw noFile(file);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(file, messageOf(error), "The file system refused it.", "Check the path and its rights.");
  }
}

const unreadable = (file: string, problem: string, why: string, fix: string): HoldfastError =>
  new HoldfastError("HF-4304", { file, problem, why, fix });

/** Replaces `${NAME}` in a text with an environment variable, so that secrets need not be in the file. */
function filled(value: unknown, env: Host["env"], file: string): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, env, file));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, env, file)]));
  if (typeof value !== "string") return value;
  return value.replace(/\$\{([A-Z][A-Z0-9_]*)\}/g, (_, name: string) => {
    const found = env[name];
    if (found !== undefined) return found;
    throw new HoldfastError("HF-4305", { problems: `the variable ${name} is not set.`, source: file });
  });
}
