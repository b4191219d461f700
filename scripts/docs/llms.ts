/** llms.txt: every page with its first sentence, for programs that read before they write code. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { sectionsWith } from "../../docs/.vitepress/sections.mjs";
import { page, ROOT } from "./text.ts";

const INTRO =
  "> Holdfast makes AI agents and long workflows survive crashes, rate limits, deploys and pauses: finished steps are saved and never run again, and the outcome of an action is never guessed. TypeScript library and command line; SQLite by default, no server.";

const RULES = `Rules of thumb:

- Put every call to the outside into \`ctx.step(name, fn)\`. Code between steps runs again after a crash.
- Name steps by what they do. Names are addresses: no random values, no times.
- Choose the effect of a step: \`repeatable\` (default), \`keyed\` (send the given key along) or \`once\`.
- Keep a run's data in variables of the function, \`ctx.memory\` or a loop's state, never in module variables.
- Start a run with an id of your own; starting the same id again continues that run.`;

/** Generated pages by their path: they may be newer than what is on the disk. */
type Pages = ReadonlyMap<string, string>;

/** `address` turns the link of a page, such as `/gates`, into one that works where the text is read. */
export function llmsText(generated: Pages, address: (link: string) => string): string {
  const lineOf = (title: string, link: string): string =>
    `- [${title}](${address(link)}): ${firstSentence(textOf(`docs${link}.md`, generated))}`;
  const isThere = (file: string): boolean => generated.has(file) || existsSync(path.join(ROOT, file));
  const blocks = sectionsWith(isThere).map(({ text, items }) =>
    [`## ${text}`, "", ...items.map((item) => lineOf(item.text, item.link))].join("\n"),
  );
  return page("# Holdfast", INTRO, RULES, ...blocks);
}

const textOf = (file: string, generated: Pages): string =>
  generated.get(file) ?? readFileSync(path.join(ROOT, file), "utf8");

/** The first sentence of a page's first paragraph. */
function firstSentence(text: string): string {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<!--[\s\S]*?-->/g, "");
  const paragraph = body.split(/\n\s*\n/).find((block) => /^[\p{L}`*[]/u.test(block.trim())) ?? "";
  const plain = paragraph
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
  return plain.match(/^.*?[.!?:](?=\s|$)/)?.[0].replace(/:$/, ".") ?? plain;
}
