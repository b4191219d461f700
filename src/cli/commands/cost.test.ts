import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { fillStore, stock, withRuns } from "../../../test/support/cli-runs.ts";
import { workflow } from "../../index.ts";

const folder = cliFolder();
let failures = 1;

const flaky = workflow("flaky", async (ctx) => {
  await ctx.step("think", () => ctx.usage({ tokens: 1_000, costUsd: 0.5 }));
  await ctx.step(
    "act",
    () => {
      if (failures-- > 0) throw new Error("no");
    },
    { retry: false },
  );
});

beforeAll(async () => {
  await fillStore(folder.path);
  await withRuns(folder.path, async (engine) => {
    await engine.start(flaky, undefined, { id: "flaky-1" });
    await engine.settled("flaky-1");
    await engine.resume("flaky-1");
    await engine.result("flaky-1");
  });
});
afterAll(() => folder.remove());

describe("cost", () => {
  it("tells what was spent, wasted and saved, by workflow", async () => {
    const { stdout } = await folder.run("cost");
    const line = (name: string) => stdout.split("\n").find((one) => one.startsWith(name));
    expect(line("brief")).toMatch(/brief +1 +6,400 +\$0.02 \+ 4,000 tok unpriced +\$0.01 +–/);
    expect(line("flaky")).toMatch(/flaky +1 +1,000 +\$0.50 +– .*\$0.50/);
    expect(line("stock-analysis")).toMatch(/stock-analysis +1 +0 +– +– +–/);
    expect(stdout).toContain("unpriced: reported without costUsd");
  });

  it("never says that tokens without a price cost nothing", async () => {
    const { stdout } = await folder.run("cost done-1 --by model");
    expect(stdout).toMatch(/local +4,000 +4,000 tok unpriced/);
    expect(stdout).not.toContain("$0.00");
    expect((await folder.run("cost done-1 --by step --json")).json()).toMatchObject({
      run: "done-1",
      total: { tokens: 6_400, unpriced: 4_000, wasted: { tokens: 1_200 } },
    });
  });

  it("groups by label, and leaves out what began before", async () => {
    expect((await folder.run("cost --by label")).stdout).toContain("(no label)");
    expect((await folder.run("cost --since 2999-01-01")).stdout).toBe("No runs, no cost.\n");
  });

  it("puts two runs side by side", async () => {
    await withRuns(folder.path, async (engine) => {
      await engine.start(stock, "MSFT", { id: "msft-1" });
      await engine.settled("msft-1");
    });
    const { stdout } = await folder.run("cost done-1 --compare flaky-1");
    expect(stdout).toMatch(/tokens +6,400 +1,000/);
    expect(stdout).toMatch(/saved +– .*\$0.50/);
    expect((await folder.run("cost done-1 --compare nobody")).code).toBe(4);
  });
});
