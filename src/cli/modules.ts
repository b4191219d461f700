import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { HoldfastError } from "../core/errors.ts";

type Module = Readonly<Record<string, unknown>>;
type TsImport = (specifier: string, parent: string) => Promise<Module>;

const TYPESCRIPT = [".ts", ".mts", ".cts"];

/** Loads a file of the project: JavaScript as it is, TypeScript by whatever this machine has for it. */
export async function loadModule(file: string): Promise<Module> {
  const url = pathToFileURL(file).href;
  if (!existsSync(file))
    throw new HoldfastError("HF-4304", {
      file,
      problem: "there is no such file",
      why: "Nothing is at this path.",
      fix: "Check the path; it is relative to the folder you are in.",
    });
  const read = TYPESCRIPT.includes(extname(file)) ? await typescriptReader(file) : plain;
  try {
    return await read(url);
  } catch (error) {
    throw new HoldfastError("HF-4307", { file, message: messageOf(error) }, { cause: error });
  }
}

const plain = async (url: string): Promise<Module> => (await import(url)) as Module;

const stripsTypes = (): boolean =>
  Boolean((process.features as { readonly typescript?: false | "strip" | "transform" }).typescript);

async function typescriptReader(file: string): Promise<(url: string) => Promise<Module>> {
  if (stripsTypes()) return plain;
  const path = [file, import.meta.url].map(findTsx).find((found) => found !== undefined);
  if (path === undefined) throw new HoldfastError("HF-4306", { file, node: process.versions.node });
  const { tsImport } = (await import(pathToFileURL(path).href)) as unknown as { tsImport: TsImport };
  return (url) => tsImport(url, import.meta.url);
}

/** As the file itself would find it: `import.meta.resolve` knows no other starting point, and `require` finds the other build. */
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
