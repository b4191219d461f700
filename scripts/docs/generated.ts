/** Every generated page of the documentation, by its path in the repository. */
import { apiReference } from "./api-reference.ts";
import { cliReference } from "./cli-reference.ts";
import { errorReference } from "./error-pages.ts";
import { llmsText } from "./llms.ts";
import { yamlReference } from "./yaml-reference.ts";

export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map(apiReference());
  pages.set("docs/cli.md", await cliReference());
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
