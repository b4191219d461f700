import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import { hasPlaceholder, storeUrl } from "../../config/store-url.ts";
import { knownPlaces } from "../../places.ts";

/** The file as typed; or, when only a name is typed, the file of that name in one of the project's file stores. */
export function findCheckpointFile(settings: Settings, cwd: string, file: string): string | undefined {
  const path = resolve(cwd, file);
  if (isFile(path)) return path;
  if (basename(file) !== file) return undefined;
  const own = hasPlaceholder(settings) ? [] : [storeUrl(settings, cwd)];
  const urls = [...own, ...knownPlaces(settings.root).map(({ url }) => url)];
  const folders = urls.flatMap((url) => (url.startsWith("file:") ? [url.slice("file:".length)] : []));
  return folders.map((folder) => within(folder, file)).find((found) => found !== undefined);
}

/** Files lie in the store's folder itself, and in those of its runs. */
function within(folder: string, file: string): string | undefined {
  const runs = join(folder, "runs");
  const names = existsSync(runs) ? readdirSync(runs) : [];
  return [folder, ...names.map((name) => join(runs, name))].map((one) => join(one, file)).find(isFile);
}

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
