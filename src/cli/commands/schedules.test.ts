import { describe, expect, it } from "vitest";
import { useFlows } from "../../../test/support/cli-flows.ts";

const folder = useFlows();

const create = (...more: string[]) =>
  folder.run(["schedules", "create", "nightly", "greet", "--cron", "0 2 * * *", "-i", "name=Ada", ...more]);

describe("holdfast schedules", () => {
  it("creates, lists, shows, pauses, resumes and deletes a schedule", async () => {
    const made = await create("--timezone", "Europe/Berlin", "--reason", "asked for");
    expect([made.code, made.stdout]).toEqual([
      0,
      expect.stringContaining("✓ nightly starts greet, 0 2 * * *"),
    ]);
    expect((await folder.run("schedules")).stdout).toContain("nightly");
    expect((await folder.run("schedules pause nightly --reason maintenance")).code).toBe(0);
    const shown = (await folder.run("schedules show nightly")).stdout;
    expect(shown).toContain("nightly   paused: maintenance");
    expect(shown).toContain("create by");
    expect((await folder.run("schedules resume nightly")).code).toBe(0);
    expect((await folder.run("schedules delete nightly")).code).toBe(0);
    expect((await folder.run("schedules")).stdout).toBe("There are no schedules.\n");
  });

  it("changes a schedule, and says before what a new one and a backfill would do", async () => {
    const preview = (await create("--dry-run", "--json")).json<{ next: string[] }>();
    expect(preview.next).toHaveLength(5);
    expect((await folder.run("schedules")).stdout).toBe("There are no schedules.\n");
    await create();
    const changed = await folder.run("schedules update nightly --every 1h --overlap queue");
    expect(changed.stdout).toContain("nightly ticks every 1h");
    const range = "--from 2027-01-01T00:00:00Z --to 2027-01-01T02:30:00Z";
    const counted = await folder.run(`schedules backfill nightly ${range} --dry-run`);
    expect(counted.stdout).toMatch(/^\d runs? would be started, 0 existed already/);
    expect((await folder.run("list --json")).json<{ runs: unknown[] }>().runs).toEqual([]);
  });

  it("prints the next ticks", async () => {
    await create();
    const { next } = (await folder.run("schedules next nightly --count 3 --json")).json<{ next: string[] }>();
    expect(next).toHaveLength(3);
    expect(next[0]).toMatch(/T02:00:00\.000Z$/);
  });

  it("starts runs now and for a range, with the code that it is given", async () => {
    await create();
    expect((await folder.run("schedules trigger nightly --file flows.mjs#greet")).code).toBe(0);
    const range = "--from 2026-01-01T00:00:00Z --to 2026-01-03T23:00:00Z --file flows.mjs#greet";
    const report = (await folder.run(`schedules backfill nightly ${range} --json`)).json<{
      started: string[];
    }>();
    expect(report.started).toHaveLength(3);
    expect((await folder.run(`schedules backfill nightly ${range}`)).stdout).toContain("3 existed already");
    expect((await folder.run("list --json")).json<{ runs: unknown[] }>().runs).toHaveLength(4);
  });

  it("refuses what isn't valid with a sentence and nothing stored", async () => {
    const bad = await folder.run(["schedules", "create", "x", "greet", "--cron", "61 * * * *"]);
    expect(bad.code).toBe(2);
    const never = await folder.run("schedules create x greet");
    expect([never.code, never.stderr]).toEqual([
      2,
      expect.stringContaining("Exactly one of --cron, --every and --at is needed."),
    ]);
    expect(bad.stderr).toContain('"61 * * * *" is not a valid cron line');
    expect((await folder.run("schedules show x")).stderr).toContain("There is no schedule named x.");
    expect((await create("--every", "10m")).stderr).toContain("Exactly one of --cron, --every and --at");
  });
});
