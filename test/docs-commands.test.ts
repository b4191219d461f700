import { describe, expect, it } from "vitest";
import { blocksOf, type Page, written } from "./support/docs.ts";
import { play } from "./support/docs-commands/play.ts";
import { SCENES } from "./support/docs-commands/scenes.ts";

const isRunbook = ({ file }: Page): boolean => file.startsWith("docs/runbooks/");

const shellOf = (page: Page): readonly string[] =>
  blocksOf(page).flatMap(({ language, code }) => (language === "sh" ? [code] : []));

/** Every block of commands that a person wrote, by page and number. Runbooks share most of theirs: they count as one. */
const blocks = new Map<string, string>([
  ...written
    .filter((page) => !isRunbook(page))
    .flatMap((page) => shellOf(page).map((code, index) => [`${page.file} ${index + 1}`, code] as const)),
  ["docs/runbooks", [...new Set(written.filter(isRunbook).flatMap(shellOf).join("").split("\n"))].join("\n")],
]);

describe("the commands that the docs show", () => {
  it("are all executed, or there is a reason why not", () => {
    expect([...blocks.keys()].sort()).toEqual(Object.keys(SCENES).sort());
  });

  for (const [name, scene] of Object.entries(SCENES))
    if (typeof scene !== "string")
      it.concurrent(`do what they should: ${name}`, async () => {
        expect(await play(blocks.get(name) ?? "exit 9", scene)).toBe("");
      });
});
