/**
 * Compares docs/requirements.md with the tests that name its rows: `npm run requirements` after a run of the tests, of
 * any part of them. `--write` fills the last column with the files whose test titles carry the row's id.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { provenIn, readReport, unproven } from "../test/support/requirements/report.ts";
import { PAGE, readRows, rowsOf } from "../test/support/requirements/rows.ts";
import { titledFiles } from "../test/support/requirements/titles.ts";

if (process.argv.includes("--write")) writeProofs();
const rows = readRows();
const report = readReport();
const proven = provenIn(report);
const titled = titledFiles();
const { missing, skipped } = unproven(rows, report);

list(
  "Rows that don't say done, with a test that passes",
  rows.filter(({ id, state }) => state !== "done" && proven.get(id) === "passed").map(toText),
);
list(
  "Rows that say done, without a test that names them",
  rows.filter(({ id, state }) => state === "done" && !titled.has(id)).map(toText),
);
list(report.isWhole ? "Rows that say done, and no test passed" : "Rows that say done, not seen to pass yet", [
  ...missing,
  ...skipped.map((row) => `${row} (skipped)`),
]);

function list(heading: string, lines: readonly string[]): void {
  console.log(`\n${heading}: ${lines.length}`);
  for (const line of lines) console.log(`  ${line}`);
}

function toText({ id, state, why, requirement }: (typeof rows)[number]): string {
  return `${id} ${state}${why && `: ${why}`} | ${requirement} | ${titled.get(id)?.join(", ") ?? "no test"}`;
}

function writeProofs(): void {
  const files = titledFiles();
  const lines = readFileSync(PAGE, "utf8")
    .split("\n")
    .map((line) => {
      const [row] = rowsOf(line);
      const proofs = row && files.get(row.id);
      return proofs ? line.replace(/\|[^|]*\|\s*$/, `| ${proofs.join(", ")} |`) : line;
    });
  writeFileSync(PAGE, lines.join("\n"));
}
