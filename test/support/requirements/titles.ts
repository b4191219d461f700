import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { ROOT } from "../../source-tree.ts";
import { filesOfTests } from "./files.ts";
import { idsIn } from "./ids.ts";

/** The test files that carry each id in a title, read from the source: what a test is called before it is run. */
export function titledFiles(): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const file of filesOfTests())
    for (const id of titledIds(file, readFileSync(path.join(ROOT, file), "utf8")))
      files.set(id, [...(files.get(id) ?? []), file]);
  return files;
}

const TITLES = /^(it|test|describe)\b/;

/** The ids in the titles of a file: in the first argument, a string or a template, of `it`, `it.each(…)`, `describe` and so on. */
export function titledIds(file: string, text: string): Set<string> {
  const ids = new Set<string>();
  if (idsIn(text).length === 0) return ids;
  new Visitor({
    CallExpression: ({ callee, arguments: [title] }) => {
      if (!TITLES.test(text.slice(callee.start, callee.end))) return;
      if (title?.type !== "Literal" && title?.type !== "TemplateLiteral") return;
      for (const id of idsIn(text.slice(title.start, title.end))) ids.add(id);
    },
  }).visit(parseSync(file, text).program);
  return ids;
}
