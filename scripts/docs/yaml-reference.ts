/** docs/yaml-keys.md, made from the schema of workflow files, the meaning of each key, and examples that validate. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { code, GENERATED, page, ROOT, table } from "./text.ts";
import { type Key, type KeyBlock, keyBlocks } from "./yaml-schema.ts";
import type { Section } from "./yaml-section.ts";
import { SECTIONS } from "./yaml-sections.ts";

/** The examples of a section, by the names of their files. */
export const examplesOf = ({ example, others = [] }: Section): readonly (readonly [string, string])[] =>
  [example, ...others].map((name) => [
    name,
    readFileSync(path.join(ROOT, `docs/yaml-keys/${name}.yaml`), "utf8"),
  ]);

export function yamlReference(): string {
  const blocks = new Map(keyBlocks().map((block) => [block.path, block]));
  const described = new Set(SECTIONS.flatMap((section) => Object.keys(section.blocks)));
  const missing = [...blocks.keys()].filter((block) => !described.has(block));
  if (missing.length > 0)
    throw new Error(`scripts/docs/yaml-sections.ts doesn't describe ${missing.join(", ")}.`);
  return page(
    GENERATED,
    "# YAML keys",
    "Every key of a workflow file, with an example for each section. The examples are whole files: `holdfast validate` accepts each of them, and a test checks that together they use every key. [YAML workflows](yaml.md) explains how files run.",
    ...SECTIONS.map((section) => sectionOf(section, blocks)),
  );
}

function sectionOf(section: Section, blocks: ReadonlyMap<string, KeyBlock>): string {
  const tables = Object.entries(section.blocks).map(([name, meanings], index) => {
    const block = blocks.get(name);
    if (!block)
      throw new Error(`scripts/docs/yaml-sections.ts describes ${name}, which the schema doesn't have.`);
    return page(index === 0 ? "" : `### ${titleOf(name)}`, keyTable(block, meanings)).trim();
  });
  return page(
    `## ${section.title}`,
    section.about,
    ...examplesOf(section).map(([, text]) => `\`\`\`yaml\n${text.trim()}\n\`\`\``),
    ...tables,
  ).trim();
}

/** The block as a reader would look for it: `checkpoint.retention`, `retry`, `options`. */
const titleOf = (name: string): string =>
  name
    .replace(/^workflow\.|^agents\[\w+\]\./, "")
    .replace(/\[\]$/, "")
    .replace(/\.\*$/, ".‹name›");

function keyTable({ path: block, keys }: KeyBlock, meanings: Readonly<Record<string, string>>): string {
  const wrong = [
    ...keys.filter(({ name }) => !Object.hasOwn(meanings, name)).map(({ name }) => name),
    ...Object.keys(meanings).filter((name) => !keys.some((key) => key.name === name)),
  ];
  if (wrong.length > 0)
    throw new Error(`Keys of ${block} without a meaning, or unknown: ${wrong.join(", ")}.`);
  return table(
    ["key", "value", "default", "meaning"],
    keys.map((key) => [code(key.name), key.type, fallbackOf(key), meanings[key.name] ?? ""]),
  );
}

const fallbackOf = ({ name, default: fallback, isRequired }: Key): string =>
  isRequired && name !== "type" ? "required" : fallback === "" ? "" : code(fallback);
