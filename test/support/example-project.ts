import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../source-tree.ts";
import { Running } from "./console.ts";

/** The package as built; HOLDFAST_PACKAGE names another copy of it. */
const PACKAGE = process.env["HOLDFAST_PACKAGE"] ?? ROOT;
export const EXAMPLES = path.join(ROOT, "examples");
const MADE_BY_RUNS = [
  ".holdfast",
  "outputs",
  "messages.txt",
  "calls.log",
  "bank",
  "mails.txt",
  "enough",
  "work",
  "keys.json",
];

const INSTALLED = ["tsx", "@langchain", "ai", "@hono"];

/** Makes somebody else's projects, with the package, `tsx` and the libraries of the examples, and a copy of one of them. */
export const exampleProjects =
  (folder: () => string) =>
  (example: string): string => {
    const project = folder();
    const installed = path.join(project, "node_modules/holdfast");
    mkdirSync(installed, { recursive: true });
    cpSync(path.join(PACKAGE, "package.json"), path.join(installed, "package.json"));
    symlinkSync(path.join(PACKAGE, "dist"), path.join(installed, "dist"));
    for (const name of INSTALLED)
      symlinkSync(path.join(ROOT, "node_modules", name), path.join(project, "node_modules", name));
    writeFileSync(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
    const copy = path.join(project, example);
    const isKept = (file: string): boolean => !MADE_BY_RUNS.includes(path.basename(file));
    cpSync(path.join(EXAMPLES, example), copy, { recursive: true, filter: isKept });
    return copy;
  };

const WORD = /"([^"]*)"|(\S+)/g;

/** Starts a command as a README shows it. */
export function start(line: string, cwd: string): Running {
  const { PATH = "" } = process.env;
  const options = { cwd, env: { PATH } };
  const [, given] = /^npx holdfast (.*)$/.exec(line) ?? [];
  if (given === undefined) return new Running("sh", ["-c", line], options);
  const words = [...given.matchAll(WORD)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  return new Running(process.execPath, [path.join(PACKAGE, "dist/cli/main.js"), ...words], options);
}

/** The number of model calls by agent, from the log. */
export function callsIn(cwd: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const call of readFileSync(path.join(cwd, "calls.log"), "utf8").trimEnd().split("\n"))
    counts[call] = (counts[call] ?? 0) + 1;
  return counts;
}
