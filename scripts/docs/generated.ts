/** Every generated page of the documentation, by its path in the repository. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { verbTable } from "../../test/support/verb-table.ts";
import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { errorReference } from "./error-pages.ts";
import { llmsText } from "./llms.ts";
import { ROOT } from "./text.ts";
import { yamlReference } from "./yaml-reference.ts";

export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map(apiReference());
  pages.set("docs/cli.md", await cliReference());
  pages.set("docs/api.md", withVerbs(readFileSync(path.join(ROOT, "docs/api.md"), "utf8")));
  pages.set("docs/errors.md", errorReference());
  pages.set("docs/yaml-keys.md", yamlReference());
  pages.set(
    "llms.txt",
    llmsText(pages, (link) => `docs${link}.md`),
  );
  pages.set(
    "docs/public/llms.txt",
    llmsText(pages, (link) => link.replace(/\/index$/, "/")),
  );
  return pages;
}

/** The page about the API with the table of verbs. The rest of it is written by hand. */
const withVerbs = (page: string): string =>
  page.replace(
    /(<!-- verbs -->\n)[\s\S]*?(\n<!-- \/verbs -->)/,
    (_, begin: string, end: string) => begin + verbTable() + end,
  );
