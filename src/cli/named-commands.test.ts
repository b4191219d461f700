import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../test/source-tree.ts";
import { errorTable, isErrorCode } from "../core/errors.ts";
import { catalog } from "./catalog.ts";
import type { Command, CommandGroup } from "./command.ts";
import { GLOBAL_HELP } from "./globals.ts";

/** The commands that a text tells people to type: `holdfast`, and what follows until the sentence or the string ends. */
const NAMED = /\bholdfast ((?:--)?[a-z][\w-]*(?: (?!holdfast\b)[^\s"'`]+)*)/g;

const flagsOf = (text: string): string[] =>
  [...text.matchAll(/(?<![\w-])(--?[a-z][\w-]*)/gi)].map(([, flag = ""]) => flag);

const GLOBAL_FLAGS = new Set(flagsOf(GLOBAL_HELP));
/** Prose, and the name of a hash: not commands. */
const OTHERS = new Set(["run start", "verify checks", "heads 1"]);
/** Queues bring this command. */
const COMING = "worker";
/** Commands that are shown after the name of the program was added, such as `resume ${id} --now`. */
const UNNAMED = /`([a-z][\w-]+ [^`\n]*--[^`\n]*)`/g;

function problemIn(line: string, commands: ReadonlyMap<string, Command | CommandGroup>): string | undefined {
  const [name = "", second = ""] = line.split(" ");
  if (name.startsWith("--")) return GLOBAL_FLAGS.has(name) ? undefined : `holdfast ${name}`;
  const found = commands.get(name);
  if (!found && name === COMING) return undefined;
  if (!found) return `there is no command ${name}: holdfast ${line}`;
  const word = second.replace(/[^\w-].*$/, "");
  const command = "commands" in found ? found.commands.find((one) => one.name === word) : found;
  if (!command)
    return /^[a-z]/.test(word) ? `there is no command ${name} ${word}: holdfast ${line}` : undefined;
  const known = new Set(Object.values(command.options ?? {}).flatMap(({ flag }) => flagsOf(flag)));
  const sentence = line.split(/[.;,] |\\n| {3}/)[0] ?? "";
  const unknown = flagsOf(sentence).filter((flag) => !known.has(flag) && !GLOBAL_FLAGS.has(flag));
  return unknown.length === 0 ? undefined : `${name} has no ${unknown.join(", ")}: holdfast ${line}`;
}

async function commandsByName(): Promise<ReadonlyMap<string, Command | CommandGroup>> {
  const commands = new Map<string, Command | CommandGroup>();
  for (const { name, aliases = [], load } of catalog)
    for (const one of [name, ...aliases]) commands.set(one, await load());
  return commands;
}

const sources = ["src/cli", "src/core", "src/yaml", "src/testing"].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .map((file) => readFileSync(path.join(ROOT, folder, file), "utf8")),
);

describe("what errors and commands tell people to type (C9)", () => {
  it("exists, with the options that are named", async () => {
    const commands = await commandsByName();
    const lines = sources.flatMap((text) => [...text.matchAll(NAMED)].map(([, line = ""]) => line));
    expect(lines.length).toBeGreaterThan(100);
    const wrong = lines
      .filter((line) => !OTHERS.has(line.split(" ").slice(0, 2).join(" ")))
      .flatMap((line) => problemIn(line, commands) ?? []);
    const unnamed = sources
      .flatMap((text) => [...text.matchAll(UNNAMED)].map(([, line = ""]) => line))
      .filter((line) => commands.has(line.split(" ")[0] ?? ""));
    expect(unnamed.length).toBeGreaterThan(5);
    expect([...wrong, ...unnamed.flatMap((line) => problemIn(line, commands) ?? [])]).toEqual([]);
  });

  it("names only codes that exist", () => {
    const named = sources.flatMap((text) => text.match(/\bHF-\d{4}\b/g) ?? []);
    expect([...new Set(named)].filter((code) => !isErrorCode(code))).toEqual([]);
  });

  it("is not to resume what is only mended in the code", () => {
    for (const code of ["HF-2001", "HF-2002", "HF-1003", "HF-1005", "HF-1018", "HF-1019"] as const)
      expect(errorTable[code].fix).not.toMatch(/^(Resume|holdfast resume)/);
  });
});
