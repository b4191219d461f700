import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { BUILT_IN } from "../scripts/built-in.mjs";
import {
  COMPUTED,
  findCycles,
  parseSource,
  ROOT,
  readTree,
  resolveImport,
  type SourceFile,
} from "./source-tree.ts";

interface Area {
  /** The other areas it may import; every area may import itself (stores: see STORE_TO_STORE). */
  readonly areas: readonly string[];
  readonly node: boolean;
  /** `dynamic`: only through import() or createRequire, so that loading the file needs no installed driver. */
  readonly packages: "none" | "dynamic" | "any";
}

const ALL = [
  "index",
  "manage",
  "core",
  "stores",
  "security",
  "observe",
  "notify",
  "agent",
  "team",
  "dag",
  "yaml",
  "adapters",
  "server",
  "client",
  "testing",
];

/** Who may import whom. The area of a file is its folder in src; `index` is src/index.ts, `manage` src/manage.ts. */
const AREAS: Record<string, Area> = {
  index: { areas: ["core"], node: false, packages: "none" },
  manage: { areas: ["core"], node: false, packages: "none" },
  core: { areas: [], node: false, packages: "none" },
  stores: { areas: ["core"], node: true, packages: "dynamic" },
  security: { areas: ["core", "notify"], node: true, packages: "dynamic" },
  observe: { areas: ["core", "adapters"], node: true, packages: "dynamic" },
  notify: { areas: ["core"], node: true, packages: "none" },
  agent: { areas: ["core"], node: false, packages: "none" },
  team: { areas: ["core", "agent"], node: false, packages: "none" },
  dag: { areas: ["core"], node: false, packages: "none" },
  yaml: { areas: ["dag", "team", "agent", "core"], node: false, packages: "any" },
  adapters: { areas: ["core", "security", "agent", "team", "dag", "yaml"], node: true, packages: "any" },
  server: { areas: ALL, node: true, packages: "any" },
  client: { areas: ["server"], node: false, packages: "none" },
  testing: { areas: ["core", "stores", "agent"], node: true, packages: "dynamic" },
  cli: { areas: ALL, node: true, packages: "any" },
};

/**
 * The core's rooms, lowest first: each imports only those before it, types included. Files of the core's own folder are words that every
 * room uses; the engine puts all rooms together.
 */
const ROOMS = [
  "words",
  "store",
  "audit",
  "journal",
  "guards",
  "run",
  "changes",
  "worker",
  "control",
  "flow",
  "manage",
  "engine",
];

/** Additional imports allowed for single files, with the reason. */
const EXCEPTIONS: readonly { file: string; allows: RegExp; reason: string }[] = [
  { file: "core/clock.ts", allows: /^node:/, reason: "the one place that reads time and sets timers" },
  {
    file: "core/audit/proof/crypto.ts",
    allows: /^node:crypto$/,
    reason: "hashes and signatures of audit proofs come from the platform",
  },
  { file: "core/flow/cron.ts", allows: /^croner$/, reason: "the moments of cron lines, in any time zone" },
  {
    file: "core/values/patch.ts",
    allows: /^mutative$/,
    reason: "drafts that report exactly the changed paths",
  },
  {
    file: "core/manage/checkpoints/diff.ts",
    allows: /^jsondiffpatch(\/|$)/,
    reason: "differences of JSON, and JSON Patch",
  },
  { file: "yaml/files.ts", allows: /^node:(fs|path)$/, reason: "the one place that reads workflow files" },
  { file: "yaml/script.ts", allows: /^node:child_process$/, reason: "the one place that starts scripts" },
];

/** Which store may be built on which other store. `open` chooses a store by URL and loads it lazily. */
const STORE_TO_STORE: readonly { from: string; to: string; only?: "dynamic"; reason: string }[] = [
  { from: "pglite", to: "postgres", reason: "the same SQL over an embedded server" },
  { from: "open", to: "*", only: "dynamic", reason: "loads only the store that the URL names" },
];

/** Not stores: helpers for the machine that several stores share. */
const STORE_PARTS: readonly string[] = [
  "network-fs",
  "disk",
  "fast-records",
  "folder-lock",
  "process-proof",
  "life-line",
  "options",
  "other-store",
  "read-only",
  "restoration",
];

/**
 * The interpreters and the engine that advances them: they also run inside Temporal's sandbox, which has no Node. Nothing
 * that they load at run time, at any depth, may need it.
 */
const INTERPRETERS: readonly string[] = [
  "core/workflow.ts",
  "core/run/loop.ts",
  "core/values/patch.ts",
  "core/values/codec.ts",
  "core/keys.ts",
  "core/errors.ts",
  "core/engine/engine.ts",
  "core/store/in-memory.ts",
  "agent/run-agent.ts",
  "team/define-team.ts",
  "team/agent-workflow.ts",
  "dag/workflow.ts",
  "yaml/flow.ts",
  "yaml/compile.ts",
  "adapters/temporal/interpreter/sandbox.ts",
];

