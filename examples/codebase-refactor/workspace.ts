import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The files of a workspace by name. As the result of a step they are a snapshot that outlives the process. */
export type Files = Readonly<Record<string, string>>;

const FOLDER = "work";

const MODULES = ["cart", "invoice", "mail", "order", "refund", "stock", "tax", "user"];

/** The code base: eight modules that call `fetchData`, which is to be called `loadRecord`, and one that seems unused. */
export const ORIGINAL: Files = {
  ...Object.fromEntries(
    MODULES.map((name) => [`${name}.js`, `import "./setup.js";\nfetchData("${name}");\n`]),
  ),
  "setup.js": "globalThis.fetchData = globalThis.loadRecord = (name) => name;\n",
};

/** Makes the workspace exactly this, so that it may be done again after a crash. */
export function write(files: Files): void {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) if (!(name in files)) rmSync(path.join(FOLDER, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(FOLDER, name), text);
}

export function read(): Files {
  return Object.fromEntries(
    readdirSync(FOLDER)
      .sort()
      .map((name) => [name, readFileSync(path.join(FOLDER, name), "utf8")]),
  );
}

/** The files that import something that isn't there. */
export function broken(): string[] {
  return Object.entries(read()).flatMap(([name, text]) => {
    const [, imported] = /import "\.\/([^"]+)"/.exec(text) ?? [];
    return imported !== undefined && !existsSync(path.join(FOLDER, imported)) ? [name] : [];
  });
}
