import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder, type Result } from "../../../test/support/cli.ts";
import { width } from "../format.ts";

const RUN = "a-run-with-an-id-of-more-than-twenty-characters";
const STEP = "a-step-with-a-name-of-more-than-sixty-characters-which-nobody-would-write-1";

const folder = cliFolder();
afterAll(() => folder.remove());
beforeAll(async () => {
  const source = new URL("../../../src/index.ts", import.meta.url).href;
  folder.write(
    "flow.mjs",
    `import { workflow } from ${JSON.stringify(source)};
export const flow = workflow("a-workflow-with-a-name-of-more-than-sixty-characters-so-that-it-overflows", async (ctx) => {
  await ctx.step("short", () => 1);
  await ctx.step("a-step-with-more-than-twenty-characters", () => 1);
  await ctx.step(${JSON.stringify(STEP)}, () => 1);
  await ctx.each("members-of-this-group-have-long-names", [1, 2], (n) => {
    if (n === 2) throw new Error("it went wrong ".repeat(20));
    return n;
  }, { retry: false });
});
`,
  );
  await folder.run(["run", "flow.mjs", "--id", RUN]);
});

/** What stands on the screen: without what was drawn over. */
const linesOf = ({ stdout, stderr }: Result): string[] =>
  `${stderr}\n${stdout}`.split(/[\n\r]/).map((line) => stripVTControlCharacters(line));

/** Commands to copy are whole, however long they are. */
const isCommand = (line: string): boolean => /^ *(?:Fix|More)? *holdfast /.test(line);

describe.each([60, 80])("a terminal of %i columns", (columns) => {
  it.each([
    "list",
    "checkpoints list",
    `checkpoints list ${RUN}`,
    `show ${RUN}`,
    `checkpoints show ${RUN}@${STEP}`,
  ])("breaks no line of %s, whatever things are called (C10)", async (line) => {
    const found = await folder.run(line, { columns });
    expect(found.code).toBe(0);
    const long = linesOf(found).filter((text) => width(text) > columns && !isCommand(text));
    expect(long).toEqual([]);
  });

  it("keeps the end of a checkpoint's address, which tells one from another (C10)", async () => {
    const { stdout } = await folder.run(`checkpoints list ${RUN}`, { columns });
    const addresses = stdout
      .split("\n")
      .slice(1)
      .filter((text) => text !== "")
      .map((text) => text.split(" ")[0]);
    expect(addresses.length).toBeGreaterThan(4);
    for (const address of addresses) expect(address).toMatch(/@\d+$/);
  });

  it("has the lines of a run under way in columns (C10)", async () => {
    const found = await folder.run(["run", "flow.mjs", "--id", `live-${columns}`], { columns });
    const lines = linesOf(found);
    expect(lines.filter((text) => width(text) > columns && !isCommand(text))).toEqual([]);
    const done = lines.filter((text) => /^✓ .*checkpoint #/.test(text));
    expect(new Set(done.map((text) => text.slice(2).split(/ {2,}/)[0])).size).toBe(4);
    expect(new Set(done.map((text) => text.indexOf("   checkpoint"))).size).toBe(1);
  });
});
