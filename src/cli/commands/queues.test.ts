import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";
import { neededBy } from "../admission.ts";

const folders: CliFolder[] = [];
let folder: CliFolder;

beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => folders.forEach((one) => one.remove()));

describe("holdfast queues", () => {
  it("sets, lists, shows, pauses, resumes and deletes a queue", async () => {
    const made = await folder.run(
      "queues set orders --concurrency 5 --per-key 1 --fair-by labels.team --rate 100 --period 1m",
    );
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining("✓ orders has 5 at once, 1 per key"),
    ]);
    expect((await folder.run("queues")).stdout).toContain("orders");
    expect((await folder.run("queues pause orders --reason maintenance")).code).toBe(0);
    const shown = (await folder.run("queues show orders")).stdout;
    expect(shown).toContain("orders   paused: maintenance");
    expect(shown).toContain("0 in line");
    expect((await folder.run("queues resume orders")).code).toBe(0);
    const { queue } = (await folder.run("queues show orders --json")).json<{ queue: object }>();
    expect(queue).toMatchObject({
      concurrency: 5,
      perKey: 1,
      fairBy: "labels.team",
      rate: { calls: 100 },
      paused: null,
    });
    expect((await folder.run("queues delete orders")).code).toBe(0);
    expect((await folder.run("queues")).stdout).toBe("There are no queues.\n");
  });

  it("refuses what isn't valid, and a queue that isn't there", async () => {
    expect((await folder.run("queues set orders --concurrency 0")).stderr).toContain("isn't a valid number");
    expect((await folder.run("queues set orders --fair-by team")).stderr).toContain("labels.team");
    await folder.run("queues set orders --concurrency 1");
    const missing = await folder.run("queues show other");
    expect([missing.code, missing.stderr]).toEqual([
      4,
      expect.stringContaining("There is no queue named other."),
    ]);
    expect((await folder.run("queues resume other")).code).not.toBe(0);
  });

  it("asks for the permission to manage flow only where something is changed", () => {
    const needs = ["queues list", "queues show", "queues set", "schedules list", "schedules pause"].map(
      neededBy,
    );
    expect(needs).toEqual(["runs:read", "runs:read", "flow:manage", "runs:read", "flow:manage"]);
  });
});

describe("holdfast run with a key", () => {
  const FLOW = `import { workflow } from "${new URL("../../index.ts", import.meta.url).pathname}";
export const ask = workflow("ask", async (ctx, input) => {
  await ctx.gate("ok", { choices: ["yes"] });
  return input;
});`;

  it("joins the run of its key, or refuses", async () => {
    folder.write("flow.ts", FLOW);
    const run = (more: string) => folder.run(`run flow.ts --id ${more} --ui lines`);
    const first = await run("one --key ada --singleton join -i a=1");
    expect(first.stderr).toContain("one");
    const joined = await run("two --key ada --singleton join -i a=2 --json");
    expect(joined.stdout).toContain('"one"');
    const refused = await run("three --key ada --singleton refuse -i a=2");
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining("HF-5060")]);
    expect((await run("x --singleton join")).stderr).toContain("it goes by key");
    const ids = (await folder.run("list --json")).json<{ runs: { id: string }[] }>().runs;
    expect(ids.map(({ id }) => id)).toEqual(["one"]);
  });
});

describe("holdfast rate-limits", () => {
  it("sets, lists, holds and deletes a rate limit", async () => {
    expect((await folder.run("rate-limits")).stdout).toBe("There are no rate limits.\n");
    const made = await folder.run("rate-limits set openai --calls 100 --tokens 5000 --period 1m");
    expect(made.stdout).toContain("✓ openai allows 100 calls, 5,000 tokens in 1m");
    const held = await folder.run("rate-limits hold openai 5m --reason down");
    expect(held.stdout).toContain("✓ openai is held for 5m");
    expect((await folder.run("rate-limits list")).stdout).toContain("for 5m");
    const { limits } = (await folder.run("rate-limits --json")).json<{ limits: object[] }>();
    expect(limits).toMatchObject([{ name: "openai", calls: 100, heldWhy: "down" }]);
    expect((await folder.run("rate-limits hold openai 0s")).stdout).toContain("✓ openai isn't held");
    expect((await folder.run("rate-limits delete openai")).code).toBe(0);
    expect((await folder.run("rate-limits delete openai")).stderr).toContain(
      "There is no limit named openai.",
    );
  });

  it("refuses what isn't valid", async () => {
    expect((await folder.run("rate-limits set openai")).code).not.toBe(0);
    expect((await folder.run("rate-limits set openai --calls 5 --period 1")).stderr).toContain("duration");
    expect(["rate-limits list", "rate-limits set"].map(neededBy)).toEqual(["runs:read", "flow:manage"]);
  });
});
