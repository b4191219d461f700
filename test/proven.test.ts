import { expect, it } from "vitest";
import { readReport, unproven } from "./support/requirements/report.ts";
import { readRows } from "./support/requirements/rows.ts";

/** Runs after all other tests, in a project of its own: the runner's report has all of them by then. */
it("every requirement that is done has a test with its id in the title that ran and passed", ({ skip }) => {
  const report = readReport();
  skip(!report.isWhole, "only some of the tests were run");
  const { missing, skipped } = unproven(readRows(), report);
  if (process.env["CI"] === "true") missing.push(...skipped);
  else for (const row of skipped) console.warn(`NOT PROVEN HERE, its tests were skipped: ${row}`);
  expect(missing).toEqual([]);
});
