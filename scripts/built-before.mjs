// Tells whether dist is what a build would make again, so that `npm test` and `npm run demo` needn't wait for one that changes nothing.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";

/** What a build reads. Dependencies are those of the lock file. */
const SOURCES = [
  "src",
  "dashboard",
  "lab",
  "test/crash",
  "scripts/build.mjs",
  "scripts/sandboxes.mjs",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/** @type {(root: string, name: string) => string[]} */
function filesIn(root, name) {
  const at = path.join(root, name);
  const found = statSync(at, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory()) return [name];
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules")
    .flatMap((entry) => filesIn(root, `${name}/${entry.name}`))
    .sort();
}

/** @type {(root: string) => string} */
function digestOf(root) {
  const hash = createHash("sha256").update(process.version);
  const read = SOURCES.flatMap((name) => filesIn(root, name));
  for (const name of read.filter((one) => !/^lab\/dist\/|\.test\.tsx?$/.test(one)))
    hash.update(`\n${name}\n`).update(readFileSync(path.join(root, name)));
  // A file that was changed or deleted by hand is made again. Tests write those of the laboratory anew each time.
  for (const name of filesIn(root, "dist")) {
    const { size, mtimeMs } = statSync(path.join(root, name));
    hash.update(`\n${name} ${size} ${mtimeMs}`);
  }
  hash.update(filesIn(root, "lab/dist").join("\n"));
  return hash.digest("hex");
}

/** @type {(root: string) => string} */
const stamp = (root) => path.join(root, ".tmp/built");

/** @type {(root: string) => boolean} */
export function isBuilt(root) {
  const noted = statSync(stamp(root), { throwIfNoEntry: false });
  return noted !== undefined && readFileSync(stamp(root), "utf8") === digestOf(root);
}

/** A build that is interrupted leaves no note. @type {(root: string) => void} */
export const beginBuild = (root) => rmSync(stamp(root), { force: true });

/** @type {(root: string) => void} */
export function noteBuilt(root) {
  mkdirSync(path.dirname(stamp(root)), { recursive: true });
  writeFileSync(stamp(root), digestOf(root));
}
