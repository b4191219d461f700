/** Reads exported declarations, their signatures and their doc comments out of TypeScript sources. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Class, type Comment, parseSync } from "oxc-parser";

type Program = ReturnType<typeof parseSync>["program"];
type Statement = Program["body"][number];

export interface Declared {
  readonly name: string;
  readonly kind: "function" | "class" | "value" | "type";
  /** The declaration without bodies. */
  readonly signature: string;
  /** Its doc comment, without stars. */
  readonly doc: string;
}

interface Module {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
}

const modules = new Map<string, Module>();

function read(file: string): Module {
  const known = modules.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, text);
  const module = { file, text, program, comments };
  modules.set(file, module);
  return module;
}

const nameOf = (node: { type: string }): string =>
  "name" in node ? String(node.name) : "value" in node ? String(node.value) : "";

/** Everything a module exports, in the order of its export statements. */
export function exportsOf(file: string): readonly Declared[] {
  const module = read(file);
  return module.program.body.flatMap((statement) => exportedBy(module, statement));
}

function exportedBy(module: Module, statement: Statement): readonly Declared[] {
  if (statement.type === "ExportAllDeclaration") return exportsOf(sourceOf(module, statement.source.value));
  if (statement.type !== "ExportNamedDeclaration") return [];
  if (statement.declaration) return declaredBy(module, statement);
  return statement.specifiers.flatMap(({ local, exported }) => {
    const source = statement.source?.value ?? importedFrom(module, nameOf(local));
    const [found] =
      source === undefined
        ? localDeclarations(module, nameOf(local))
        : find(sourceOf(module, source), nameOf(local));
    return found ? [{ ...found, name: nameOf(exported) }] : [];
  });
}

function find(file: string, name: string): readonly Declared[] {
  return exportsOf(file).filter((one) => one.name === name);
}

const sourceOf = ({ file }: Module, specifier: string): string => path.resolve(path.dirname(file), specifier);

function importedFrom({ program }: Module, name: string): string | undefined {
  for (const one of program.body)
    if (one.type === "ImportDeclaration" && one.specifiers.some(({ local }) => local.name === name))
      return one.source.value;
  return undefined;
}

function localDeclarations(module: Module, name: string): readonly Declared[] {
  return module.program.body.flatMap((one) => declaredBy(module, one)).filter((one) => one.name === name);
}

function declaredBy(module: Module, statement: Statement): readonly Declared[] {
  const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (!node) return [];
  const doc = docBefore(module, statement.start);
  const { text } = module;
  const cut = (start: number, end: number): string => text.slice(start, end).trim();
  switch (node.type) {
    case "FunctionDeclaration":
    case "TSDeclareFunction": {
      const end = node.body ? node.body.start : node.end;
      return [
        {
          name: node.id?.name ?? "",
          kind: "function",
          signature: cut(node.start, end).replace(/^async /, ""),
          doc,
        },
      ];
    }
    case "ClassDeclaration":
      return [{ name: node.id?.name ?? "", kind: "class", signature: classText(module, node), doc }];
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [{ name: node.id.name, kind: "type", signature: cut(node.start, node.end), doc }];
    case "VariableDeclaration":
      return node.declarations.map(({ id, init }) => {
        const isFunction = init?.type === "ArrowFunctionExpression";
        const end = isFunction ? init.body.start : (init?.start ?? id.end);
        const head = cut(id.start, end).replace(/\s*(=>|=)\s*\(?$/, "");
        const name = id.type === "Identifier" ? id.name : "";
        return { name, kind: isFunction ? "function" : "value", signature: `const ${head}`, doc };
      });
    default:
      return [];
  }
}

/** A class as its declaration file would show it: public members, their comments, no bodies. */
function classText(module: Module, node: Class): string {
  const { text } = module;
  const members = node.body.body.flatMap((member) => {
    if (!("key" in member) || !member.key || member.key.type === "PrivateIdentifier") return [];
    if ("accessibility" in member && member.accessibility === "private") return [];
    const value = "value" in member ? member.value : null;
    const body = value && "body" in value && value.body ? value.body : undefined;
    const end = body ? body.start : value && member.type === "PropertyDefinition" ? value.start : member.end;
    const doc = docBefore(module, member.start);
    // The declarations of the package don't have it either.
    if (/@internal\b/.test(doc)) return [];
    const head = text
      .slice(member.start, end)
      .trim()
      .replace(/^async /, "")
      .replace(/\s*=$/, "")
      .replace(/;$/, "");
    const shown =
      doc === "" ? "" : `  /** ${doc.replace(/\n@example[\s\S]*$/, "").replace(/\n/g, "\n   * ")} */\n`;
    return [`${shown}  ${head};`];
  });
  return `${text.slice(node.start, node.body.start).trim()} {\n${members.join("\n\n")}\n}`;
}

/** The doc comment right before a position. */
function docBefore({ comments, text }: Module, start: number): string {
  const before = comments.findLast(({ end }) => end <= start);
  if (before?.type !== "Block" || !before.value.startsWith("*")) return "";
  if (text.slice(before.end, start).trim() !== "") return "";
  return before.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim();
}
