import type { Workflow } from "../../context.ts";
import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { isLosingAll } from "../../journal/dropped.ts";
import { lastEvent, loadRun } from "../../journal/load.ts";
import { readRow } from "../../journal/positions.ts";
import type { RunState } from "../../journal/state.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import { unknownSteps } from "../../run/undo-doubts.ts";
import { type Budget, type RunRow, terminal } from "../../types.ts";
import { isHolderGone } from "../../worker/claim-meta.ts";
import { byRecord, decided, survey, unknowns } from "./plan-doubts.ts";
import { prepare, withCode } from "./plan-replay.ts";
import type { Changed, NextWait, PlanOptions, ResumePlan } from "./plan-types.ts";
import { undoing } from "./plan-undo.ts";

const SAME: Changed = { version: null, schema: null, notAsked: [], new: [] };

/** Changes nothing. */
export async function planResume(
  deps: ExecutionDeps,
  workflows: ReadonlyMap<string, Workflow>,
  runId: string,
  options: PlanOptions = {},
): Promise<ResumePlan> {
  const { store } = deps;
  const row = await readRow(store, runId);
  const workflow = workflows.get(row.workflow);
  const { reuse, told } = await survey(store, row);
  const plan: ResumePlan = {
    runId,
    status: row.status,
    code: workflow !== undefined,
    worker: workerOf(deps, row),
    reuse,
    inDoubt: [],
    runs: [],
    waits: [],
    view: { end: "does not move", after: [], announced: [] },
    changed: workflow ? { ...SAME, ...differences(row, workflow) } : SAME,
    policy: [],
    approvals: [],
    content: { checked: 0, held: [] },
    budget: left(row),
    children: [],
    blocked: await whyNot(deps, row),
  };
  if (plan.blocked !== null) return plan;
  const state = await loadRun(store, deps.values, row);
  if (row.control === "compensating") return beingUndone(state, plan);
  const children = await childPlans(deps, workflows, state);
  if (!workflow) return { ...plan, ...withoutCode(state, row, told), children };
  const prepared = await prepare(deps, row, workflow, options);
  if (prepared instanceof HoldfastError) return { ...plan, blocked: `${prepared.message} ${prepared.why}` };
  const seen = await withCode(deps, prepared, workflow, { told, changed: plan.changed });
  return { ...plan, ...seen, budget: left(prepared.row), children };
}

function workerOf({ time, ports }: ExecutionDeps, row: RunRow): ResumePlan["worker"] {
  const { owner, until } = row.claim;
  const isHeld = row.status === "running" && owner !== null && until > time.now();
  return isHeld && !isHolderGone(row, ports) ? { owner, until } : null;
}

/** The reason that prevents any resume. */
async function whyNot({ store }: ExecutionDeps, row: RunRow): Promise<string | null> {
  if (terminal(row.status)) return "It has ended.";
  if (await isLosingAll(store, row)) return "Its values are not kept any more.";
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

/** The runs it has started that haven't ended, or have failed and are retried. */
async function childPlans(
  deps: ExecutionDeps,
  workflows: ReadonlyMap<string, Workflow>,
  state: RunState,
): Promise<ResumePlan[]> {
  const plans: ResumePlan[] = [];
  const { fork, failedSteps } = { fork: state.facts.fork?.seq ?? 0, failedSteps: state.failedSteps };
  for (const [step, { child, status, seq }] of state.steps()) {
    const isOpen = status === "started" || (status === "failed" && failedSteps.includes(step));
    if (child === undefined || !isOpen || seq <= fork) continue;
    const row = await deps.store.read(child);
    if (row && !terminal(row.status)) plans.push(await planResume(deps, workflows, child));
  }
  return plans;
}

/** All that is left is to undo its work. The code defines how, and wasn't run. */
function beingUndone(state: RunState, plan: ResumePlan): ResumePlan {
  const last = [...state.undoable].sort(([, a], [, b]) => b - a).map(([step]) => step);
  const { runs, inDoubt } = undoing(state, last);
  // Whether to undo them depends on their outcome.
  const doubts = [...unknownSteps(state)].map(([step, record]) => byRecord(step, record));
  // How to undo a step of a finished iteration is no longer known: a person is asked.
  const lost = last.filter((step) => !state.find(step));
  const after = [...runs, ...doubts, ...inDoubt, ...lost.map((step) => ({ step }))].map(({ step }) => step);
  return {
    ...plan,
    runs,
    inDoubt: [...doubts, ...inDoubt],
    waits: lost.map((step) => ({ step, for: "review" })),
    view: { end: after.length === 0 ? "is cancelled" : "open", after, announced: [] },
    blocked: "It is being cancelled, and what it did is being undone.",
  };
}

function withoutCode(state: RunState, row: RunRow, told: ReadonlySet<string>): Partial<ResumePlan> {
  const { code, message } = new HoldfastError("HF-1026", { workflow: row.workflow });
  const open = [...unknowns(state)].map(([step, record]) => byRecord(step, record));
  const waits = row.waiting.map(
    ({ step, kind, until }): NextWait => ({ step, for: kind, ...defined({ until }) }),
  );
  return {
    inDoubt: [...open, ...decided(told, state)],
    waits,
    // What the code would do is unknown.
    view: { end: "open", after: [...open, ...waits].map(({ step }) => step), announced: [] },
    blocked: `${code} ${message}`,
  };
}
