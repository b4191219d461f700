import { badOption } from "../../core/check-options.ts";
import type { HoldfastError } from "../../core/errors.ts";
import type { SqlValue } from "../../core/sql.ts";

/** Matches text to skip, and placeholders: `$1`, or SQLite's own `?`. */
const PARTS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\$(\d+)(?!\w)|\?\d*/g;

/**
 * Converts a statement with PostgreSQL's `$1`, `$2` to SQLite's form, with the values in the order of use. A statement
 * with `?` stays as it is.
 */
export function withPlaces(
  sql: string,
  values: readonly SqlValue[],
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  if (!sql.includes("$")) return { sql, values };
  const asked: number[] = [];
  let hasOwn = false;
  const text = sql.replace(PARTS, (part, number?: string) => {
    hasOwn ||= part.startsWith("?");
    if (number === undefined) return part;
    asked.push(Number(number));
    return "?";
  });
  if (asked.length === 0) return { sql, values };
  if (hasOwn) throw invalid("it has both ? and $1");
  const missing = asked.find((number) => number < 1 || number > values.length);
  if (missing !== undefined) throw invalid(`there is no value for $${missing}`);
  const unused = values.findIndex((_, index) => !asked.includes(index + 1));
  if (unused >= 0) throw invalid(`the value for $${unused + 1} is not asked for`);
  return { sql: text, values: asked.map((number) => values[number - 1] as SqlValue) };
}

const invalid = (problem: string): HoldfastError => badOption("sql", problem);
