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

  it("is called a setting where no flag gave it", () => {
    const given = new HoldfastError("HF-1003", { option: "url", problem: "there is no store nope:" });
    expect(asGiven(given, ["list"])).toMatchObject({
      code: "HF-1060",
      message: "The setting store is not valid: there is no store nope:.",
      fix: "holdfast config show says where each setting comes from.",
    });
  });
});
