import type { Workflow } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { lastEvent, loadRun } from "../journal/load.ts";
import { isInside } from "../keys.ts";
import type { ExecutionDeps } from "../run/execution-deps.ts";
import type { RunRow } from "../types.ts";
import { PlanHooks } from "./plan/plan-hooks.ts";
import { prepare } from "./plan/plan-replay.ts";
import { type Met, replayRun } from "./replay/replay-run.ts";

/** What a run does with the code at hand once it is taken up; one that is paused or has failed: once it is resumed. */
export interface Outlook {
  /**
   * `goes on`: it starts the steps in `at`, or asks their `verify` hooks. `waits`: for what it waits at already, or comes to. `parks`:
   * for a migration. `stays`: nothing can make it go on.
   */
  readonly next: "goes on" | "waits" | "parks" | "completes" | "fails" | "stays";
  /** Keys of the steps it comes to first. */
  readonly at: readonly string[];
  /**
   * Keys of recorded effects that the code has not asked for by then: the run parks before the next new effect, unless the code asks
   * for them first. What lies inside the steps in `at` is not foreseen.
   */
  readonly missing: readonly string[];
}

export interface Foreseen extends Outlook {
  /** Why it parks, as the run will say it. */
  readonly problem?: string;
}

const STAYS: Foreseen = { next: "stays", at: [], missing: [] };

/** Finds out by taking a copy of it up. Nothing is called and nothing is changed. */
export async function foreseen(deps: ExecutionDeps, row: RunRow, workflow: Workflow): Promise<Foreseen> {
  if (await isUndone(deps, row)) return STAYS;
  const { values, store, time } = deps;
  const prepared = await prepare(deps, row, workflow, {});
  const isStuck = prepared instanceof HoldfastError;
  // Where no migration leads on, it is still told what the code would make of the run as it is.
  const taken = isStuck ? { row, state: await loadRun(store, values, row) } : prepared;
  const hooks = new PlanHooks(deps);
  const met = await replayRun(deps, { workflow, now: time.now(), hooks, ...taken });
  const missing = unasked(met);
  if (isStuck) return { next: "parks", at: at(met), missing, problem: said(prepared) };
  return { ...nextOf(met), missing };
}

export const said = ({ code, message, why }: HoldfastError): string => `${code} ${message} ${why}`;

const at = ({ stoppedAt }: Met): string[] => stoppedAt.flatMap(({ step }) => (step === "" ? [] : [step]));

/** A step that is about to be called asks for what lies inside it, or does not: that is not known before. */
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

/** Its steps were undone when it failed, or are being undone. */
async function isUndone({ store }: ExecutionDeps, row: RunRow): Promise<boolean> {
  if (row.control === "compensating") return true;
  if (row.status !== "failed") return false;
  const failed = await lastEvent(store, row, ["run_failed"]);
  return failed?.kind === "run_failed" && failed.meta.compensated === true;
}
