import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore, reconcile, withRuns } from "../../../test/support/cli-runs.ts";

const folder = cliFolder();
const source = new URL("../../../test/support/cli-runs.ts", import.meta.url).href;

beforeAll(async () => {
  await fillStore(folder.path);
  await withRuns(folder.path, async (engine) => {
    await engine.start(reconcile, { batch: "paid" }, { id: "paid-1" });
    await engine.settled("paid-1");
    await engine.answer("paid-1", "approve", { choice: "approve" });
    await engine.result("paid-1");
  });
  folder.write("flows.mjs", `export { brief, reconcile } from ${JSON.stringify(source)};\n`);
});
afterAll(() => folder.remove());

describe("fork", () => {
  it("lists what would become of calls that were made already", async () => {
    const { code, stdout } = await folder.run("fork paid-1@match --dry-run --effects allow");
    expect(code).toBe(0);
    expect(stdout).toMatch(/! pay +keyed +completed .* → called again/);
    expect((await folder.run("fork paid-1@match --dry-run --json")).json()).toMatchObject({
      effects: "reuse",
      calls: [{ step: "pay", becomes: "reused" }],
    });
  });

  it("makes a call again only when told to", async () => {
    const { code, stderr } = await folder.run("fork paid-1@match --effects allow --name again-1");
    expect([code, stderr]).toEqual([8, expect.stringContaining("1 call would be made again: pay")]);
    expect((await folder.run("show again-1")).code).toBe(4);
    const made = await folder.run("fork paid-1@match --effects allow --name again-1 --yes");
    expect([made.code, made.stdout.split("\n")[0]]).toEqual([0, "✓ forked paid-1@8 as again-1"]);
  });

  it("sets other values, and goes on from there", async () => {
    const { code } = await folder.run([
      "fork",
      "paid-1@match",
      "--set",
      "memory.matched=7",
      "--set",
      'input={"batch":"b"}',
      "--dry-effects",
      "--name",
      "set-1",
    ]);
    expect(code).toBe(0);
    expect((await folder.run("diff paid-1@match set-1@last --only state")).stdout).toContain(
      "~ memory.matched: 2 → 7",
    );
    expect((await folder.run("show set-1")).stdout).toContain("forked from paid-1@8");
    expect((await folder.run("fork paid-1@match --set nothing=1")).code).toBe(2);
    expect((await folder.run("fork paid-1@match --dry-effects --effects allow")).code).toBe(2);
    expect((await folder.run("fork paid-1@nowhere")).code).toBe(4);
  });

  it("lets a person edit the state, where there is one", async () => {
    const editor = folder.write(
      "editor.mjs",
      'import { readFileSync, writeFileSync } from "node:fs";\nconst [file] = process.argv.slice(2);\nconst state = JSON.parse(readFileSync(file, "utf8"));\nstate.steps.load = ["c"];\ndelete state.memory.matched;\nwriteFileSync(file, JSON.stringify(state));\n',
    );
    const env = { EDITOR: `${process.execPath} ${editor}` };
    expect((await folder.run("fork paid-1@match --edit", { env })).stderr).toContain("HF-4355");
    expect((await folder.run("fork paid-1@match --edit", { answers: [] })).stderr).toContain(
      "no editor is set",
    );
    const { code } = await folder.run("fork paid-1@match --edit --name edited-1", { env, answers: [] });
    expect(code).toBe(0);
    const { stdout } = await folder.run("diff paid-1@match edited-1@last");
    expect(stdout).toContain('~ load: ["a","b"] → ["c"]');
    expect(stdout).toContain("- memory.matched: 2");
    const failing = { EDITOR: "false" };
    expect((await folder.run("fork paid-1@match --edit", { env: failing, answers: [] })).stderr).toContain(
      "the editor failed",
    );
  });
});

describe("replay", () => {
  it("walks through what is stored, also without the code", async () => {
    const { code, stdout } = await folder.run("replay done-1@scored");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /#5 ✓ collect .*→ \[bolts: 3 sources\]\n +#9 ✓ score .*→ 0.9\n2 of 2 steps replayed/,
    );
    expect(stdout).toContain("nothing was called");
    expect(stdout).toContain("code not checked: HF-4310");
  });

  it("checks the code against what is stored", async () => {
    const whole = await folder.run("replay done-1 --file flows.mjs");
    expect(whole.stdout).toContain("✓ the code fits: completed");
    const part = await folder.run("replay recon-88 --file flows.mjs");
    expect(part.stdout).toContain("✓ the code fits: would then wait for gate at approve");
  });

  it("shows only a step, or stops after one", async () => {
    const one = await folder.run("replay done-1 --step score --json");
    expect(one.json<{ steps: { step: string; value: unknown }[] }>().steps).toMatchObject([
      { step: "score", value: 0.9 },
    ]);
    expect((await folder.run("replay done-1 --until collect")).stdout).toContain("1 of 1 steps");
    expect((await folder.run("replay done-1 --until nowhere")).code).toBe(4);
    expect((await folder.run("replay done-1 --reveal")).stdout).toContain("sk-abcdef");
    expect((await folder.run("replay done-1")).stdout).not.toContain("sk-abcdef");
  });

  it("goes as fast as it is told, until Ctrl-C", async () => {
    const all = await folder.run("replay done-1 --speed 1000x");
    expect(all.stdout).toContain("3 of 3 steps");
    const cut = await folder.run("replay done-1 --speed 1", { onListening: (press) => press("SIGINT") });
    expect([cut.code, cut.stdout]).toEqual([0, expect.stringContaining("1 of 3 steps")]);
    expect((await folder.run("replay done-1 --speed none")).code).toBe(2);
  });
});
