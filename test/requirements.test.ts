import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";
import { ALL_IDS, idsIn } from "./support/requirements/ids.ts";
import { unproven } from "./support/requirements/report.ts";
import { readRows, rowsOf } from "./support/requirements/rows.ts";
import { titledFiles, titledIds } from "./support/requirements/titles.ts";

const STATES = ["planned", "partial", "differs", "done"];
const rows = readRows();

it("every requirement has exactly one row, in order", () => {
  expect(rows.map((row) => row.id)).toEqual(ALL_IDS);
});

it("every row says what is required and how far it is", () => {
  const problems = rows
    .filter((row) => row.requirement === "" || !STATES.includes(row.state))
    .map((row) => `${row.id}: text "${row.requirement}", state "${row.state}"`);
  expect(problems).toEqual([]);
});

it("every row that is partial or differs from its document says why", () => {
  const isShort = (row: (typeof rows)[number]) => row.state === "differs" || row.state === "partial";
  expect(rows.filter((row) => isShort(row) && row.why === "").map((row) => row.id)).toEqual([]);
});

it("every row that is done names existing files that implement and prove it", () => {
  const problems = rows
    .filter((row) => row.state === "done")
    .flatMap((row) => [
      ...fileProblems(row.id, "where", row.where),
      ...fileProblems(row.id, "proven by", row.provenBy),
    ]);
  expect(problems).toEqual([]);
});

describe("the ids in the titles of tests", () => {
  const titled = titledFiles();

  it("exist", () => {
    expect([...titled.keys()].filter((id) => !ALL_IDS.includes(id))).toEqual([]);
  });

  it("name every row that is done, in each file that is said to prove it", () => {
    const problems = rows
      .filter((row) => row.state === "done")
      .flatMap(({ id, provenBy }) => {
        const files = titled.get(id) ?? [];
        if (files.length === 0) return [`${id}: no test has it in its title`];
        return filesIn(provenBy)
          .filter((file) => !files.includes(file))
          .map((file) => `${id}: no title in ${file} has it`);
      });
    expect(problems).toEqual([]);
  });

  it("are read one by one, in lists and in ranges", () => {
    expect(idsIn("saves (S0-24, S0-25)")).toEqual(["S0-24", "S0-25"]);
    expect(idsIn("all of it (S2-31…S2-33)")).toEqual(["S2-31", "S2-32", "S2-33"]);
    expect(idsIn("S0-09…11 and S4-01")).toEqual(["S0-09", "S0-10", "S0-11", "S4-01"]);
    expect(idsIn("S5-01, S0-1, XS0-01")).toEqual([]);
  });

  it("are found in strings and templates, not in comments or other text", () => {
    const source = [
      'it("a (S0-01)", () => {});',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a test
      "describe.each([1])(`b ${store} (S0-02)`, () => {});",
      "// S0-03",
      'expect("S0-04");',
    ].join("\n");
    expect([...titledIds("some.test.ts", source)]).toEqual(["S0-01", "S0-02"]);
  });
});

describe("the runner's report", () => {
  const page = rowsOf(
    "| S0-01 | One | done | a | b |\n| S0-02 | Two | partial: half | | |\n| S0-03 | Three | done | a | b |",
  );
  const seen = (title: string, state: "passed" | "failed" | "skipped") => ({ title, state });

  it("proves a row by one test that passed", () => {
    const files = { "a.test.ts": [seen("x (S0-01)", "skipped"), seen("y (S0-01, S0-03)", "passed")] };
    expect(unproven(page, { isWhole: true, files })).toEqual({ missing: [], skipped: [] });
  });

  it("names the rows that are done of which no test passed, and those whose tests were skipped", () => {
    const files = { "a.test.ts": [seen("x (S0-01)", "skipped"), seen("z (S0-03)", "failed")] };
    expect(unproven(page, { isWhole: true, files })).toEqual({
      missing: ["S0-03 Three"],
      skipped: ["S0-01 One"],
    });
  });
});

/** A cell lists files, separated by commas or `<br>`; text after the path, as in `a.ts "a title"`, is free. */
function filesIn(cell: string): string[] {
  return cell
    .split(/,|<br\s*\/?>/)
    .map(
      (entry) =>
        entry
          .trim()
          .replaceAll("`", "")
          .split(/[\s#(]/)[0] ?? "",
    )
    .filter((file) => file !== "");
}

function fileProblems(id: string, column: string, cell: string): string[] {
  const files = filesIn(cell);
  if (files.length === 0) return [`${id}: "${column}" names no file`];
  return files
    .filter((file) => !existsSync(path.join(ROOT, file)))
    .map((file) => `${id}: "${column}" names ${file}, which does not exist`);
}
