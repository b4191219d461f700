import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** TypeScript examples: fenced blocks in Markdown, and in the TSDoc of the sources. */
function examples(): { from: string; code: string }[] {
  const pages = readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(root, "docs", name));
  const files = [join(root, "README.md"), ...pages, ...sources(join(root, "src"))];
  return files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const plain = file.endsWith(".md") ? text : text.replace(/^[ \t]*\* ?/gm, "");
    return [...plain.matchAll(/```ts\n(.*?)```/gs)].map((match) => ({
      from: file.slice(root.length + 1),
      code: match[1] as string,
    }));
  });
}

describe("the documentation", () => {
  it("has examples that compile", { timeout: 60_000 }, () => {
    const folder = mkdtempSync(join(root, ".tmp-docs-"));
    try {
      const found = examples();
      expect(found.length).toBeGreaterThan(5);
      found.forEach(({ from, code }, index) => {
        writeFileSync(join(folder, `example-${index}.ts`), `// ${from}\n${code}\nexport {};\n`);
      });
      const config = {
        extends: "../tsconfig.json",
        include: ["*.ts"],
        compilerOptions: { noEmit: true, noUnusedLocals: false },
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
      const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
      const named = stdout.replace(
        /\S*example-(\d+)\.ts/g,
        (_, index: string) => found[Number(index)]?.from ?? "",
      );
      expect(named).toBe("");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
