// Builds what is published into dist, and the scripts that tests run in processes of their own into lab/dist.
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { beginBuild, isBuilt, noteBuilt } from "./built-before.mjs";
import { interpreterSandbox } from "./sandboxes.mjs";

const ROOT = path.resolve(fileURLToPath(import.meta.url), "../..");
const DIST = path.join(ROOT, "dist");
const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));

/** @type {(file: string) => string} */
const named = (file) => file.replace(/^\.\/dist\/|\.js$/g, "");

const exported = Object.values(manifest.exports).flatMap((entry) => entry.default ?? []);
const published = [...exported, ...Object.values(manifest.bin)].map(named);

/** Scripts that processes of their own run, besides what the manifest exports. */
const PROCESSES = [
  "cli/crash-test-loader",
  "cli/demo/process",
  "testing/crash-test/child",
  "testing/crash-test/load-module",
  "testing/witness/process",
];

/** Installed with the package, or beside it; everything else becomes part of the build. */
const installed = Object.keys({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.peerDependencies,
});

const common = /** @satisfies {import("rolldown").InputOptions} */ ({
  cwd: ROOT,
  platform: "node",
  external: (id) =>
    id.startsWith("node:") || installed.some((name) => id === name || id.startsWith(`${name}/`)),
  // Its entry for Node is a bridge to CommonJS, which takes longer to load than the library.
  resolve: { alias: { mutative: path.join(ROOT, "node_modules/mutative/dist/mutative.esm.mjs") } },
});

/** What is loaded together: a module belongs to the first of these that leads to it by imports, other than on demand. */
const PARTS = {
  core: "src/index.ts",
  // Not its entry: that waits for the command, and the command for what it imports.
  cli: "src/cli/app.ts",
  looking: "src/core/manage/checkpoints/looking.ts",
  questions: "src/core/engine/questions.ts",
  lookups: "src/core/manage/reports/lookups.ts",
  execution: "src/core/engine/work.ts",
  verbs: "src/core/engine/verbs.ts",
};

/** @type {Map<string, string>} */
const parts = new Map();

/** @type {import("rolldown").CodeSplittingNameFunction} */
function partOf(id, context) {
  if (parts.size === 0)
    for (const [name, entry] of Object.entries(PARTS)) {
      const open = [path.join(ROOT, entry)];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (parts.has(next)) continue;
        parts.set(next, name);
        open.push(...(context.getModuleInfo(next)?.importedIds ?? []));
      }
    }
  return parts.get(id);
}

/** The first of them takes what it imports, so each comes before those that stand on it. */
const groups = Object.keys(PARTS).map((part, index, { length }) => ({
  name: (/** @type {string} */ id, /** @type {import("rolldown").ChunkingContext} */ context) =>
    partOf(id, context) === part ? part : null,
  debugName: part,
  priority: length - index,
}));

/**
 * The table of errors as JSON: it is read with every import, and JSON is read several times faster than code.
 *
 * @type {import("rolldown").Plugin}
 */
const texts = {
  name: "texts",
  load: {
    filter: { id: /src\/core\/errors\/(?!entry)\w+\.ts$/ },
    async handler(id) {
      const { output } = await build({ input: id, write: false });
      const tables = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
      return Object.entries(tables)
        .map(
          ([name, table]) => `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(table))});`,
        )
        .join("\n");
    },
  },
};

/**
 * The package: a file for each export and for each part, because loading many small files takes most of the time of an import. It is
 * not minified: a stack trace points at code that one can read.
 */
async function buildPackage() {
  await build({
    ...common,
    plugins: [texts],
    input: Object.fromEntries([...published, ...PROCESSES].map((name) => [name, `src/${name}.ts`])),
    output: {
      dir: DIST,
      format: "esm",
      chunkFileNames: "parts/[name]-[hash].js",
      comments: false,
      minifyInternalExports: false,
      codeSplitting: { groups },
    },
  });
  for (const name of ["croner", "mutative"])
    copyFileSync(path.join(ROOT, "node_modules", name, "LICENSE"), path.join(DIST, `parts/${name}.LICENSE`));
  copyFileSync(
    path.join(ROOT, "node_modules/@noble/hashes/LICENSE"),
    path.join(DIST, "parts/noble-hashes.LICENSE"),
  );
  const widths = path.dirname(fileURLToPath(import.meta.resolve("get-east-asian-width")));
  copyFileSync(path.join(widths, "license"), path.join(DIST, "parts/get-east-asian-width.LICENSE"));
}

