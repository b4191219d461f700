// Builds what is published into dist, and the scripts that tests run in processes of their own into lab/dist.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, unlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const ROOT = path.resolve(fileURLToPath(import.meta.url), "../..");
const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));

/** @type {(file: string) => string} */
const named = (file) => file.replace(/^\.\/dist\/|\.js$/g, "");

/** Scripts that processes of their own run, besides what the manifest exports. */
const PROCESSES = [
  "cli/crash-test-loader",
  "cli/demo/process",
  "testing/crash-test/child",
  "testing/crash-test/load-module",
  "testing/witness/process",
];

const exported = Object.values(manifest.exports).flatMap((entry) => entry.default ?? []);
const published = [...exported, ...Object.values(manifest.bin)].map(named);

const common = /** @type {const} */ ({
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});

/** The package: one file for each export, and shared parts once. Not minified: a stack trace points at code one can read. */
async function buildPackage() {
  const entries = [...published, ...PROCESSES];
  await build({
    ...common,
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    outdir: "dist",
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
  });
}

/** Declarations: those that an export leads to. */
function buildTypes() {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  const dist = path.join(ROOT, "dist");
  /** @type {Set<string>} */
  const needed = new Set();
  const open = published.map((name) => path.join(dist, `${name}.d.ts`));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (needed.has(file)) continue;
    needed.add(file);
    for (const [, to = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g))
      open.push(path.resolve(path.dirname(file), to.replace(/\.[jt]s$/, ".d.ts")));
  }
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".d.ts") && !needed.has(path.join(dist, name))) unlinkSync(path.join(dist, name));
}

/** Scripts of tests and of the laboratory, each whole in one file. */
export async function buildLab() {
  const inFolder = (/** @type {string} */ folder, /** @type {RegExp} */ pattern) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => pattern.test(name))
      .map((name) => `${folder}/${name}`);
  await build({
    ...common,
    absWorkingDir: ROOT,
    entryPoints: [
      "lab/crash/child.ts",
      ...inFolder("test/crash", /-child\.ts$/),
      ...inFolder("test/crash/broken", /\.ts$/),
    ],
    outbase: ".",
    outdir: "lab/dist",
    // They find the package as its sources do.
    define: { "import.meta.url": JSON.stringify(pathToFileURL(`${ROOT}/src/testing/package-files.ts`).href) },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(path.join(ROOT, "dist"), { recursive: true, force: true });
  await buildPackage();
  await buildLab();
  buildTypes();
}
