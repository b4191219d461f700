import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { errorTable } from "../core/errors.ts";
import { catalog } from "./catalog.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

describe("the command line", () => {
  it("lists its commands when it is given none", async () => {
    const { code, stdout } = await folder.run("");
    expect(code).toBe(0);
    for (const { name, summary } of catalog)
      expect(stdout).toMatch(new RegExp(`${name} +${summary.slice(0, 10)}`));
  });

  it("says which command was meant by one that it does not have", async () => {
    const { code, stderr, stdout } = await folder.run("explian 2101");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("There is no command explian.");
    expect(stderr).toContain("Fix   holdfast explain\n");
    expect(stderr.split("\n")[0]).toMatch(/HF-4301$/);
  });

  it("guesses at no command that is far from the one typed", async () => {
    const { code, stderr } = await folder.run("why first");
    expect(code).toBe(2);
    expect(stderr).toContain("Fix   All commands: holdfast --help\n");
  });

  it("finds a command that was named without its group (C9)", async () => {
    for (const [typed, meant] of [
      ["prune --keep 2", "checkpoints prune"],
      ["approve r:ok", "gate approve"],
    ])
      expect((await folder.run(typed as string)).stderr).toContain(`Fix   holdfast ${meant}\n`);
  });

  it("says what a workflow file is when it is given another file", async () => {
    folder.write("notes.md", "");
    const { code, stderr } = await folder.run("run notes.md");
    expect(code).toBe(4);
    expect(stderr).toContain("It is a file or folder, but workflow files end in .ts");
  });

  it("takes help as a command, for all of it and for one command", async () => {
    expect((await folder.run("help")).stdout).toBe((await folder.run("--help")).stdout);
    const one = await folder.run("help gate list");
    expect([one.code, one.stdout]).toEqual([0, (await folder.run("gate list --help")).stdout]);
    expect((await folder.run("help nothing")).stderr).toContain("There is no command nothing.");
  });

  it("takes global flags before and after the command", async () => {
    const before = await folder.run("--json explain 2101");
    const after = await folder.run("explain 2101 --json");
    expect(before.json()).toMatchObject({ schema: "holdfast/explain/v1", ok: true, code: "HF-2101" });
    expect(after.stdout).toBe(before.stdout);
  });

  it("answers only the fields asked for", async () => {
    const { stdout } = await folder.run("explain 2101 --json=code,safe");
    expect(Object.keys(JSON.parse(stdout))).toEqual(["schema", "ok", "code", "safe"]);
  });

  it("tells an error as a document on standard output when JSON was asked for", async () => {
    const { code, stdout, stderr } = await folder.run("explain 99 --json");
    expect([code, stderr]).toEqual([2, ""]);
    expect(JSON.parse(stdout)).toEqual({
      schema: "holdfast/explain/v1",
      ok: false,
      error: {
        code: "HF-4300",
        message: expect.stringContaining("99 isn't an error code"),
        why: expect.any(String),
        safe: "Nothing was changed.",
        fix: [expect.stringMatching(/^holdfast explain \d+$/)],
        docs: "holdfast explain 4300",
      },
    });
  });

  it("refuses an option that a command does not have, and names the one that was meant", async () => {
    const { code, stderr } = await folder.run("explain 2101 --jsno");
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option '--jsno'");
    expect((await folder.run("explain")).code).toBe(2);
    expect((await folder.run("explain 1 2")).code).toBe(2);
    expect((await folder.run("explain 2101 --ui lievly")).stderr).toContain("--ui live");
  });

  it("uses letters that every terminal has where glyphs cannot be shown", async () => {
    const glyphs = await folder.run("explain 99", { env: {} });
    const ascii = await folder.run("explain 99 --ascii");
    const dumb = await folder.run("explain 99", { env: { TERM: "dumb" } });
    expect(glyphs.stderr).toMatch(/^✗ /);
    expect(ascii.stderr).toMatch(/^x /);
    expect(dumb.stderr).toBe(ascii.stderr);
  });

  it("colours only for terminals, and as NO_COLOR and FORCE_COLOR say", async () => {
    const isColoured = async (line: string, options = {}) =>
      (await folder.run(line, options)).stdout.includes("\u001b[");
    expect(await isColoured("explain 2101")).toBe(false);
    expect(await isColoured("explain 2101", { columns: 80 })).toBe(true);
    expect(await isColoured("explain 2101", { columns: 80, env: { NO_COLOR: "1" } })).toBe(false);
    expect(await isColoured("explain 2101 --no-color", { columns: 80, env: { FORCE_COLOR: "1" } })).toBe(
      false,
    );
    expect(await isColoured("explain 2101", { env: { FORCE_COLOR: "1" } })).toBe(true);
  });
});

describe("exit codes", () => {
  it("exist for every error of the table", () => {
    const known = Object.values<number>(EXIT);
    const codes = Object.keys(errorTable) as (keyof typeof errorTable)[];
    expect(codes.filter((code) => !known.includes(exitCodeOf(code)))).toEqual([]);
    // No error means that all is well.
    expect(codes.filter((code) => exitCodeOf(code) === EXIT.done)).toEqual([]);
  });

  it("tell apart what a script must tell apart", () => {
    expect(exitCodeOf("HF-1001")).toBe(4);
    expect(exitCodeOf("HF-3002")).toBe(5);
    expect(exitCodeOf("HF-3010")).toBe(6);
    expect(exitCodeOf("HF-4311")).toBe(7);
    expect(exitCodeOf("HF-4312")).toBe(8);
    expect(exitCodeOf("HF-2101")).toBe(75);
  });
});
