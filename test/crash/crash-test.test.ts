import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { crashTest } from "../../src/testing/crash-test/crash-test.ts";
import type { CrashTestOptions } from "../../src/testing/crash-test/options.ts";
import { type CrashTestReport, reportDigest } from "../../src/testing/crash-test/report.ts";
import { reportToText } from "../../src/testing/crash-test/report-text.ts";
import { cliFolder } from "../support/cli.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`./crash-test/${name}.mjs`, import.meta.url));

const test = (name: string, options: Partial<CrashTestOptions> = {}) =>
  crashTest({ file: fixture(name), ...options });

/** Outside the package, its name can't be resolved. */
const PACKAGE = [
  /"(holdfast[^"]*)"/g,
  (_: string, name: string) => `"${import.meta.resolve(name)}"`,
] as const;

const input = { invoices: ["a", "bb"] };

describe("crash-test", () => {
  it("finds nothing wrong with a workflow that is right, and counts its effects", async () => {
    const report = await test("reconcile", { input, limit: 6 });
    expect(report.problems, reportToText(report)).toEqual([]);
    expect(report).toMatchObject({ ok: true, duplicates: 0 });
    expect(report.effects).toMatchObject({ payment: { each: 2 }, mail: { each: 1 } });
    expect(report.kills).toBeGreaterThanOrEqual(report.struck);
    expect(report.struck).toBeGreaterThan(0);
    expect(report.boundaries.possible).toBeGreaterThan(30);
    expect(report.people.answered).toBeGreaterThan(0);
  });

  it("settles a once step in doubt by what the witness saw", async () => {
    const report = await test("reconcile", { input, at: "mail", case: "effect-3" });
    expect(report.problems, reportToText(report)).toEqual([]);
    expect(report.people.settled).toBe(1);
    expect(report.effects["mail"]).toEqual({ each: 1, counted: 1 });
  });

  it("catches a mail in a step that may be repeated, and says what to declare", async () => {
    const report = await test("mail-again", { case: "effect-1" });
    expect(report.ok).toBe(false);
    expect(report.duplicates).toBe(1);
    const [problem, ...others] = report.problems;
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      promise: "one-effect",
      step: "mail",
      message: "Step mail is declared repeatable, but the witness saw mail mail-7 twice.",
      first: "killed after effect mail mail-7 in mail",
    });
    expect(problem?.repeat).toMatch(/crash-test .*mail-again\.mjs --fault sigkill --case effect-1$/);
  });

  it("catches an effect between steps, even before anything is killed", async () => {
    const report = await test("outside", { limit: 2, at: "note" });
    const [problem] = report.problems;
    expect(problem).toMatchObject({ promise: "inside-steps", first: "even without a crash" });
    expect(report.duplicates).toBeGreaterThan(0);
  });

  it("catches names of steps that change, by the workflow's own replay", async () => {
    const report = await test("changing-names", { case: "write-1-before" });
    expect(report.problems.map(({ promise }) => promise)).toEqual(["same-names"]);
  });

  it("lets a run survive a store that is away, and calls that fail", async () => {
    const down = await test("mail-again", { fault: "store-down", case: "write-2-after" });
    expect(down.problems, reportToText(down)).toEqual([]);
    expect(down).toMatchObject({ ok: true, struck: 1, kills: 0 });
    const thrown = await test("mail-again", { fault: "throw", case: "call-1-after" });
    expect(thrown.problems, reportToText(thrown)).toEqual([]);
    expect(thrown).toMatchObject({ ok: true, struck: 1 });
  });
});

describe("a workflow that cannot be tested", () => {
  it("is refused when it cannot be loaded, has no such export, or does not complete", async () => {
    await expect(crashTest({ file: fixture("missing") })).rejects.toMatchObject({ code: "HF-4400" });
    await expect(test("reconcile", { export: "other" })).rejects.toMatchObject({ code: "HF-4401" });
    await expect(test("reconcile", { input: null })).rejects.toMatchObject({ code: "HF-4402" });
  });

  it("is refused when what is asked for is not there", async () => {
    await expect(test("mail-again", { at: "mial" })).rejects.toThrow("did you mean mail?");
    await expect(test("mail-again", { case: "write-999-after" })).rejects.toMatchObject({ code: "HF-1003" });
    await expect(test("mail-again", { store: "tape" })).rejects.toMatchObject({ code: "HF-1003" });
  });
});

describe("holdfast crash-test", () => {
  const folder = cliFolder();
  afterAll(() => folder.remove());

  it("ends with 0 when everything held, writes its reports and says where", async () => {
    folder.write("flow.mjs", readFileSync(fixture("reconcile"), "utf8").replaceAll(...PACKAGE));
    const line = ["crash-test", "flow.mjs", "-i", JSON.stringify(input), "--case", "effect-3"];
    const { code, stdout, stderr } = await folder.run([
      ...line,
      "--report",
      "md",
      "--report",
      "junit=out.xml",
    ]);
    expect(stderr).toContain("1/1 cases");
    expect(stdout).toContain("✓ 1/1 kills recovered");
    expect(stdout).toContain("report: crash-test.md  out.xml  crash-test.json");
    expect(code).toBe(0);
    const json = readFileSync(path.join(folder.path, "crash-test.json"), "utf8");
    expect(readFileSync(path.join(folder.path, "crash-test.md"), "utf8")).toContain(reportDigest(json));
    expect(readFileSync(path.join(folder.path, "out.xml"), "utf8")).toContain('failures="0"');
  });

  it("ends with 1 when a promise was broken, with the command that shows it again", async () => {
    folder.write("mail.mjs", readFileSync(fixture("mail-again"), "utf8").replaceAll(...PACKAGE));
    const { code, json } = await folder.run("crash-test mail.mjs --case effect-1 --json");
    expect(code).toBe(1);
    const { ok, report } = json<{ ok: boolean; report: CrashTestReport }>();
    expect(ok).toBe(false);
    expect(report.problems[0]?.repeat).toBe("holdfast crash-test mail.mjs --case effect-1");
  });

  it("takes an input that is a number, and repeats it in the command that shows a problem (A14)", async () => {
    folder.write(
      "number.mjs",
      `import { workflow } from "${import.meta.resolve("holdfast")}";
      import { witness } from "${import.meta.resolve("holdfast/testing")}";
      export default workflow("number", (ctx, amount) => ctx.step("pay", () => witness("payment", String(amount + 1))));`,
    );
    const { json } = await folder.run("crash-test number.mjs -i 1 --case effect-1 --json");
    const { report } = json<{ report: CrashTestReport }>();
    expect(report.problems[0]?.message).toContain("the witness saw payment 2 twice");
    expect(report.problems[0]?.repeat).toBe("holdfast crash-test number.mjs -i 1 --case effect-1");
  });

  it("ends with 4 when there is no workflow, and with 2 for what it does not understand", async () => {
    expect((await folder.run("crash-test nowhere.mjs")).code).toBe(4);
    expect((await folder.run("crash-test flow.mjs --report pdf")).code).toBe(2);
    expect((await folder.run("crash-test flow.mjs --fault fire")).code).toBe(2);
    expect((await folder.run("crash-test flow.mjs --limit many")).code).toBe(2);
  });
});