/** The offline verifier of audit bundles: one file that needs nothing but Node. */
async function buildVerifier() {
  await build({
    ...common,
    input: "src/cli/verify-audit-main.ts",
    output: { file: path.join(DIST, "verify-audit.mjs"), format: "esm", minifyInternalExports: false },
  });
}

/** The code that runs inside Temporal's sandbox: one file that imports nothing but Temporal's own package, because nothing of Node is there. */
async function buildSandbox() {
  await build({
    ...common,
    input: "src/adapters/temporal/sandbox.ts",
    output: { file: path.join(DIST, "adapters/temporal/sandbox.js"), format: "esm", comments: false },
  });
  await build({
    ...interpreterSandbox(ROOT),
    output: {
      file: path.join(DIST, "adapters/temporal/interpreter/sandbox.js"),
      format: "esm",
      comments: false,
      codeSplitting: false,
      // A second copy of the whole engine, which nobody reads.
      minify: { compress: false, mangle: false, codegen: true },
    },
  });
  copyFileSync(
    path.join(ROOT, "src/adapters/temporal/failure-converter.js"),
    path.join(DIST, "adapters/temporal/failure-converter.js"),
  );
}

/** The pages of the dashboard, as static files. */
async function buildPages() {
  const { build: buildSite } = await import("vite");
  await buildSite({ configFile: path.join(ROOT, "dashboard/vite.config.ts"), logLevel: "warn" });
}

/** Declarations: a file for each export, and one for each set of types that some of them share. */
async function buildTypes() {
  const folder = path.join(ROOT, ".tmp-types");
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json", "--outDir", folder];
  execFileSync(process.execPath, tsc, { cwd: ROOT, stdio: "inherit" });
  await build({
    cwd: ROOT,
    input: Object.fromEntries(
      exported.map((file) => [named(file), path.join(folder, `${named(file)}.d.ts`)]),
    ),
    external: /^[@a-z]/,
    plugins: dts({ dtsInput: true, generator: "oxc", tsconfig: false }),
    output: {
      dir: DIST,
      format: "esm",
      chunkFileNames: ({ name }) => `types/${name.replace(/\.d$/, "")}-[hash].d.ts`,
    },
    checks: { bundlerTimings: false },
  });
  rmSync(folder, { recursive: true });
}

/** Scripts that tests run in processes of their own. A process that compiles its sources first starts too slowly. */
export async function buildLab() {
  const inFolder = (/** @type {string} */ folder, /** @type {RegExp} */ pattern) =>
    readdirSync(path.join(ROOT, folder))
      .filter((name) => pattern.test(name))
      .map((name) => `${folder}/${name.replace(/\.ts$/, "")}`);
  const scripts = [
    "lab/crash/child",
    ...inFolder("test/crash", /-child\.ts$/),
    ...inFolder("test/crash/broken", /\.ts$/),
  ];
  await build({
    ...common,
    input: Object.fromEntries(scripts.map((name) => [name, `${name}.ts`])),
    // They find the package as its sources do.
    transform: {
      define: {
        "import.meta.url": JSON.stringify(pathToFileURL(`${ROOT}/src/testing/package-files.ts`).href),
      },
    },
    output: { dir: "lab/dist", format: "esm", cleanDir: true },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !isBuilt(ROOT)) {
  beginBuild(ROOT);
  rmSync(DIST, { recursive: true, force: true });
  await buildPackage();
  await buildVerifier();
  await buildSandbox();
  await buildLab();
  await buildPages();
  await buildTypes();
  noteBuilt(ROOT);
}
