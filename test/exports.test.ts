import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

interface Packed {
  readonly filename: string;
  readonly entryCount: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

interface Manifest {
  name: string;
  bin: Record<string, string>;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
}

const manifest: Manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
const subpaths = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith(".json"));
const targets = [
  ...Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  ),
  ...Object.values(manifest.bin),
];

/**
 * An empty project with the packed package and its plain dependencies: no optional dependency, no peer. It is outside
 * the repository, so that nothing else can be resolved by accident.
 */
let project = "";
let packed: Packed = { filename: "", entryCount: 0, unpackedSize: 0, files: [] };

beforeAll(() => {
  const missing = targets.filter((target) => !existsSync(path.join(ROOT, target)));
  if (missing.length > 0) return;
  project = mkdtempSync(path.join(tmpdir(), "holdfast-exports-"));
  const modules = path.join(project, "node_modules");
  mkdirSync(modules);
  const shell = process.platform === "win32";
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", project];
  [packed] = JSON.parse(execFileSync("npm", pack, { cwd: ROOT, encoding: "utf8", shell, stdio: "pipe" }));
  execFileSync("tar", ["-xzf", packed.filename, "-C", "node_modules"], { cwd: project });
  renameSync(path.join(modules, "package"), path.join(modules, manifest.name));
  for (const dependency of Object.keys(manifest.dependencies)) {
    const link = path.join(modules, dependency);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(path.join(ROOT, "node_modules", dependency), link, "junction");
  }
});

afterAll(() => {
  if (project !== "") rmSync(project, { recursive: true, force: true });
});

describe("the package", () => {
  it("contains every file that its exports and commands name", () => {
    const missing = targets.filter((target) => !existsSync(path.join(ROOT, target)));
    expect(missing, "missing after `npm run build`").toEqual([]);
    const absent = targets.filter(
      (target) => !existsSync(path.join(project, "node_modules", manifest.name, target)),
    );
    expect(absent, "missing in the packed tarball").toEqual([]);
  });

  it("ships at most 390 files, 6.1 MB of code and 1.2 MB of pages, without maps, tests, the laboratory or the site", () => {
    expect(packed.entryCount).toBeLessThanOrEqual(390);
    const pages = packed.files.filter(({ path: file }) => file.startsWith("dist/dashboard/"));
    const size = pages.reduce((sum, file) => sum + file.size, 0);
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual(1_200_000);
    // 1.6 MB of it are the engine once more, in one file for the sandbox of Temporal.
    expect(packed.unpackedSize - size).toBeLessThanOrEqual(6_100_000);
    const strange = packed.files.filter(({ path: file }) =>
      /\.map$|\.test\.|^(?:lab|test|bench|docs)\//.test(file),
    );
    expect(strange).toEqual([]);
  });

  it("has at most 60 names at its root and 35 in its test kit", () => {
    const names = (file: string) =>
      [...readFileSync(path.join(ROOT, file), "utf8").matchAll(/export (?:type )?\{([^}]*)\}/g)]
        .flatMap(([, list = ""]) => list.split(","))
        .filter((name) => name.trim() !== "");
    expect(names("src/index.ts").length).toBeLessThanOrEqual(60);
    expect(names("src/testing/index.ts").length).toBeLessThanOrEqual(35);
  });

  it.each(subpaths)("can be imported at %s without any driver installed", (subpath) => {
    const names = runInProject(`
      const exported = await import(${JSON.stringify(specifierOf(subpath))});
      console.log(JSON.stringify(Object.keys(exported)));
    `);
    expect(names, `named exports of ${subpath}`).not.toEqual([]);
    expect(names, `${subpath} has a default export`).not.toContain("default");
  });

  it("has declarations that hold for themselves, so nobody needs skipLibCheck", () => {
    const wanted = subpaths.map((subpath, at) => `export * as m${at} from "${specifierOf(subpath)}";`);
    writeFileSync(path.join(project, "all.mts"), wanted.join("\n"));
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const target = { module: "nodenext", target: "es2023", types: ["node"] };
    const typeRoots = [path.join(ROOT, "node_modules", "@types")];
    const settings = { compilerOptions: { ...strict, ...target, typeRoots }, files: ["all.mts"] };
    writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify(settings));
    const tsc = path.join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" });
    // TS2307 is a peer that isn't installed here; what lies outside of the package isn't ours.
    const ours = stdout
      .split("\n")
      .filter((line) => line.includes("holdfast/dist/") && !line.includes("TS2307"));
    expect(ours).toEqual([]);
  });

  it("loads no SQLite driver when only the engine is imported", () => {
    // Some runtimes load SQLite parts at the start, so only what the import adds counts.
    const added = runInProject(`
      const loaded = () => process.moduleLoadList.filter((name) => /sqlite/i.test(name));
      const before = new Set(loaded());
      await import(${JSON.stringify(manifest.name)});
      console.log(JSON.stringify(loaded().filter((name) => !before.has(name))));
    `);
    expect(added).toEqual([]);
  });
});

function specifierOf(subpath: string): string {
  return path.posix.join(manifest.name, subpath);
}

function runInProject(code: string): string[] {
  expect(project, "a packed package (run `npm run build` first)").not.toBe("");
  const options = { cwd: project, encoding: "utf8", stdio: "pipe" } as const;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", code], options));
}
