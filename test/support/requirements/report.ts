import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../source-tree.ts";
import { idsIn } from "./ids.ts";
import type { Row } from "./rows.ts";

export type TestState = "passed" | "failed" | "skipped";

/** A test that names a requirement, as the runner saw it. */
export interface Seen {
  readonly title: string;
  readonly state: TestState;
}

/** The tests that name a requirement, by file. */
export interface Report {
  /** Whether the run had every test of every file. */
  readonly isWhole: boolean;
  readonly files: Readonly<Record<string, readonly Seen[]>>;
}

const FILE = path.join(ROOT, ".tmp/requirements.json");

export function readReport(): Report {
  if (!existsSync(FILE)) return { isWhole: false, files: {} };
  return JSON.parse(readFileSync(FILE, "utf8"));
}

export function writeReport(report: Report): void {
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify(report, null, 1));
}

/** The best that the tests of each requirement did: one that passed proves it. */
export function provenIn(report: Report): Map<string, TestState> {
  const best = new Map<string, TestState>();
  const rank: Record<TestState, number> = { passed: 2, skipped: 1, failed: 0 };
  for (const { title, state } of Object.values(report.files).flat())
    for (const id of idsIn(title)) {
      const before = best.get(id);
      if (before === undefined || rank[state] > rank[before]) best.set(id, state);
    }
  return best;
}

/** The rows that say `done` without a test that passed, and those whose tests were only skipped. */
export function unproven(rows: readonly Row[], report: Report): { missing: string[]; skipped: string[] } {
  const proven = provenIn(report);
  const told = (row: Row): string => `${row.id} ${row.requirement}`;
  const unsure = rows.filter(({ id, state }) => state === "done" && proven.get(id) !== "passed");
  return {
    missing: unsure.filter(({ id }) => proven.get(id) !== "skipped").map(told),
    skipped: unsure.filter(({ id }) => proven.get(id) === "skipped").map(told),
  };
}
