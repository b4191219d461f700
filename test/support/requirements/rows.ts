import { readFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../source-tree.ts";

/** One row of docs/requirements.md. */
export interface Row {
  readonly id: string;
  readonly requirement: string;
  readonly state: string;
  /** The reason behind the state: what is missing, or what is done instead. */
  readonly why: string;
  readonly where: string;
  readonly provenBy: string;
}

export const PAGE = path.join(ROOT, "docs/requirements.md");

export const readRows = (): Row[] => rowsOf(readFileSync(PAGE, "utf8"));

export function rowsOf(page: string): Row[] {
  return page
    .split("\n")
    .filter((line) => /^\| S\d-\d/.test(line))
    .map((line) => {
      const [id = "", requirement = "", told = "", where = "", provenBy = "", ...rest] = line
        .replace(/^\|/, "")
        .replace(/\|\s*$/, "")
        .split("|")
        .map((cell) => cell.trim());
      if (rest.length > 0) throw new Error(`${id} has more than five columns`);
      const [, state = "", why = ""] = /^(\w+)(?:: (.*))?$/.exec(told) ?? [];
      return { id, requirement, state, why, where, provenBy };
    });
}
