import { isFailed, planMigration } from "../../changes/migration-plan.ts";
import { noRoute, route } from "../../changes/versions.ts";
import type { Workflow } from "../../context.ts";
import { resumeChanges } from "../../control/resume-changes.ts";
import type { HoldfastError } from "../../errors.ts";
import { type ActPlan, Acts } from "../../journal/acts.ts";
import type { EventDraft } from "../../journal/events.ts";
import { isHeld, isHurried, isStopped } from "../../journal/going-on.ts";
import { loadRun } from "../../journal/load.ts";
import { ScratchStore } from "../../journal/scratch-store.ts";
import type { RunState } from "../../journal/state.ts";
import { Values } from "../../journal/values.ts";
import { approvalOf } from "../../keys.ts";
import { checkBudget } from "../../options.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import type { RunRow } from "../../types.ts";
import { measure } from "../checkpoints/progress.ts";
import { type Met, replayRun, scratchQueue } from "../replay/replay-run.ts";
import { approvals } from "./plan-approvals.ts";
import { decided } from "./plan-doubts.ts";
import { PlanHooks } from "./plan-hooks.ts";
import { Sorting } from "./plan-sort.ts";
import type { Changed, NextWait, PlanOptions, ResumePlan, View } from "./plan-types.ts";
import { undoing } from "./plan-undo.ts";

/** The run as it would be taken up: resumed, and at this code's version. In memory only. */
interface Prepared {
  readonly store: ScratchStore;
  readonly row: RunRow;
  readonly state: RunState;
}

export async function prepare(
  deps: ExecutionDeps,
  run: RunRow,
  workflow: Workflow,
  options: PlanOptions,
): Promise<Prepared | HoldfastError> {
  const { ports, time } = deps;
  const store = new ScratchStore(deps.store, { clock: ports.clock, ids: ports.ids, run });
  const values = new Values(
    store,
    { valueBytes: Infinity, warnBytes: Infinity },
    ports.logger,
    ports.redactor,
  );
  const acts = new Acts(store, scratchQueue(store, ports), time);
  const write = async (row: RunRow, plan: ActPlan): Promise<Prepared> => {
    const acted = plan.events.length === 0 ? null : await acts.write(row, plan);
    return { store, row: acted?.row ?? row, state: await loadRun(store, values, acted?.row ?? row) };
  };
  const resumed = await write(run, await resumeEvents(deps, run, options));
  const way = route(workflow, run);
  if (!way) return noRoute(run, resumed.state, workflow);
  if (way.length === 0) return resumed;
  try {
    const { row, state } = resumed;
    return write(row, await planMigration({ values, clock: ports.clock }, row, state, workflow, way));
  } catch (error) {
    if (isFailed(error)) return error;
    throw error;
  }
}

/** The events that a resume would write. */
async function resumeEvents(deps: ExecutionDeps, run: RunRow, options: PlanOptions): Promise<ActPlan> {
  const limits = checkBudget(options.budget);
  const { events, blobs } = await resumeChanges(deps, run, options);
  const retry = options.retryFailed ? { retryFailed: true } : {};
  const meta = { ...retry, ...(options.now ? { now: true } : {}) };
  return {
    events: [
      ...(limits ? [{ kind: "budget_set", step: "", meta: limits } satisfies EventDraft] : []),
      ...events,
      ...(isStopped(run) || isHeld(run) || isHurried(run, options)
        ? [{ kind: "run_resumed", step: "", meta } satisfies EventDraft]
        : []),
    ],
    blobs,
  };
}

export async function withCode(
  deps: ExecutionDeps,
  { store, row, state }: Prepared,
  workflow: Workflow,
  { changed, told }: { readonly changed: Changed; readonly told: ReadonlySet<string> },
): Promise<Partial<ResumePlan>> {
  // Copies, because a replay consumes the records.
  const records = new Map([...state.steps()].map(([key, record]) => [key, { ...record }]));
  const known = decided(told, state);
  const announced = measure(state, 0).pending;
  const hooks = new PlanHooks(deps);
  const met = await replayRun(deps, { workflow, store, row, state, now: deps.time.now(), hooks });
  const { inDoubt, runs, waits } = await new Sorting(deps, row.id, { met, records, state }).sorted();
  const undone = undos(met, state, workflow);
  const held = waits.filter((wait) => wait.for === "migration" || wait.for === "budget");
  const begun = runs.filter(({ step }) => !records.has(step)).map(({ step }) => step);
  const { notAsked } = met;
  return {
    inDoubt: [...inDoubt, ...undone.inDoubt, ...known],
    runs: [...runs, ...undone.runs],
    waits,
    view: viewOf(met, announced),
    changed: { ...changed, notAsked, new: notAsked.length === 0 ? [] : [...begun, ...added(held)] },
    policy: hooks.verdicts,
    approvals: approvals(met, records),
    content: hooks.content,
    blocked:
      held.length === 0 ? null : `${held.map((wait) => `${wait.step} waits for: ${wait.for}`).join("; ")}.`,
  };
}

/** The undos of a failing run, if its workflow has them. */
function undos(met: Met, state: RunState, { compensateOnFailure }: Workflow): ReturnType<typeof undoing> {
  const isUndone = met.end === "failed" && compensateOnFailure;
  return isUndone ? undoing(state, met.undoable) : { runs: [], inDoubt: [] };
}

const ENDS = { completed: "completes", failed: "fails", stopped: "open" } as const;

/** Even after the function has ended, calls that it began without waiting for them continue. */
function viewOf({ end, stoppedAt }: Met, announced: readonly string[]): View {
  const after = stoppedAt.map(({ step }) => approvalOf(step)?.step ?? step);
  return {
    end: stoppedAt.length > 0 ? "open" : ENDS[end],
    after,
    announced: announced.filter((step) => !after.includes(step)),
  };
}

const added = (held: readonly NextWait[]): string[] =>
  held.flatMap((wait) => (wait.for === "migration" && wait.step !== "" ? [wait.step] : []));
