import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { lastEvent, loadRun } from "../journal/load.ts";
import { about } from "../journal/wait-reason.ts";
import { isInside } from "../keys.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";
import { PlanHooks } from "./plan/plan-hooks.ts";
import { prepare } from "./plan/plan-replay.ts";
import { type Met, replayRun } from "./replay/replay-run.ts";

/** What a run does with this code once it is taken up; for a paused or failed run, once it is resumed. */
export interface Outlook {
  /**
   * `goes on`: it starts the steps in `at`, or calls their `verify` hooks. `waits`: for what it waits for already, or
   * reaches. `parks`: for a migration. `stays`: nothing can make it continue.
   */
  readonly next: "goes on" | "waits" | "parks" | "completes" | "fails" | "stays";
  /** The keys of the steps it reaches first. */
  readonly at: readonly string[];
  /**
   * The keys of recorded effects that the code hasn't asked for by then: the run parks before the next new effect,
   * unless the code asks for them first. The inside of the steps in `at` can't be predicted.
   */
  readonly missing: readonly string[];
}

export interface Foreseen extends Outlook {
  /** Why it parks, in the run's own words. */
  readonly problem?: string;
}

const STAYS: Foreseen = { next: "stays", at: [], missing: [] };

/** Predicts by running a copy. Calls nothing and changes nothing. */
export async function foreseen(deps: ExecutionDeps, row: RunRow, workflow: Workflow): Promise<Foreseen> {
  if (await isUndone(deps, row)) return STAYS;
  const { values, store, time } = deps;
  const prepared = await prepare(deps, row, workflow, {});
  const isStuck = prepared instanceof HoldfastError;
  // If no migration applies, this still predicts what the code would do with the run as it is.
  const taken = isStuck ? { row, state: await loadRun(store, values, row) } : prepared;
  const hooks = new PlanHooks(deps);
  const met = await replayRun(deps, { workflow, now: time.now(), hooks, ...taken });
  const missing = unasked(met);
  if (isStuck) return { next: "parks", at: at(met), missing, problem: said(prepared) };
  return { ...nextOf(met), missing };
}

/** Why a run parks, in the run's own words. */
export const said = (problem: HoldfastError): string => about(problem, problem.why).detail;

const at = ({ stoppedAt }: Met): string[] => stoppedAt.flatMap(({ step }) => (step === "" ? [] : [step]));

/** A step about to be called may or may not ask for what lies inside it: that isn't known before. */
function unasked({ missing, stoppedAt }: Met): string[] {
  const called = stoppedAt.filter(({ action }) => action === "start").map(({ step }) => step);
  return missing.filter((key) => !called.some((outer) => isInside(key, outer)));
}

function nextOf(met: Met): Omit<Foreseen, "missing"> {
  const { end, stoppedAt, asked } = met;
  if (stoppedAt.length === 0) return { next: end === "failed" ? "fails" : "completes", at: [] };
  const isMoving = stoppedAt.some(
    (stop) => stop.action === "start" || (stop.for === "decision" && asked.get(stop.step)?.hasVerify),
  );
  if (isMoving) return { next: "goes on", at: at(met) };
  const problems = stoppedAt.flatMap((stop) => ("detail" in stop && stop.detail ? [stop.detail] : []));
  if (problems.length === 0) return { next: "waits", at: at(met) };
  return { next: "parks", at: at(met), problem: problems.join(" ") };
}

/** True when its steps were undone when it failed, or are being undone. */
async function isUndone({ store }: ExecutionDeps, row: RunRow): Promise<boolean> {
  if (row.control === "compensating") return true;
  if (row.status !== "failed") return false;
  const failed = await lastEvent(store, row, ["run_failed"]);
  return failed?.kind === "run_failed" && failed.meta.compensated === true;
}
