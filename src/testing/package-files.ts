import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(import.meta.url).replaceAll("\\", "/");
/** This code runs from `src` or, built, from `dist`: no folder below either has such a name. */
const AT = Math.max(HERE.lastIndexOf("/dist/"), HERE.lastIndexOf("/src/"));

/** The folder of the package's manifest, with a slash at its end. */
export const PACKAGE_ROOT = HERE.slice(0, AT + 1);

/** The folder of the code that is running now: `src`, or `dist` when it was built. */
export const OWN_CODE = HERE.slice(0, HERE.indexOf("/", AT + 1) + 1);

/** The path of a built script, given by its name in `dist` without `.js`. Processes of their own run built code only. */
export const builtScript = (name: string): string => `${PACKAGE_ROOT}dist/${name}.js`;

/** The package's own version. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(`${PACKAGE_ROOT}package.json`, "utf8"));
  return (manifest as { version: string }).version;
}
