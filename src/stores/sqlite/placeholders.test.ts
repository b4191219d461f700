import { describe, expect, it } from "vitest";
import { withPlaces } from "./placeholders.ts";

describe("places for values in a statement on SQLite (R3)", () => {
  it("are numbered as on PostgreSQL, in any order and more than once", () => {
    expect(withPlaces("INSERT INTO t VALUES ($2, $1, $2)", ["a", "b"])).toEqual({
      sql: "INSERT INTO t VALUES (?, ?, ?)",
      values: ["b", "a", "b"],
    });
  });

  it("are not looked for in texts, names and comments", () => {
    const sql = `SELECT '$1 it''s ?', "$2", \`$3\`, [$4] -- $5 ?\n, $1 /* $6 ? */`;
    expect(withPlaces(sql, [7])).toEqual({ sql: sql.replace(", $1 /*", ", ? /*"), values: [7] });
  });

  it("may be SQLite's own", () => {
    for (const sql of ["SELECT ?, ?", "SELECT '$1', ?", "SELECT $name"])
      expect(withPlaces(sql, [1])).toEqual({ sql, values: [1] });
  });

  it.each([
    ["SELECT ?, $1", [1], "both"],
    ["SELECT $2", [1], "no value for $2"],
    ["SELECT $0", [1], "no value for $0"],
    ["SELECT $1", [1, 2], "$2 is not asked for"],
  ])("are refused where they do not fit: %s", (sql, values, problem) => {
    expect(() => withPlaces(sql, values)).toThrow(
      expect.objectContaining({ code: "HF-1003", message: expect.stringContaining(problem) }),
    );
  });
});
