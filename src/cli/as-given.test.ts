import { describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { HoldfastError } from "../core/errors.ts";
import { asGiven } from "./as-given.ts";

describe("an option that is not valid (C9)", () => {
  it("is named by the flag that gave it", async () => {
    const folder = cliFolder();
    const store = await folder.run("list --store nope:/x");
    expect([store.code, store.stderr]).toEqual([2, expect.stringContaining("Invalid --store:")]);
    const since = await folder.run("report effects --since 2099-01-01");
    expect(since.stderr).toContain("Invalid --since: it must be a time before the end of the period");
    folder.remove();
  });

  it("is named by its flag even where no list pairs the two", async () => {
    const folder = cliFolder();
    const cron = await folder.run(`schedules create x flow --cron ${"x".repeat(300)}`);
    expect([cron.code, cron.stderr]).toEqual([
      2,
      expect.stringContaining("Invalid --cron: it must be a text"),
    ]);
    folder.remove();
    const given = (option: string, ...argv: string[]) =>
      asGiven(new HoldfastError("HF-1003", { option, problem: "no" }), argv);
    expect(given("perKey", "queues", "set", "q", "--per-key=0")).toMatchObject({
      message: "Invalid --per-key: no.",
    });
    expect(given("everyMs", "--every", "1x")).toMatchObject({ message: "Invalid --every: no." });
    expect(given("labels", "--label", "a")).toMatchObject({ message: "Invalid --label: no." });
    expect(given("labels", "--limit", "a")).toMatchObject({ code: "HF-1060" });
  });

  it("is called a setting where no flag gave it", () => {
    const given = new HoldfastError("HF-1003", { option: "url", problem: "there is no store nope:" });
    expect(asGiven(given, ["list"])).toMatchObject({
      code: "HF-1060",
      message: "The setting store is not valid: there is no store nope:.",
      fix: "holdfast config show says where each setting comes from.",
    });
  });
});
