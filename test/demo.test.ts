import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

it("the demo resumes at agent nine after a kill, and the witness saw no effect twice (S3-01)", () => {
  const { stdout, status } = spawnSync(
    process.execPath,
    [path.join(ROOT, "dist/cli/main.js"), "demo", "--json"],
    { encoding: "utf8" },
  );
  const report = JSON.parse(stdout) as {
    reused: string[];
    ran: string[];
    duplicates: number;
    tokensSaved: number;
  };
  expect(status).toBe(0);
  expect(report.reused).toHaveLength(8);
  expect(report.ran).toEqual(["reviewer", "publisher"]);
  expect(report.duplicates).toBe(0);
  expect(report.tokensSaved).toBe(63_980);
});
