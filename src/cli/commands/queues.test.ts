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
    const made = await folder.run("queues set orders --concurrency 5 --per-key 1 --rate 100 --period 1m");
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining("✓ orders has 5 at once, 1 of a key"),
    ]);
    expect((await folder.run("queues")).stdout).toContain("orders");
    expect((await folder.run("queues pause orders --reason maintenance")).code).toBe(0);
    const shown = (await folder.run("queues show orders")).stdout;
    expect(shown).toContain("orders   paused: maintenance");
    expect(shown).toContain("0 in line");
    expect((await folder.run("queues resume orders")).code).toBe(0);
    const { queue } = (await folder.run("queues show orders --json")).json<{ queue: object }>();
    expect(queue).toMatchObject({ concurrency: 5, perKey: 1, rate: { calls: 100 }, paused: null });
    expect((await folder.run("queues delete orders")).code).toBe(0);
    expect((await folder.run("queues")).stdout).toBe("There are no queues.\n");
  });

  it("refuses what isn't valid, and a queue that isn't there", async () => {
    expect((await folder.run("queues set orders --concurrency 0")).stderr).toContain("isn't a valid number");
    await folder.run("queues set orders --concurrency 1");
    expect((await folder.run("queues show other")).stderr).toContain("There is no queue named other.");
    expect((await folder.run("queues resume other")).code).not.toBe(0);
  });

  it("asks for the permission to manage flow only where something is changed", () => {
    const needs = ["queues list", "queues show", "queues set", "schedules list", "schedules pause"].map(
      neededBy,
    );
    expect(needs).toEqual(["runs:read", "runs:read", "flow:manage", "runs:read", "flow:manage"]);
  });
});
