import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const LAST_ID: Record<string, number> = { S0: 53, S1: 76, S2: 33, S3: 36, S4: 31 };
const STATES = ["planned", "partial", "differs", "done"];

interface Row {
  id: string;
  requirement: string;
  state: string;
  /** The reason behind the state: what is missing, or what is done instead. */
  why: string;
  where: string;
  provenBy: string;
}

const rows = readFileSync(path.join(ROOT, "docs/requirements.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| S\d-\d/.test(line))
  .map((line): Row => {
    const [id = "", requirement = "", told = "", where = "", provenBy = "", ...rest] = line
      .replace(/^\|/, "")
      .replace(/\|\s*$/, "")
      .split("|")
      .map((cell) => cell.trim());
    if (rest.length > 0) throw new Error(`${id} has more than five columns`);
    const [, state = "", why = ""] = /^(\w+)(?:: (.*))?$/.exec(told) ?? [];
    return { id, requirement, state, why, where, provenBy };
  });

it("every requirement has exactly one row, in order", () => {
  const expected = Object.entries(LAST_ID).flatMap(([source, last]) =>
    Array.from({ length: last }, (_, i) => `${source}-${String(i + 1).padStart(2, "0")}`),
  );
  expect(rows.map((row) => row.id)).toEqual(expected);
});

it("every row says what is required and how far it is", () => {
  const problems = rows
    .filter((row) => row.requirement === "" || !STATES.includes(row.state))
    .map((row) => `${row.id}: text "${row.requirement}", state "${row.state}"`);
  expect(problems).toEqual([]);
});

it("every row that differs from its document says why", () => {
  expect(rows.filter((row) => row.state === "differs" && row.why === "").map((row) => row.id)).toEqual([]);
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

/** A cell lists files, separated by commas or `<br>`; text after the path, as in `a.ts "a title"`, is free. */
function fileProblems(id: string, column: string, cell: string): string[] {
  const files = cell
    .split(/,|<br\s*\/?>/)
    .map(
      (entry) =>
        entry
          .trim()
          .replaceAll("`", "")
          .split(/[\s#(]/)[0] ?? "",
    )
    .filter((file) => file !== "");
  if (files.length === 0) return [`${id}: "${column}" names no file`];
  return files
    .filter((file) => !existsSync(path.join(ROOT, file)))
    .map((file) => `${id}: "${column}" names ${file}, which does not exist`);
}
