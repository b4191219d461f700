import { HoldfastError } from "../errors.ts";
import type { Edits } from "../journal/edits.ts";
import type { StepRecord } from "../journal/records.ts";
import { plainPath } from "../journal/rename.ts";
import type { RunState } from "../journal/state.ts";
import type { StateView } from "../journal/state-view.ts";
import { checkName, checkNamed } from "../names.ts";
import type { RunRow } from "../types.ts";
import type { Workflow } from "../workflow.ts";

/**
 * How runs of one version of a workflow become runs of another. Declared with the workflow; a run that is several versions behind goes
 * through several of them, by the shortest way. Steps, groups and loops are named by their path of plain names (`"pay"`,
 * `"turn/ask"`), as it was in `from`; every count and every iteration of it is meant.
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
  /** New last names. What was recorded under the old name counts under the new one, and is not done again. */
  readonly rename?: Readonly<Record<string, string>>;
  /** What the new code does not ask for any more, on purpose. */
  readonly drop?: readonly string[];
  /** Effects that the new code has before ones that a run may have had already: they are new, and not old ones under another name. */
  readonly add?: readonly string[];
  /**
   * Other values for the new code, given what the run knows after `rename` and `drop`: answers only what changes. It is called again
   * after a crash and in every dry run, so it must not do anything else.
   */
  readonly state?: (state: StateView) => Edits | undefined | Promise<Edits | undefined>;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** HF-1003 unless it is a version that can be stored and compared. */
export function checkVersion(version: string, schema: number): void {
  if (typeof version !== "string" || version === "" || version.length > 128)
    throw new HoldfastError("HF-1003", {
      option: "version",
      problem: "it must be a text of 1 to 128 characters",
    });
  checkNamed("version", version);
  if (!Number.isSafeInteger(schema) || schema < 1)
    throw new HoldfastError("HF-1003", {
      option: "schema",
      problem: "it must be a whole number of 1 or more",
    });
}

const invalid = (problem: string): HoldfastError =>
  new HoldfastError("HF-1003", { option: "migrations", problem });

/** The migrations as given, or HF-1003 or HF-1005 when something in them cannot be meant. */
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
      for (const name of String(path).split("/")) checkName(name);
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
  const scope = path.slice(0, path.lastIndexOf("/") + 1);
  const others = Object.entries(rename).filter(([other, to]) => other !== path && to === name);
  if (others.some(([other]) => other.slice(0, other.lastIndexOf("/") + 1) === scope))
    throw invalid(`${way}: two steps become ${scope}${name}`);
}

/**
 * The shortest way to the workflow's version, and of several the one that was declared first: none where the run is there, `undefined`
 * where no way leads there.
 */
export function route(
  { version, schema, migrations }: Workflow,
  run: Pick<RunRow, "version" | "schema">,
): readonly Migration[] | undefined {
  if (run.version === version) return run.schema === schema ? [] : undefined;
  const leaving = (from: string): readonly Migration[] => migrations.filter((one) => one.from === from);
  const ways = leaving(run.version).map((first) => [first]);
  const seen = new Set([run.version]);
  // Grows while it is gone through: nearer versions come first.
  for (const way of ways) {
    const { to } = way.at(-1) as Migration;
    if (to === version) return way;
    if (!seen.has(to)) ways.push(...leaving(to).map((next) => [...way, next]));
    seen.add(to);
  }
  return undefined;
}

/** Why a run cannot go on here: what is known about getting from its version to the code's, and what it has recorded. */
export function noRoute(run: RunRow, state: RunState, workflow: Workflow): HoldfastError {
  const { name, version: to, schema } = workflow;
  const recorded = [...summaries(state)];
  const why = [
    missingWay(run.version, workflow),
    schema === run.schema ? "" : `Its state is of schema ${run.schema}, the code's of ${schema}.`,
    recorded.length === 0 ? "It has recorded no steps." : `It has recorded: ${listed(recorded)}.`,
  ];
  return new HoldfastError("HF-2114", {
    run: run.id,
    workflow: name,
    from: run.version,
    to,
    why: why.filter(Boolean).join(" "),
  });
}

/** How far the migrations lead. */
function missingWay(from: string, { version, migrations }: Workflow): string {
  if (from === version) return "The version is the same, but the schema of its state is not.";
  if (migrations.length === 0) return "No migration leads there: none is registered.";
  const known = listed(migrations.map((one) => `${one.from} → ${one.to}`));
  const reached = new Set([from]);
  // Grows while it is gone through.
  for (const at of reached) for (const one of migrations) if (one.from === at) reached.add(one.to);
  reached.delete(from);
  if (reached.size > 0)
    return `No migration leads there: from ${from} they lead to ${listed([...reached])} (registered: ${known}).`;
  const isKnown = migrations.some(({ to }) => to === from);
  const guess = isKnown ? "" : " None of them knows that version: it may be of newer code.";
  return `No migration leads there: none leads on from ${from} (registered: ${known}).${guess}`;
}

/** What the run has recorded, each name once: how often, and whether it is known what became of it. */
function* summaries(state: RunState): Generator<string> {
  const found = new Map<string, StepRecord[]>();
  for (const [key, record] of state.steps()) {
    const path = plainPath(key);
    found.set(path, [...(found.get(path) ?? []), record]);
  }
  for (const [path, records] of found) {
    const effects = new Set(records.map(({ type, effect }) => (type === "call" ? effect : type)));
    const open = new Set(records.flatMap(({ status }) => (status === "completed" ? [] : [WORDS[status]])));
    const times = records.length === 1 ? [] : [`${records.length} times`];
    yield `${path} (${[...effects, ...times, ...open].join(", ")})`;
  }
  const turns = new Map<string, number>();
  for (const [key, { iteration }] of state.loops())
    if (iteration > 0) turns.set(plainPath(key), (turns.get(plainPath(key)) ?? 0) + iteration);
  for (const [path, count] of turns) yield `${path} (loop, ${count} ${count === 1 ? "turn" : "turns"})`;
}

const WORDS = { started: "under way", in_doubt: "in doubt", failed: "failed" } as const;

const SHOWN = 12;

/** Some of them, so that a wait stays readable. */
export function listed(names: readonly string[]): string {
  const more = names.length - SHOWN;
  if (more > 0) return `${names.slice(0, SHOWN).join(", ")} and ${more} more`;
  return names.join(", ") || "none of them";
}

/** Everything the run has recorded, as paths of plain names. */
export function recordedPaths(state: RunState): Set<string> {
  const keys = [...state.steps(), ...state.loops()].map(([key]) => key);
  return new Set(keys.map(plainPath));
}
