import { badOption, checkText, checkWhole, isRecord } from "./check-options.ts";
import type { HoldfastError } from "./errors.ts";
import { scopeOf, segmentsOf } from "./keys.ts";
import { checkName, checkNamed } from "./names.ts";
import type { Edits, StateView } from "./types.ts";

/**
 * How runs of one version of a workflow become runs of another. Declared with the workflow; a run that is several
 * versions behind goes through several of them, by the shortest path. Steps, groups and loops are named by their path
 * of plain names (`"pay"`, `"turn/ask"`) as of `from`; every count and iteration is included.
 *
 * @example
 * ```ts
 * import { type Migration, workflow } from "holdfast";
 *
 * const toVersion2: Migration = {
 *   from: "1",
 *   to: "2",
 *   rename: { pay: "charge" },
 *   drop: ["greet"],
 *   state: ({ memory }) => ({ memory: { total: Number(memory["sum"] ?? 0), sum: undefined } }),
 * };
 *
 * export const order = workflow("order", { version: "2", schema: 2, migrations: [toVersion2] }, async (ctx) => {
 *   await ctx.step("charge", ({ key }) => console.log("charged once", key), { effect: "keyed" });
 *   return ctx.memory.get("total");
 * });
 * ```
 */
export interface Migration {
  readonly from: string;
  readonly to: string;
  /** New last names. Records under the old name count under the new one and aren't repeated. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Steps that the new code deliberately no longer asks for. */
  readonly drop?: readonly string[];
  /**
   * New effects of the new code that come before effects a run may already have had: they are really new, not renamed
   * ones.
   */
  readonly add?: readonly string[];
  /**
   * New values for the new code, given the run's state after `rename` and `drop`: returns only what changes. It is
   * called again after a crash and in every dry run, so it must not have side effects.
   */
  readonly state?: (state: StateView) => Edits | undefined | Promise<Edits | undefined>;
}

/** Throws HF-1003 unless it is a version that can be stored and compared. */
export function checkVersion(version: string, schema: number): void {
  checkNamed("version", checkText("version", version, 1, 128));
  checkWhole("schema", schema);
}

const invalid = (problem: string): HoldfastError => badOption("migrations", problem);

/** Returns the migrations; throws HF-1003 or HF-1005 when something in them is invalid. */
export function checkMigrations(migrations: readonly Migration[] = []): readonly Migration[] {
  if (!Array.isArray(migrations)) throw invalid("it is not a list");
  const seen = new Set<string>();
  for (const { from, to, rename = {}, drop = [], add = [], state } of migrations as readonly Migration[]) {
    const isText = [from, to].every((version) => typeof version === "string" && version !== "");
    if (!isText || from === to) throw invalid("each must lead from one version to another one");
    const way = `${from} -> ${to}`;
    if (seen.has(way)) throw invalid(`${way} is there twice`);
    seen.add(way);
    if (!isRecord(rename) || !Array.isArray(drop) || !Array.isArray(add))
      throw invalid(`${way}: rename is a record, drop and add are lists`);
    if (state !== undefined && typeof state !== "function") throw invalid(`${way}: state is not a function`);
    for (const path of [...Object.keys(rename), ...drop, ...add])
      for (const name of segmentsOf(String(path))) checkName(name);
    for (const [path, name] of Object.entries(rename)) checkRename(way, path, name, { rename, drop });
  }
  return migrations;
}

function checkRename(
  way: string,
  path: string,
  name: string,
  { rename, drop }: { readonly rename: object; readonly drop: readonly string[] },
): void {
  checkName(name);
  if (drop.includes(path)) throw invalid(`${way}: ${path} is both renamed and dropped`);
  const scope = scopeOf(path);
  const others = Object.entries(rename).filter(([other, to]) => other !== path && to === name);
  if (others.some(([other]) => scopeOf(other) === scope))
    throw invalid(`${way}: two steps become ${scope}${name}`);
}

/**
 * The shortest way from one version to another; of several, the first declared. Empty when they are the same,
 * `undefined` when there is none.
 */
export function shortestWay<M extends { readonly from: string; readonly to: string }>(
  migrations: readonly M[],
  from: string,
  to: string,
): readonly M[] | undefined {
  const ways: { readonly at: string; readonly way: readonly M[] }[] = [{ at: from, way: [] }];
  const seen = new Set([from]);
  // Grows during the loop: nearer versions come first.
  for (const { at, way } of ways) {
    if (at === to) return way;
    for (const next of migrations) {
      if (next.from !== at || seen.has(next.to)) continue;
      seen.add(next.to);
      ways.push({ at: next.to, way: [...way, next] });
    }
  }
  return undefined;
}
