/** Reads a TypeScript tree and reports the facts that the architecture rules need. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

interface Import {
  readonly specifier: string;
  /** `static` and `dynamic` exist at run time; `type` is erased by the compiler. */
  readonly kind: "static" | "dynamic" | "type";
  readonly line: number;
}

interface Finding {
  readonly what: string;
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the folder that was read, with forward slashes. */
  readonly path: string;
  readonly isTest: boolean;
  readonly text: string;
  readonly lineCount: number;
  readonly imports: readonly Import[];
  /** Uses of time, randomness and timers. */
  readonly impure: readonly Finding[];
  readonly anyTypes: readonly Finding[];
  readonly focusedTests: readonly Finding[];
}

const IMPURE_NAMES = new Set(["setTimeout", "setInterval", "setImmediate", "randomUUID"]);
const IMPURE_MEMBERS = new Set(["Date.now", "performance.now", "Math.random"]);
const TEST_FUNCTIONS = new Set(["it", "test", "describe", "suite", "bench"]);

/** Every `.ts` file under a folder of the repository; none if the folder does not exist. */
export function readTree(folder: string): SourceFile[] {
  const base = path.join(ROOT, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .map((file) => parseSource(file, readFileSync(path.join(base, file), "utf8")));
}

export function parseSource(file: string, text: string): SourceFile {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const imports: Import[] = [];
  const impure: Finding[] = [];
  const anyTypes: Finding[] = [];
  const focusedTests: Finding[] = [];

  const addImport = (kind: Import["kind"], source: unknown, start: number): void => {
    imports.push({ specifier: literalValue(source) ?? COMPUTED, kind, line: lineAt(start) });
  };
  const addImpure = (what: string, start: number): void => {
    impure.push({ what, line: lineAt(start) });
  };

  new Visitor({
    ImportDeclaration: (node) =>
      addImport(node.importKind === "type" ? "type" : "static", node.source, node.start),
    ExportAllDeclaration: (node) =>
      addImport(node.exportKind === "type" ? "type" : "static", node.source, node.start),
    ExportNamedDeclaration: (node) => {
      if (node.source) addImport(node.exportKind === "type" ? "type" : "static", node.source, node.start);
    },
    ImportExpression: (node) => addImport("dynamic", node.source, node.start),
    TSImportType: (node) => addImport("type", node.source, node.start),
    CallExpression: (node) => {
      const callee = text.slice(node.callee.start, node.callee.end);
      if (/^(\w*[rR]equire(\.resolve)?|createRequire\(.*\)(\.resolve)?)$/s.test(callee)) {
        if (!callee.endsWith("createRequire")) addImport("dynamic", node.arguments[0], node.start);
      }
      if (callee === "Date") addImpure("Date()", node.start);
    },
    NewExpression: (node) => {
      const callee = text.slice(node.callee.start, node.callee.end);
      if (callee === "Date" && node.arguments.length === 0) addImpure("new Date()", node.start);
    },
    MemberExpression: (node) => {
      const member = text.slice(node.start, node.end);
      if (IMPURE_MEMBERS.has(member.replace(/^globalThis\./, ""))) addImpure(member, node.start);
      if (/^(\w+)(\.\w+)*\.only$/.test(member) && TEST_FUNCTIONS.has(member.split(".")[0] ?? "")) {
        focusedTests.push({ what: member, line: lineAt(node.start) });
      }
    },
    Identifier: (node) => {
      if (IMPURE_NAMES.has(node.name)) addImpure(node.name, node.start);
    },
    TSAnyKeyword: (node) => {
      anyTypes.push({ what: "any", line: lineAt(node.start) });
    },
  }).visit(program);

  return {
    path: file,
    isTest: file.endsWith(".test.ts"),
    text,
    lineCount: text.replace(/\n$/, "").split("\n").length,
    imports,
    impure,
    anyTypes,
    focusedTests,
  };
}

/** The specifier reported for `import(expression)`. */
export const COMPUTED = "<computed>";

function literalValue(node: unknown): string | undefined {
  if (typeof node !== "object" || node === null || !("value" in node)) return undefined;
  return typeof node.value === "string" ? node.value : undefined;
}

/** The path within the tree that a relative specifier names. */
export function resolveImport(from: string, specifier: string): string {
  return path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, ".ts");
}

/** The import cycles, types included, each as `a.ts → b.ts → a.ts`. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const known = new Map(files.map((file) => [file.path, file]));
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: SourceFile, trail: readonly string[]): void => {
    state.set(file.path, "open");
    for (const { specifier } of file.imports) {
      if (!specifier.startsWith(".")) continue;
      const target = known.get(resolveImport(file.path, specifier));
      if (!target) continue;
      const path = [...trail, file.path];
      if (state.get(target.path) === "open") {
        cycles.push([...path.slice(path.indexOf(target.path)), target.path].join(" → "));
      } else if (state.get(target.path) === undefined) {
        visit(target, path);
      }
    }
    state.set(file.path, "done");
  };
  for (const file of files) if (!state.has(file.path)) visit(file, []);
  return cycles;
}
