import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import type { StepRecord } from "../journal/records.ts";
import type { RunState } from "../journal/state.ts";
import { plainPath } from "../keys.ts";
import { listed } from "../listed.ts";
import { type Migration, shortestWay } from "../migration.ts";
import type { RunRow } from "../types.ts";

/** The migrations to the workflow's version. Empty when the run is already there, `undefined` when there is no way. */
export function route(
  { version, schema, migrations }: Workflow,
  run: Pick<RunRow, "version" | "schema">,
): readonly Migration[] | undefined {
  if (run.version === version && run.schema !== schema) return undefined;
  return shortestWay(migrations, run.version, version);
}

/** Why a run can't continue here: the known migrations from its version, and what it has recorded. */
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
  // Grows during the loop.
  for (const at of reached) for (const one of migrations) if (one.from === at) reached.add(one.to);
  reached.delete(from);
  if (reached.size > 0)
    return `No migration leads there: from ${from} they lead to ${listed([...reached])} (registered: ${known}).`;
  const isKnown = migrations.some(({ to }) => to === from);
  const guess = isKnown ? "" : " None of them knows that version: it may be of newer code.";
  return `No migration leads there: none leads on from ${from} (registered: ${known}).${guess}`;
}

/** A summary of the run's records, one per name: how many there are, and whether the outcome is known. */
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

/** Everything the run has recorded, as paths of plain names. */
export function recordedPaths(state: RunState): Set<string> {
  const keys = [...state.steps(), ...state.loops()].map(([key]) => key);
  return new Set(keys.map(plainPath));
}
