import { checkText } from "../../check-options.ts";
import type { GateAnswer } from "../../context.ts";
import { HoldfastError } from "../../errors.ts";
import { type Act, checkActOptions } from "../../journal/act.ts";
import { isUnaccepted } from "../../journal/foreign.ts";
import { loadRun } from "../../journal/load.ts";
import { actOn, type EngineParts } from "../../journal/parts.ts";
import { readRow } from "../../journal/positions.ts";
import type { RunState } from "../../journal/state.ts";
import { viewState } from "../../journal/state-view.ts";
import { isApproval } from "../../keys.ts";
import type { RunRow } from "../../types.ts";
import { dataDigest } from "../../values/codec.ts";
import { accepted } from "./arrival.ts";

/**
 * What an imported run would execute. The code of a workflow is this process's own; the run brings its config and
 * memory, which include a workflow file's text, and its recorded results and answers.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function acceptKnown(engine: Engine, runId: string, actor: string): Promise<void> {
 *   const list = await engine.transfer.review(runId);
 *   if (list.workflow === "reconcile") await engine.transfer.accept(runId, { digest: list.digest, actor });
 * }
 * ```
 */
export interface ImportReview {
  readonly runId: string;
  readonly workflow: string;
  readonly version: string;
  /** True when it must still be accepted. */
  readonly pending: boolean;
  /** Where and when it came from: the other store and the bundle, by their digests. `null`: it was created here. */
  readonly imported: { readonly from: string; readonly bundle: string; readonly at: number } | null;
  readonly config: Readonly<Record<string, unknown>>;
  readonly memory: Readonly<Record<string, unknown>>;
  /** Recorded steps with effects, and their status: a finished one isn't repeated. */
  readonly effects: readonly { readonly step: string; readonly effect: string; readonly status: string }[];
  /** Answers that the run has already acted on, and that therefore stand. */
  readonly answers: readonly { readonly gate: string; readonly choice: string; readonly actor: string }[];
  /** The digest of all this, to pass to `accept`. */
  readonly digest: string;
}

/** Who accepts an imported run, and what they have seen. */
export interface AcceptOptions extends Act {
  /** The digest of the list that was examined. */
  readonly digest: string;
}

export async function reviewImport(parts: EngineParts, runId: string): Promise<ImportReview> {
  const row = await readRow(parts.store, runId);
  return describe(parts, row, await loadRun(parts.store, parts.values, row));
}

export async function isHeldImport({ store, values }: EngineParts, runId: string): Promise<boolean> {
  const row = await readRow(store, runId);
  return isUnaccepted((await loadRun(store, values, row)).facts);
}

export async function acceptImport(
  parts: EngineParts,
  runId: string,
  options: AcceptOptions,
): Promise<RunRow> {
  checkActOptions(options, ["digest"]);
  const { digest, ...act } = options;
  checkText("digest", digest);
  return actOn(parts, runId, async (row) => {
    const state = await loadRun(parts.store, parts.values, row);
    const { imported } = state.facts;
    if (!imported || imported.accepted) return null;
    const list = await describe(parts, row, state);
    if (list.digest !== digest)
      throw new HoldfastError("HF-3061", { run: runId, given: digest, digest: list.digest });
    return { events: [accepted(digest, { status: imported.was }, act)], actor: act.actor };
  });
}

async function describe(parts: EngineParts, row: RunRow, state: RunState): Promise<ImportReview> {
  const { imported } = state.facts;
  const { config, memory } = await viewState(parts.values, row.id, state);
  const list = {
    runId: row.id,
    workflow: row.workflow,
    version: row.version,
    imported: imported ? { from: imported.from, bundle: imported.bundle, at: imported.at } : null,
    config,
    memory,
    effects: effectsOf(state),
    answers: await answersOf(parts, row.id, state),
  };
  // One by one: together they may be nested deeper than one value may be.
  const kept = Object.entries(memory).map(([name, value]) => [name, dataDigest(value)]);
  const digest = dataDigest({ ...list, config: dataDigest(config), memory: kept });
  return { ...list, pending: isUnaccepted(state.facts), digest };
}

const effectsOf = (state: RunState): ImportReview["effects"] =>
  [...state.steps()].flatMap(([step, { effect, status, type }]) =>
    effect === "repeatable" && type !== "child"
      ? []
      : [{ step, effect: type === "child" ? type : effect, status }],
  );

async function answersOf(
  { values }: EngineParts,
  runId: string,
  state: RunState,
): Promise<ImportReview["answers"]> {
  const gates = [...state.steps()].filter(
    ([key, { type, status }]) => type === "gate" && status === "completed" && !isApproval(key),
  );
  return Promise.all(
    gates.map(async ([gate, record]) => {
      const { choice, actor } = (await values.of(runId, record)) as GateAnswer;
      return { gate, choice: String(choice), actor: String(actor) };
    }),
  );
}
