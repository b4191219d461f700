import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url).replaceAll("\\", "/");
/** This code runs from `src` or, when built, from `dist`. No folder below either has one of these names. */
const AT = Math.max(HERE.lastIndexOf("/dist/"), HERE.lastIndexOf("/src/"));

/** The folder of the package's manifest, with a trailing slash. */
export const PACKAGE_ROOT = HERE.slice(0, AT + 1);

/** The path of a built script, given its name in `dist` without `.js`. Child processes run built code only. */
export const builtScript = (name: string): string => `${PACKAGE_ROOT}dist/${name}.js`;

/** The package's own version. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(`${PACKAGE_ROOT}package.json`, "utf8"));
  return (manifest as { version: string }).version;
}
