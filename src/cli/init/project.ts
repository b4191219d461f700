import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { messageOf } from "../modules.ts";

/** What was done to a folder. Nothing that was there is overwritten. */
export interface Changes {
  /** Files that were written. */
  readonly made: string[];
  /** Entries that were added to files: `package.json: scripts.dev`. */
  readonly added: string[];
  /** Files and entries that were there, and are unchanged. */
  readonly kept: string[];
}

type Entries = Readonly<Record<string, string>>;

/** The entries that a manifest needs, by section. */
export interface Needed {
  readonly scripts: Entries;
  readonly dependencies: Entries;
  readonly devDependencies: Entries;
}

const SECTIONS = ["scripts", "dependencies", "devDependencies"] as const satisfies (keyof Needed)[];

/** A folder that gets a first workflow. */
export class Project {
  readonly folder: string;
  readonly changes: Changes = { made: [], added: [], kept: [] };

  constructor(folder: string) {
    this.folder = folder;
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  /** Writes a file unless there is one. */
  write(path: string, text: string): void {
    const file = join(this.folder, path);
    if (existsSync(file)) return void this.changes.kept.push(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    this.changes.made.push(path);
  }

  /** Adds the entries that a manifest lacks, in the style it is written in, or makes one. */
  manifest(needed: Needed): void {
    const file = join(this.folder, "package.json");
    if (!existsSync(file)) {
      const name = basename(this.folder)
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, "-");
      const sections = Object.entries(needed).filter(([, entries]) => Object.keys(entries).length > 0);
      const manifest = { name, private: true, type: "module", ...Object.fromEntries(sections) };
      return this.write("package.json", json(manifest, "  "));
    }
    const text = readFileSync(file, "utf8");
    const found = readManifest(file, text);
    const changed = { ...found };
    for (const section of SECTIONS)
      if (Object.keys(needed[section]).length > 0)
        changed[section] = this.#merged(section, found, needed[section]);
    const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
    if (this.changes.added.length > 0) writeFileSync(file, json(changed, indent));
  }

  #merged(section: keyof Needed, found: Manifest, entries: Entries): Entries {
    const there = found[section] ?? {};
    // A package counts as there in any section.
    const known = section === "scripts" ? there : { ...found.dependencies, ...found.devDependencies };
    const lacking = Object.entries(entries).filter(([name]) => known[name] === undefined);
    for (const name of Object.keys(entries)) {
      const isLacking = lacking.some(([one]) => one === name);
      this.changes[isLacking ? "added" : "kept"].push(`package.json: ${section}.${name}`);
    }
    return { ...there, ...Object.fromEntries(lacking) };
  }

  /** Stored runs don't belong in version control. */
  ignore(...entries: readonly string[]): void {
    const file = join(this.folder, ".gitignore");
    const isNew = !existsSync(file);
    const text = isNew ? "" : readFileSync(file, "utf8");
    const lines = new Set(text.split("\n").map((line) => line.replace(/^\/|\/$/g, "")));
    const lacking = entries.filter((entry) => !lines.has(entry));
    if (lacking.length === 0) return;
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    appendFileSync(file, `${gap}${lacking.map((entry) => `${entry}/\n`).join("")}`);
    if (isNew) this.changes.made.push(".gitignore");
    else this.changes.added.push(...lacking.map((entry) => `.gitignore: ${entry}/`));
  }
}

interface Manifest {
  type?: string;
  scripts?: Entries;
  dependencies?: Entries;
  devDependencies?: Entries;
}

function readManifest(file: string, text: string): Manifest {
  try {
    return JSON.parse(text) as Manifest;
  } catch (error) {
    throw new HoldfastError("HF-4411", { file, problem: messageOf(error) }, { cause: error });
  }
}

const json = (value: object, indent: string): string => `${JSON.stringify(value, null, indent)}\n`;
