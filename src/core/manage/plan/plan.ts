import { HoldfastError } from "../../errors.ts";
import { lastEvent, loadRun } from "../../journal/load.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import { type Budget, type RunRow, terminal } from "../../types.ts";
import type { Workflow } from "../../workflow.ts";
import { readRow } from "../checkpoints/positions.ts";
import { byRecord, decided, survey, unknowns } from "./plan-doubts.ts";
import { prepare, withCode } from "./plan-replay.ts";
import type { Changed, ResumePlan } from "./plan-types.ts";

const SAME: Changed = { version: null, schema: null, notAsked: [], new: [] };

/** Changes nothing. */
export async function planResume(
  deps: ExecutionDeps,
  workflows: ReadonlyMap<string, Workflow>,
  runId: string,
): Promise<ResumePlan> {
  const { store } = deps;
  const row = await readRow(store, runId);
  const workflow = workflows.get(row.workflow);
  const { reuse, told } = await survey(deps, row);
  const plan: ResumePlan = {
    runId,
    status: row.status,
    code: workflow !== undefined,
    reuse,
    inDoubt: [],
    runs: [],
    waits: [],
    changed: workflow ? { ...SAME, ...differences(row, workflow) } : SAME,
    policy: [],
    budget: left(row),
    blocked: await whyNot(deps, row),
  };
  if (plan.blocked !== null) return plan;
  if (!workflow) return withoutCode(deps, row, plan, told);
  const prepared = await prepare(deps, row, workflow);
  if (prepared instanceof HoldfastError) return { ...plan, blocked: `${prepared.message} ${prepared.why}` };
  return { ...plan, ...(await withCode(deps, prepared, workflow, { told, changed: plan.changed })) };
}

/** What stands in the way of any resume. */
async function whyNot({ store }: ExecutionDeps, row: RunRow): Promise<string | null> {
  if (terminal(row.status)) return "It has ended.";
  if (row.prunedAt !== null) return "Its values are not kept any more.";
  if (row.control === "compensating") return "It is being cancelled, and what it did is being undone.";
  if (row.status !== "failed") return null;
  const failed = await lastEvent(store, row, ["run_failed"]);
  const isUndone = failed?.kind === "run_failed" && failed.meta.compensated === true;
  return isUndone ? "Its steps were undone when it failed." : null;
}

function differences(row: RunRow, { version, schema }: Workflow): Pick<Changed, "version" | "schema"> {
  return {
    version: row.version === version ? null : { from: row.version, to: version },
    schema: row.schema === schema ? null : { from: row.schema, to: schema },
  };
}

function left({ budget, turns, usage, activeMs }: RunRow): Budget | null {
  if (!budget) return null;
  const spent: Required<Budget> = { turns, ...usage, wallMs: activeMs };
  const limits = Object.entries(budget) as [keyof Budget, number][];
  return Object.fromEntries(limits.map(([limit, most]) => [limit, Math.max(0, most - spent[limit])]));
}

async function withoutCode(
  deps: ExecutionDeps,
  row: RunRow,
  plan: ResumePlan,
  told: ReadonlySet<string>,
): Promise<ResumePlan> {
  const state = await loadRun(deps.store, deps.values, row);
  const { code, message } = new HoldfastError("HF-1026", { workflow: row.workflow });
  const open = [...unknowns(state)].map(([step, record]) => byRecord(step, record));
  const waits = row.waiting.map(({ step, kind, until }) => ({
    step,
    for: kind,
    ...(until === undefined ? {} : { until }),
  }));
  return {
    ...plan,
    inDoubt: [...open, ...decided(told, state)],
    waits,
    blocked: `${code} ${message}`,
  };
}