/** Packages that are plain JavaScript and ask nothing of the machine. */
const PURE_PACKAGES: readonly string[] = [
  "mutative",
  "zod",
  "yaml",
  "croner",
  "jsondiffpatch",
  "@noble/hashes",
  "@temporalio/workflow",
];

const IMPURE_ALLOWED = ["core/clock.ts", "core/ids.ts"];
const ANY_ALLOWED = ["core/values/codec.ts"];

/** What steps, gates, notes and undos of the engine are called. */
const KEY_GRAMMAR = /["`/]approve:|["'`]compensate\/|["'`}]#fork\b|["'`](?:plan|memory|inbox|signal):\$\{/;
/** Taking a detail apart, or looking for a code in it. */
const OWN_PROSE =
  /\bdetail\??\.(?:startsWith|includes|match|split|replace)\(["/]|\.test\(detail|\/\^HF-\\?[d\d]/;

const BUILTINS = new Set(builtinModules);
const sources = readTree("src");
const production = sources.filter((file) => !file.isTest);

describe("the import rules", () => {
  it("let every area import only what its row in the table allows", () => {
    expect(production.flatMap(importProblems)).toEqual([]);
  });

  it("keep the import graph free of cycles, types included", () => {
    expect(findCycles(production).map((cycle) => `import cycle: ${cycle}`)).toEqual([]);
  });

  it("let every room of the core import only those below it, types included", () => {
    expect(production.flatMap(roomProblems)).toEqual([]);
  });

  it("keep Node out of everything that the interpreters load, so that they also run inside Temporal", () => {
    expect(INTERPRETERS.flatMap((entry) => impureImports(entry, production))).toEqual([]);
  });

  it("let no published file load a package that users are not told to install", () => {
    const manifest = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    const declared = new Set([...installed, ...BUILT_IN]);
    const problems = production.flatMap((file) =>
      file.imports
        .filter(({ specifier, kind }) => isPackage(specifier) && kind !== "type")
        .map(({ specifier, line }) => ({ name: packageName(specifier), line }))
        .filter(({ name }) => !declared.has(name))
        .map(({ name, line }) => `${file.path}:${line} loads "${name}", which package.json does not declare`),
    );
    expect(problems).toEqual([]);
  });
});

describe("the source rules", () => {
  it("let only the clock and the ids of core touch time, timers and randomness", () => {
    const problems = production
      .filter((file) => areaOf(file.path) === "core" && !IMPURE_ALLOWED.includes(file.path))
      .flatMap((file) => file.impure.map(({ what, line }) => `${file.path}:${line} uses ${what}`));
    expect(problems).toEqual([]);
  });

  it("keep every source file within 500 lines and every test file within 600", () => {
    const problems = sources
      .filter((file) => file.lineCount > (file.isTest ? 600 : 500))
      .map((file) => `${file.path} has ${file.lineCount} lines`);
    expect(problems).toEqual([]);
  });

  it("keep the median source file within 120 lines", () => {
    if (production.length < 20) return;
    const sizes = production.map((file) => file.lineCount).sort((a, b) => a - b);
    expect(sizes[Math.floor((sizes.length - 1) / 2)], "median lines per file in src").toBeLessThanOrEqual(
      120,
    );
  });

  it("leave no unfinished-work marker in the sources", () => {
    const problems = sources.flatMap((file) =>
      file.text
        .split("\n")
        .flatMap((text, i) =>
          /\b(TODO|FIXME)\b/.test(text) ? [`${file.path}:${i + 1} ${text.trim()}`] : [],
        ),
    );
    expect(problems).toEqual([]);
  });

  it("leave the grammar of step keys to one module", () => {
    const problems = production
      .filter((file) => file.path !== "core/keys.ts")
      .flatMap((file) =>
        file.text
          .split("\n")
          .flatMap((text, i) => (KEY_GRAMMAR.test(text) ? [`${file.path}:${i + 1} ${text.trim()}`] : [])),
      );
    expect(problems).toEqual([]);
  });

  it("let nothing but the reader of older journals go by the text of a wait or an error", () => {
    const problems = production
      .filter((file) => file.path !== "core/journal/older-texts.ts")
      .flatMap((file) =>
        file.text
          .split("\n")
          .flatMap((text, i) => (OWN_PROSE.test(text) ? [`${file.path}:${i + 1} ${text.trim()}`] : [])),
      );
    expect(problems).toEqual([]);
  });

  it("allow the type `any` only in the codec", () => {
    const problems = sources
      .filter((file) => !ANY_ALLOWED.includes(file.path))
      .flatMap((file) => file.anyTypes.map(({ line }) => `${file.path}:${line} uses the type any`));
    expect(problems).toEqual([]);
  });

  it("leave no focused test behind", () => {
    const problems = [...sources, ...readTree("test")].flatMap((file) =>
      file.focusedTests.map(({ what, line }) => `${file.path}:${line} has ${what}`),
    );
    expect(problems).toEqual([]);
  });
});

describe("the rules themselves", () => {
  const problemsOf = (file: string, text: string): string[] => importProblems(parseSource(file, text));

  it("refuse what they should refuse", () => {
    expect(problemsOf("core/engine.ts", 'import { readFile } from "node:fs";')).toHaveLength(1);
    expect(problemsOf("core/engine.ts", 'import { readFile } from "fs";')).toHaveLength(1);
    expect(problemsOf("core/engine.ts", 'export * from "../stores/memory.ts";')).toHaveLength(1);
    expect(problemsOf("core/engine.ts", 'type S = import("../stores/memory.ts").S;')).toHaveLength(1);
    expect(problemsOf("core/engine.ts", "await import(name);")).toHaveLength(1);
    expect(problemsOf("core/engine.ts", 'import { create } from "mutative";')).toHaveLength(1);
    expect(problemsOf("stores/redis/index.ts", 'import { createClient } from "@redis/client";')).toHaveLength(
      1,
    );
    expect(problemsOf("stores/redis/index.ts", 'import { x } from "../memory.ts";')).toHaveLength(1);
    expect(problemsOf("stores/open.ts", 'import { x } from "./memory.ts";')).toHaveLength(1);
    expect(problemsOf("server/app.ts", 'import { x } from "../cli/output.ts";')).toHaveLength(1);
    expect(problemsOf("misc/x.ts", 'import { x } from "../core/types.ts";')).toHaveLength(1);
    expect(problemsOf("dag/graph.ts", 'import { x } from "../../bench/run.ts";')).toHaveLength(1);
  });

  it("know which room is above which", () => {
    const above = (file: string, target: string) =>
      roomProblems(parseSource(file, `import type { X } from "${target}";`));
    expect(above("core/journal/state.ts", "../run/execution.ts")).toHaveLength(1);
    expect(above("core/types.ts", "./store/contract.ts")).toHaveLength(1);
    expect(above("core/manage/plan/plan.ts", "../../engine/engine.ts")).toHaveLength(1);
    expect(above("core/run/execution.ts", "../journal/state.ts")).toEqual([]);
    expect(above("core/values/codec.ts", "../errors.ts")).toEqual([]);
  });

  it("accept what they should accept", () => {
    expect(problemsOf("core/clock.ts", 'import { hrtime } from "node:process";')).toEqual([]);
    expect(problemsOf("core/values/patch.ts", 'import { create } from "mutative";')).toEqual([]);
    expect(problemsOf("stores/sqlite/index.ts", 'const d = await import("@photostructure/sqlite");')).toEqual(
      [],
    );
    expect(problemsOf("stores/sqlite/index.ts", 'import { x } from "./driver.ts";')).toEqual([]);
    expect(problemsOf("stores/sqlite/driver.ts", 'const r = createRequire(u); r("node:sqlite");')).toEqual(
      [],
    );
    expect(problemsOf("stores/pglite.ts", 'import { x } from "./postgres/index.ts";')).toEqual([]);
    expect(problemsOf("stores/open.ts", 'const s = await import("./sqlite/index.ts");')).toEqual([]);
    expect(problemsOf("cli/main.ts", 'import { x } from "../server/app.ts";')).toEqual([]);
    expect(problemsOf("core/engine.ts", '// import x from "node:fs"\nconst s = `import "node:fs"`;')).toEqual(
      [],
    );
  });

  it("see an import of Node at any depth below an interpreter, but not one of a type", () => {
    const entry = parseSource("dag/a.ts", 'import { b } from "./b.ts";\nimport type { F } from "node:fs";');
    const below = parseSource("dag/b.ts", 'export * from "../core/c.ts";');
    const deep = (text: string) => impureImports("dag/a.ts", [entry, below, parseSource("core/c.ts", text)]);
    expect(deep('import { readFile } from "fs";')).toEqual(['dag/a.ts → dag/b.ts → core/c.ts → "fs"']);
    expect(deep('const load = () => import("pg");')).toHaveLength(1);
    expect(deep("const load = (name) => import(name);")).toHaveLength(1);
    expect(deep('import { z } from "zod";')).toEqual([]);
  });

  it("see a cycle, also one of types", () => {
    const a = parseSource("core/a.ts", 'import { b } from "./b.ts";');
    const back = parseSource("core/b.ts", 'import { a } from "./a.ts";');
    const erased = parseSource("core/b.ts", 'import type { A } from "./a.ts";');
    expect(findCycles([a, back])).toEqual(["core/a.ts → core/b.ts → core/a.ts"]);
    expect(findCycles([a, erased])).toEqual(["core/a.ts → core/b.ts → core/a.ts"]);
  });

  it("see time, randomness, `any` and focused tests in code but not in comments or text", () => {
    const text =
      'Date.now(); new Date(); setTimeout(f); // Math.random()\nconst s = "Math.random()"; new Date(0);';
    expect(parseSource("core/a.ts", text).impure.map(({ what }) => what)).toEqual([
      "Date.now",
      "new Date()",
      "setTimeout",
    ]);
    expect(parseSource("core/a.ts", "let x: Array<any>; // any\nlet any = 1;").anyTypes).toHaveLength(1);
    expect(
      parseSource("a.test.ts", 'it.only("x", f); describe.skip.only("y", f);').focusedTests,
    ).toHaveLength(2);
  });
});

function areaOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");
}

function roomOf(file: string): number {
  const [, room = ""] = file.split("/");
  return Math.max(0, ROOMS.indexOf(room));
}

function roomProblems(file: SourceFile): string[] {
  if (areaOf(file.path) !== "core") return [];
  return file.imports.flatMap(({ specifier, line }) => {
    const target = specifier.startsWith(".") ? resolveImport(file.path, specifier) : "";
    const isAbove = areaOf(target) === "core" && roomOf(target) > roomOf(file.path);
    return isAbove ? [`${file.path}:${line} imports ${target}, which is above it`] : [];
  });
}

/** The ways from a file to a module that needs Node, through what is loaded at run time. */
function impureImports(entry: string, files: readonly SourceFile[]): string[] {
  const ways = new Map([[entry, entry]]);
  const problems: string[] = [];
  for (const [file, way] of ways) {
    const source = files.find(({ path: at }) => at === file);
    if (!source) problems.push(`${way} is not there`);
    for (const { specifier, kind } of source?.imports ?? []) {
      if (kind === "type") continue;
      const target = specifier.startsWith(".") ? resolveImport(file, specifier) : undefined;
      if (target !== undefined && !ways.has(target)) ways.set(target, `${way} → ${target}`);
      if (target === undefined && !PURE_PACKAGES.includes(packageName(specifier)))
        problems.push(`${way} → "${specifier}"`);
    }
  }
  return problems;
}

function storeOf(file: string): string {
  return (file.split("/")[1] ?? "").replace(/\.ts$/, "");
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith("node:") || BUILTINS.has(specifier);
}

function isPackage(specifier: string): boolean {
  return !specifier.startsWith(".") && !isBuiltin(specifier) && specifier !== COMPUTED;
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function importProblems(file: SourceFile): string[] {
  const area = AREAS[areaOf(file.path)];
  if (!area) return [`${file.path}: "${areaOf(file.path)}" has no row in the table of areas`];
  return file.imports.flatMap((entry) => {
    if (EXCEPTIONS.some((row) => row.file === file.path && row.allows.test(entry.specifier))) return [];
    const rule = brokenRule(file.path, area, entry);
    return rule === undefined ? [] : [`${file.path}:${entry.line} imports "${entry.specifier}": ${rule}`];
  });
}

function brokenRule(
  file: string,
  area: Area,
  { specifier, kind }: SourceFile["imports"][number],
): string | undefined {
  const name = areaOf(file);
  if (specifier === COMPUTED) {
    return area.packages === "none" ? `${name} may not import by a computed name` : undefined;
  }
  if (isBuiltin(specifier)) return area.node ? undefined : `${name} may not import node built-ins`;
  if (isPackage(specifier)) {
    if (area.packages === "none") return `${name} may not import packages`;
    if (area.packages === "dynamic" && kind === "static") return `${name} may load packages only lazily`;
    return undefined;
  }
  const target = resolveImport(file, specifier);
  if (target === "../package.json") return area.node ? undefined : `${name} may not read the manifest`;
  if (target.startsWith("..")) return "imports may not leave src";
  const targetArea = areaOf(target);
  if (name === "stores" && targetArea === "stores") return brokenStoreRule(file, target, kind);
  if (targetArea === name || area.areas.includes(targetArea)) return undefined;
  return `${name} may import only ${[...area.areas, "itself"].join(", ")}`;
}

function brokenStoreRule(file: string, target: string, kind: string): string | undefined {
  const [from, to] = [storeOf(file), storeOf(target)];
  if (from === to || STORE_PARTS.includes(to)) return undefined;
  const row = STORE_TO_STORE.find((entry) => entry.from === from && (entry.to === to || entry.to === "*"));
  if (!row) return "a store may not import another store";
  return row.only === "dynamic" && kind === "static" ? `${from} may load stores only lazily` : undefined;
}
