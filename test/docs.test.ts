import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path, { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sections } from "../docs/.vitepress/sections.mjs";
import { STOCK_AGENTS } from "../examples/stock-team/subtasks.ts";
import { errorTable } from "../src/core/errors.ts";
import { ROOT } from "./source-tree.ts";
import {
  blocksOf,
  brokenLinks,
  commandChecker,
  commandsOf,
  pages,
  proseOf,
  readme,
  written,
} from "./support/docs.ts";
import { awkward } from "./support/prose.ts";

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** TypeScript examples: fenced blocks in Markdown, and in the TSDoc of the sources. */
function examples(): { from: string; code: string }[] {
  const documented = sources(join(ROOT, "src")).map((file) => ({
    file: file.slice(ROOT.length + 1),
    text: readFileSync(file, "utf8").replace(/^[ \t]*\* ?/gm, ""),
  }));
  return [readme, ...written, ...documented].flatMap((page) =>
    blocksOf(page).filter(({ language }) => language === "ts"),
  );
}

describe("the documentation", () => {
  it("has examples that compile", { timeout: 300_000 }, () => {
    const folder = mkdtempSync(join(ROOT, ".tmp-docs-"));
    try {
      const found = examples();
      expect(found.length).toBeGreaterThan(100);
      found.forEach(({ from, code }, index) => {
        writeFileSync(join(folder, `example-${index}.ts`), `// ${from}\n${code}\nexport {};\n`);
      });
      const config = {
        extends: "../tsconfig.json",
        include: ["*.ts"],
        compilerOptions: { noEmit: true, noUnusedLocals: false },
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
      const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
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

  it("names only commands and options that exist", async () => {
    const problemOf = await commandChecker();
    const lines = [readme, ...written].flatMap((page) =>
      commandsOf(page).map((line) => ({ file: page.file, line })),
    );
    expect(lines.length).toBeGreaterThan(100);
    const wrong = lines.flatMap(({ file, line }) => {
      const problem = problemOf(line);
      return problem === undefined ? [] : [`${file}: ${line}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  it("names only error codes that exist", () => {
    const wrong = [readme, ...written].flatMap(({ file, text }) =>
      [...text.matchAll(/HF-\d{4}/g)]
        .filter(([code]) => !Object.hasOwn(errorTable, code))
        .map(([code]) => `${file}: ${code}`),
    );
    expect(wrong).toEqual([]);
  });

  it("links only to pages and headings that exist", () => {
    expect([readme, ...pages].flatMap(brokenLinks)).toEqual([]);
  });

  it("has every page in its navigation", () => {
    const listed = new Set(sections.flatMap(({ items }) => items.map(({ link }) => `docs${link}.md`)));
    const missing = pages
      .map(({ file }) => file)
      .filter((file) => !listed.has(file) && file !== "docs/index.md" && !file.startsWith("docs/reference/"));
    expect(missing).toEqual([]);
  });

  it("starts each page with a title and a sentence", () => {
    const wrong = pages.filter(({ file, text }) => {
      const body = text
        .replace(/^---\n.*?\n---\n/s, "")
        .replace(/<!--.*?-->/gs, "")
        .trim();
      return file !== "docs/index.md" && !/^# [^\n]+\n\n[^#|\n-][^\n]*[.:]/.test(body);
    });
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });

  it("reads like plain English, and so do errors and the command line", () => {
    const texts = [readme, ...pages].map((page) => ({ file: page.file, text: proseOf(page) }));
    const told = ["src/cli", "src/core/errors", "src/server/contract", "dashboard/src/text", "scripts/docs"];
    const code = told
      .flatMap((folder) => sources(join(ROOT, folder)))
      .map((file) => ({
        file: file.slice(ROOT.length + 1),
        text: readFileSync(file, "utf8").replace(/^\s*(?:\/\/|\/?\*).*$|z\.enum\(.*$/gm, ""),
      }));
    const found = [...texts, ...code].flatMap(({ file, text }) =>
      awkward(text).map((phrase) => `${file}: ${phrase}`),
    );
    expect(found).toEqual([]);
  });

  it("lists the subtasks of every stock agent, with what the team needs and how it is paused (S0-52, S0-53)", () => {
    const page = written.find(({ file }) => file === "docs/teams.md")?.text ?? "";
    const wanted = STOCK_AGENTS.flatMap(({ type, subtasks }) => [
      `| \`${type}\` |`,
      ...subtasks.map(({ name, deliverable, target }) => `\`${name}\` → \`${deliverable}\` (${target})`),
      "PostgreSQL for the checkpoints and Redis as their cache",
      "control.md#pause-look-resume",
    ]);
    expect(STOCK_AGENTS.length).toBe(13);
    expect(wanted.filter((text) => !page.includes(text))).toEqual([]);
  });

  it("says when checkpoints pay, what they need, and how soon each field must recover (S1-06, S1-08, S1-09)", () => {
    const page = written.find(({ file }) => file === "docs/when.md")?.text ?? "";
    const reasons = ["five minutes", "twice is wrong", "needs a person", "stated time", "before it ends"];
    const needs = ["durable store", "a key for each call", "people answer", "orchestrator"];
    const fields = [
      "| finance, health | minutes |",
      "| law, software services, public administration | hours |",
    ];
    expect([...reasons, ...needs, ...fields].filter((text) => !page.includes(text))).toEqual([]);
  });

  it("has a runbook for every alert: what is safe, what to look at, what to do, whom to call (S1-58, S1-60)", () => {
    const runbooks = written.filter(({ file }) => /^docs\/runbooks\/(?!index)/.test(file));
    const index = written.find(({ file }) => file === "docs/runbooks/index.md")?.text ?? "";
    const parts = ["What is safe", "Look", "Do", "Escalate"];
    const names = runbooks.map(({ file }) => path.basename(file, ".md"));
    expect(names.filter((name) => !index.includes(`[${name}](${name}.md)`))).toEqual([]);
    const wrong = runbooks.filter(({ text }) => {
      const titles = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
      return titles.join() !== parts.join();
    });
    expect(wrong.map(({ file }) => file)).toEqual([]);
    expect(runbooks.filter((page) => commandsOf(page).length < 2).map(({ file }) => file)).toEqual([]);
  });

  it("says what is evidence for which clause, and what was not run (S1-63, S1-70, S1-71)", () => {
    const page = written.find(({ file }) => file === "docs/compliance.md")?.text ?? "";
    const clauses = ["APRA CPS 230", "ISO 22301 §8.4", "MANAGE 4.1", "Art. 9", "Art. 12", "Art. 14"];
    const facts = ["documented, not run by us", "RTO", "RPO", "holdfast crash-test", "Global Tables"];
    expect([...clauses, ...facts].filter((text) => !page.includes(text))).toEqual([]);
  });
});
