import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { catalog } from "./catalog.ts";
import { width } from "./format.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

describe("help on a terminal", () => {
  it("says the same of a command in the list and on its own page", async () => {
    const loaded = catalog.map(async (listed) => [listed.summary, (await listed.load()).summary] as const);
    const differ = (await Promise.all(loaded)).filter(([a, b]) => !a.startsWith(b) && !b.startsWith(a));
    expect(differ).toEqual([]);
  });

  it.each([40, 60, 80, 120])("fits into %i columns, and nothing of it is lost", async (columns) => {
    for (const line of ["--help", ...catalog.map(({ name }) => `${name} --help`)]) {
      const { stdout } = await folder.run(line, { columns });
      // One word that is wider than the terminal has no place to break.
      const wide = stdout.split("\n").filter((one) => width(one) > columns && one.trim().includes(" "));
      expect(wide, line).toEqual([]);
      expect(words(stdout).sort(), line).toEqual(words((await folder.run(line)).stdout).sort());
    }
  });

  it("keeps texts in their column, and puts them below a term that leaves no room", async () => {
    const { stdout } = await folder.run("resume --help", { columns: 60 });
    expect(stdout).toContain(
      [
        "  --checkpoint-id <checkpoint>  Continue from an earlier",
        "                                checkpoint as a fork; the",
        "                                run itself stays as it is",
      ].join("\n"),
    );
    const narrow = await folder.run("resume --help", { columns: 50 });
    expect(narrow.stdout).toContain(
      "  --checkpoint-id <checkpoint>\n      Continue from an earlier checkpoint as a",
    );
  });
});
