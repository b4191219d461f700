import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { examplesOf } from "../scripts/docs/yaml-reference.ts";
import { keyBlocks } from "../scripts/docs/yaml-schema.ts";
import type { Section } from "../scripts/docs/yaml-section.ts";
import { SECTIONS } from "../scripts/docs/yaml-sections.ts";
import { checkWorkflow, problemText } from "../src/yaml/index.ts";
import { ROOT } from "./source-tree.ts";
import { blocksOf, pages, readme } from "./support/docs.ts";

/** Has the prompts, skills and workflows that examples refer to. */
const FOLDER = path.join(ROOT, "test/data/yaml");

async function errorsIn(text: string, name: string): Promise<readonly string[]> {
  const { problems } = await checkWorkflow({ text, name, folder: FOLDER }, { env: {} });
  return problems.filter(({ severity }) => severity === "error").map(problemText);
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The examples of a section, parsed. */
const treesOf = (section: Section): readonly Tree[] =>
  examplesOf(section).map(([, text]) => parse(text, { logLevel: "error" }) as Tree);
const all = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** The mappings at a block's path: `agents[script]` are the agents of that type, `*` is any name. */
function mappingsAt(file: unknown, block: string): readonly Tree[] {
  const steps = block === "file" ? [] : block.replace(/\[(\w*)\]/g, ".[$1]").split(".");
  const found = steps.reduce<readonly unknown[]>(
    (values, step) => {
      const trees = values.flatMap(all).filter(isTree);
      if (step === "*") return trees.flatMap((tree) => Object.values(tree));
      if (step === "[]") return trees;
      const kind = /^\[(\w+)\]$/.exec(step)?.[1];
      if (kind !== undefined) return trees.filter(({ type = "agent" }) => type === kind);
      return trees.map((tree) => tree[step]);
    },
    [file],
  );
  const trees = found.flatMap(all).filter(isTree);
  return block.endsWith("output.*") ? trees.flatMap(withInner) : trees;
}

/** A field of an output, and the fields inside it. */
const withInner = (field: Tree): readonly Tree[] => [
  field,
  ...[field["items"], ...Object.values(isTree(field["properties"]) ? field["properties"] : {})]
    .filter(isTree)
    .flatMap(withInner),
];

describe("the YAML of the documentation", () => {
  it.each(SECTIONS.map((section) => [section.title, section] as const))(
    "%s validates",
    async (_, section) => {
      for (const [name, text] of examplesOf(section))
        expect(await errorsIn(text, `${name}.yaml`)).toEqual([]);
    },
  );

  it("uses every key of the schema where it belongs", () => {
    const missing = keyBlocks().flatMap(({ path: block, keys }) => {
      const examples = SECTIONS.filter(({ blocks }) => Object.hasOwn(blocks, block));
      const used = examples.flatMap((section) =>
        treesOf(section).flatMap((tree) => mappingsAt(tree, block).flatMap(Object.keys)),
      );
      // checkpoint_config and the like have an example of their own.
      const own = block === "file" ? SECTIONS.flatMap(treesOf).flatMap(Object.keys) : [];
      return keys
        .filter(({ name }) => ![...used, ...own].includes(name))
        .map(({ name }) => `${block}.${name}`);
    });
    expect(missing).toEqual([]);
  });

  it("is valid wherever a page shows a whole workflow", async () => {
    const shown = [readme, ...pages]
      .flatMap(blocksOf)
      .filter(({ language, code }) => language === "yaml" && /^workflow:/m.test(code));
    expect(shown.length).toBeGreaterThan(15);
    for (const { from, code } of shown) expect(await errorsIn(code, path.basename(from))).toEqual([]);
  });
});
