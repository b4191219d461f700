// Prints how much of an area its own tests cover: node scripts/coverage.mjs dag team. Needs @vitest/coverage-v8, which isn't installed by default
// (npm install --no-save @vitest/coverage-v8, in the version of vitest).
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const GOAL = 90;
const areas = process.argv.slice(2);
if (areas.length === 0) areas.push("dag", "team");

try {
  createRequire(import.meta.url).resolve("@vitest/coverage-v8");
} catch {
  const { version } = JSON.parse(readFileSync("node_modules/vitest/package.json", "utf8"));
  console.error(`Coverage needs a package: npm install --no-save @vitest/coverage-v8@${version}`);
  process.exit(1);
}

let isMissed = false;
for (const area of areas) {
  const folder = mkdtempSync(path.join(tmpdir(), "holdfast-coverage-"));
  const options = [
    "--coverage.enabled",
    "--coverage.provider=v8",
    "--coverage.reporter=json-summary",
    `--coverage.reportsDirectory=${folder}`,
    `--coverage.include=src/${area}/**/*.ts`,
    "--coverage.exclude=**/*.test.ts",
  ];
  const args = ["vitest", "run", "--project", "unit", `src/${area}`, ...options];
  const { status } = spawnSync("npx", args, { stdio: ["ignore", "ignore", "inherit"] });
  const { total } = JSON.parse(readFileSync(path.join(folder, "coverage-summary.json"), "utf8"));
  rmSync(folder, { recursive: true });
  const { lines, statements, branches, functions } = total;
  console.log(
    `${area}: lines ${lines.pct} %, statements ${statements.pct} %, branches ${branches.pct} %, functions ${functions.pct} %`,
  );
  if (status !== 0 || lines.pct <= GOAL) isMissed = true;
}
process.exit(isMissed ? 1 : 0);
