import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

describe("prices", () => {
  it("are set with a source and a date, listed before list prices, and deleted", async () => {
    expect((await folder.run("prices set llama --input 0 --output 0")).code).toBe(2);
    const set = await folder.run(
      "prices set llama --input 0.5 --output 1 --source bill --from 2026-01-01 --json",
    );
    expect(set.json()).toMatchObject({
      model: "llama",
      prices: [{ input: 0.5, output: 1, source: "bill", from: Date.parse("2026-01-01"), isCurrent: true }],
    });
    const { stdout } = await folder.run("prices");
    expect(stdout).toMatch(/llama +\$0.50 +\$1.00 +2026-01-01 +bill/);
    expect(stdout).toMatch(/gpt-5 +\$1.25 +\$10.00 +2025-08-07 +https:/);
    expect((await folder.run("prices delete llama")).code).toBe(0);
    expect((await folder.run("prices")).stdout).not.toContain("llama");
    expect((await folder.run("prices delete llama")).code).not.toBe(0);
  });
});
