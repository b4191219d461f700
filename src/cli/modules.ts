import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { placeInCode } from "./view/code-place.ts";

type Module = Readonly<Record<string, unknown>>;
type TsImport = (specifier: string, parent: string) => Promise<Module>;
type Read = (url: string) => Promise<Module>;

const TYPESCRIPT = [".ts", ".mts", ".cts"];
/** A file with only definitions loads in a moment. */
const SLOW_MS = 3_000;
const PATIENCE_MS = 30_000;

const TO_DO =
  "To have only its workflow loaded, start your program behind if (process.argv[1] === import.meta.filename), or in another file.";

interface Loading {
  /** Called once when the file takes long. */
  readonly onSlow?: (line: string) => void;
  /** Loads TypeScript with Node itself; `undefined` if Node can't. */
  readonly native?: Read | undefined;
  readonly slowMs?: number;
  readonly patienceMs?: number;
}

const plain: Read = async (url) => (await import(url)) as Module;

const stripsTypes = (): boolean =>
  Boolean((process.features as { readonly typescript?: false | "strip" | "transform" }).typescript);

/** Loads a file of the project: JavaScript as it is, TypeScript with whatever is available. */
export async function loadModule(file: string, loading: Loading = {}): Promise<Module> {
  if (!existsSync(file)) throw noFile(file);
  if (statSync(file).isDirectory()) throw isFolder(file);
  const native = "native" in loading ? loading.native : stripsTypes() ? plain : undefined;
  const read = TYPESCRIPT.includes(extname(file)) ? await typescriptReader(file, native) : plain;
  try {
    return exportsIn(await inTime(read(pathToFileURL(file).href), file, loading), file);
  } catch (error) {
    if (HoldfastError.is(error, "HF-4320") || HoldfastError.is(error, "HF-4322")) throw error;
    if (isAwaitInCommonJs(error))
      throw new HoldfastError("HF-4410", { file, renamed: basename(asModule(file)) }, { cause: error });
    const place = placeInCode(error);
    const message = `${messageOf(error)}${place === undefined ? "" : ` (${place})`}`;
    throw new HoldfastError("HF-4307", { file, message }, { cause: error });
  }
}

/** What a CommonJS file exports arrives as the default of a module around it. */
function exportsIn(module: Module, file: string): Module {
  const { default: inner } = module;
  const isCommonJs = isRecord(inner) && (inner["__esModule"] === true || /\.c[jt]s$/.test(file));
  return isCommonJs ? { ...module, ...inner } : module;
}

const isFolder = (file: string): HoldfastError =>
  new HoldfastError("HF-4324", {
    file,
    problem: "it is a folder, and has to be a file",
    why: "Code is loaded from the files that you name.",
  });

export const noFile = (file: string): HoldfastError => new HoldfastError("HF-4321", { file });

/** A top-level await delays the loading, for ever if it waits for a run that needs a person. */
async function inTime(loaded: Promise<Module>, file: string, loading: Loading): Promise<Module> {
  const { onSlow, slowMs = SLOW_MS, patienceMs = PATIENCE_MS } = loading;
  const late = new HoldfastError("HF-4320", { file, after: `${patienceMs / 1_000} s` });
  let stop = (): void => undefined;
  const limit = new Promise<never>((_, reject) => {
    const slow = setTimeout(
      () =>
        onSlow?.(
          `${file} is still loading. Does it await something at its top level? ${TO_DO} Ctrl-C stops.`,
        ),
      slowMs,
    );
    const over = setTimeout(() => reject(late), patienceMs);
    stop = () => {
      clearTimeout(slow);
      clearTimeout(over);
    };
  });
  try {
    return await Promise.race([loaded, limit]);
  } finally {
    stop();
  }
}

/**
 * Node only strips types: `enum`, decorators, `./helper.js` for `./helper.ts` and tsconfig paths don't work. It refuses
 * them before any of the file has run, so that tsx can take over.
 */
async function typescriptReader(file: string, native: Read | undefined): Promise<Read> {
  const path = [file, import.meta.url].map(findTsx).find((found) => found !== undefined);
  if (path === undefined && native === undefined)
    throw new HoldfastError("HF-4306", { file, node: process.versions.node });
  if (path === undefined)
    return (url) =>
      (native as Read)(url).catch((error: unknown) => {
        if (!isForTsx(error)) throw error;
        throw new HoldfastError("HF-4322", { file, message: messageOf(error) }, { cause: error });
      });
  const withTsx: Read = async (url) => {
    const { tsImport } = (await import(pathToFileURL(path).href)) as unknown as { tsImport: TsImport };
    return tsImport(url, import.meta.url);
  };
  if (native === undefined) return withTsx;
  return (url) =>
    native(url).catch((error: unknown) => {
      if (isBeyondNode(error)) return withTsx(url);
      throw error;
    });
}

const SYNTAX = ["ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_INVALID_TYPESCRIPT_SYNTAX"];
const NOT_FOUND = ["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT"];

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

const isBeyondNode = (error: unknown): boolean => [...SYNTAX, ...NOT_FOUND].includes(codeOf(error));

/** True when tsx would have succeeded: a missing file is missing for tsx, too. */
function isForTsx(error: unknown): boolean {
  if (SYNTAX.includes(codeOf(error))) return true;
  const [, missing = ""] = /'(.+?)\.[cm]?js'/.exec(messageOf(error)) ?? [];
  const path = missing.startsWith("file:") ? fileURLToPath(missing) : missing;
  return NOT_FOUND.includes(codeOf(error)) && TYPESCRIPT.some((kind) => existsSync(`${path}${kind}`));
}

/** Node and tsx both refuse it before any of the file has run. */
const isAwaitInCommonJs = (error: unknown): boolean =>
  /top-level await is currently not supported|await is only valid in async functions/i.test(messageOf(error));

const asModule = (file: string): string => file.replace(/\.([tj]s)$/, ".m$1");

/**
 * Resolved from the file itself: `import.meta.resolve` knows no other starting point, and `require` finds the other
 * build.
 */
function findTsx(from: string): string | undefined {
  try {
    const manifest = createRequire(from).resolve("tsx/package.json");
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as TsxManifest;
    return join(dirname(manifest), exports["./esm/api"].import.default);
  } catch {
    return undefined;
  }
}

interface TsxManifest {
  readonly exports: { readonly "./esm/api": { readonly import: { readonly default: string } } };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
