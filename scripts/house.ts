/** Measures how tidy the house is: `npm run house`. What can be a rule is one, in test/architecture.test.ts and test/exports.test.ts. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { findCycles, ROOT, readTree, resolveImport, type SourceFile } from "../test/source-tree.ts";

const sources = readTree("src").filter((file) => !file.isTest);
const product = sources.filter(({ path: file }) => !file.startsWith("testing/"));
const core = sources.filter(({ path: file }) => file.startsWith("core/"));
const lines = (files: readonly SourceFile[]): number => files.reduce((sum, file) => sum + file.lineCount, 0);
const count = (value: number): string => value.toLocaleString("en-US");

/** Places that read a journal page by page, outside the stores and the test kit. */
function journalLoops(): number {
  const isReader = ({ path: file }: SourceFile): boolean => !/^(stores|security|testing)\//.test(file);
  return product
    .filter(isReader)
    .reduce((sum, { text }) => sum + text.split(/\.entries\(\s*\w*(?:\.id|[rR]unId|run),/).length - 1, 0);
}

/** Files that tell by themselves what an outcome means. */
const folds = (): number =>
  product.filter(({ text }) => /case "step_completed":|kind === "step_completed"/.test(text)).length;

function importedOnce(): number {
  const importers = new Map<string, number>();
  for (const file of sources)
    for (const target of new Set(file.imports.map(({ specifier }) => specifier)))
      if (target.startsWith(".")) {
        const name = resolveImport(file.path, target);
        importers.set(name, (importers.get(name) ?? 0) + 1);
      }
  return [...importers.values()].filter((times) => times === 1).length;
}

function exportedNames(file: string): number {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)]
    .flatMap(([, names = ""]) => names.split(","))
    .filter((name) => name.trim() !== "").length;
}

function packed(): { files: number; bytes: number } {
  const [made] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: "pipe",
    }),
  );
  return { files: made.entryCount, bytes: made.unpackedSize };
}

/** How much longer Node takes that imports the package: the median of pairs, so that both see the same machine. */
function importRatio(): number {
  const took = (...args: string[]): number => {
    const start = process.hrtime.bigint();
    spawnSync(process.execPath, args);
    return Number(process.hrtime.bigint() - start);
  };
  const load = ["--input-type=module", "-e", `import ${JSON.stringify(path.join(ROOT, "dist/index.js"))}`];
  const ratios = Array.from({ length: 21 }, () => took(...load) / took("-e", "0")).sort((a, b) => a - b);
  return ratios[10] as number;
}

/** What two new steps of a run on SQLite come through, by V8's own count. */
function stepPath(): { files: number; functions: number } {
  const folder = mkdtempSync(path.join(ROOT, ".tmp-house-"));
  try {
    const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
    const options = [
      "-p",
      "tsconfig.build.json",
      "--emitDeclarationOnly",
      "false",
      "--declaration",
      "false",
      "--outDir",
      folder,
    ];
    execFileSync(process.execPath, [tsc, ...options], { cwd: ROOT, stdio: "inherit" });
    const script = path.join(ROOT, "scripts/step-path.mjs");
    return JSON.parse(execFileSync(process.execPath, [script, folder], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const sizes = sources.map(({ lineCount }) => lineCount).sort((a, b) => a - b);
const at = (share: number): number => sizes[Math.floor((sizes.length - 1) * share)] as number;
const { files, bytes } = packed();
const step = stepPath();

const rows: readonly (readonly [what: string, now: string, goal: string])[] = [
  [
    "import cycles, types included (core / all)",
    `${findCycles(core).length} / ${findCycles(sources).length}`,
    "0 / 0",
  ],
  ["reads of journals page by page", `${journalLoops()}`, "1"],
  ["files that judge outcomes themselves", `${folds()}`, "1"],
  [
    "names at the root / in ./testing / in ./manage",
    ["index", "testing/index", "manage"].map((name) => exportedNames(`src/${name}.ts`)).join(" / "),
    "≤ 60 / ≤ 35 / –",
  ],
  ["shipped: files, unpacked", `${files}, ${(bytes / 1e6).toFixed(2)} MB`, "≤ 600, ≤ 3 MB"],
  ["import holdfast ÷ node -e 0", importRatio().toFixed(2), "≤ 1.5"],
  ["files imported by exactly one other", `${importedOnce()} of ${sources.length}`, "few"],
  ["two new steps on SQLite: files, functions", `${step.files}, ${step.functions}`, "≤ 25, ≤ 90"],
  [
    "lines of product code (with ./testing)",
    `${count(lines(product))} (${count(lines(sources))})`,
    "≤ 45,000",
  ],
  ["lines of a file: median, 90 %, most", `${at(0.5)}, ${at(0.9)}, ${at(1)}`, "≤ 120, ≤ 300, ≤ 500"],
];
const wide = Math.max(...rows.map(([what]) => what.length));
for (const [what, now, goal] of rows) console.log(`${what.padEnd(wide)}  ${now.padEnd(18)}  ${goal}`);
