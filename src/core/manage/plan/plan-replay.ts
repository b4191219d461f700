import { HoldfastError } from "../../errors.ts";
import { askPolicy, type PolicyVerdict } from "../../guards/policy.ts";
import { Acts } from "../../journal/acts.ts";
import type { EventDraft } from "../../journal/events.ts";
import type { Hop } from "../../journal/facts.ts";
import { loadRun } from "../../journal/load.ts";
import { ScratchStore } from "../../journal/scratch-store.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import type { RunState, StepRecord } from "../../run/replay.ts";
import type { EffectPolicy, Origin, RunRow, WaitKind } from "../../types.ts";
import { Values } from "../../values/values.ts";
import { planMigration } from "../../versions/migration-plan.ts";
import { noRoute, route } from "../../versions/versions.ts";
import type { Workflow } from "../../workflow.ts";
import { Ancestry, foresee } from "../fork/effects.ts";
import { type Met, replayRun, scratchQueue } from "../replay/replay-run.ts";
import type { StopPoint } from "../replay/replay-watch.ts";
import { byRecord, decided, unknowns } from "./plan-doubts.ts";
import type { Changed, DoubtfulStep, NextStep, NextWait, ResumePlan, Treatment } from "./plan-types.ts";

/** The run as it would be taken up: resumed, and of the version at hand. In memory only. */
interface Prepared {
  readonly store: ScratchStore;
  readonly row: RunRow;
  readonly state: RunState;
}

const HELD: readonly WaitKind[] = ["review", "budget", "policy", "content", "migration"];

export async function prepare(
  deps: ExecutionDeps,
  run: RunRow,
  workflow: Workflow,
): Promise<Prepared | HoldfastError> {
  const { ports, time, values } = deps;
  const way = route(workflow, run);
  const state = await loadRun(deps.store, values, run);
  if (!way) return noRoute(run, state, workflow);
  const isStopped = run.status === "failed" || run.status === "paused" || run.control === "pausing";
  const events: EventDraft[] = [];
  if (isStopped || run.waiting.some(({ kind }) => HELD.includes(kind)))
    events.push({ kind: "run_resumed", step: "", meta: {} });
  const migration =
    way.length === 0
      ? undefined
      : await planMigration(values, run, state, workflow, way).catch((error: unknown) => {
          if (HoldfastError.is(error, "HF-2115")) return error;
          throw error;
        });
  if (migration instanceof HoldfastError) return migration;
  events.push(...(migration?.events ?? []));
  const store = new ScratchStore(deps.store, { clock: ports.clock, ids: ports.ids, run });
  const acts = new Acts(store, scratchQueue(store, ports), time);
  const acted = events.length === 0 ? null : await acts.write(run, { events, blobs: migration?.blobs ?? [] });
  const row = acted?.row ?? run;
  const scratch = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, ports.logger);
  return { store, row, state: await loadRun(store, scratch, row) };
}

export async function withCode(
  deps: ExecutionDeps,
  { store, row, state }: Prepared,
  workflow: Workflow,
  { changed, told }: { readonly changed: Changed; readonly told: ReadonlySet<string> },
): Promise<Partial<ResumePlan>> {
  // Copies: a replay uses the records up.
  const records = new Map([...state.steps()].map(([key, record]) => [key, { ...record }]));
  const unknown = unknowns(state);
  const known = decided(told, state);
  const { fork, hops } = state.facts;
  const met = await replayRun(deps, { workflow, store, row, state, now: deps.time.now() });
  const { inDoubt, runs, waits } = sorted(met, records, unknown);
  const foreknown = fork ? await foreseen(deps, { ...fork, hops }, met, runs) : runs;
  const held = waits.filter((wait) => wait.for === "migration" || wait.for === "budget");
  const begun = runs.filter(({ step }) => !records.has(step)).map(({ step }) => step);
  const { notAsked } = met;
  return {
    inDoubt: [...inDoubt, ...known],
    runs: foreknown,
    waits,
    changed: { ...changed, notAsked, new: notAsked.length === 0 ? [] : [...begun, ...added(held)] },
    policy: await verdicts(deps, row, met),
    blocked:
      held.length === 0 ? null : `${held.map((wait) => `${wait.step} waits for: ${wait.for}`).join("; ")}.`,
  };
}

type Sorted = { readonly inDoubt: DoubtfulStep[]; readonly runs: NextStep[]; readonly waits: NextWait[] };

/** What a replay stopped at, by what it means. */
function sorted(
  met: Met,
  records: ReadonlyMap<string, StepRecord>,
  unknown: ReadonlyMap<string, StepRecord>,
): Sorted {
  const [inDoubt, runs, waits]: [DoubtfulStep[], NextStep[], NextWait[]] = [[], [], []];
  const retried = (step: string, at: number | undefined): NextStep => {
    const { type, effect, attempt } = records.get(step) as StepRecord;
    return { step, type, effect, attempt: attempt + 1, ...(at === undefined ? {} : { at }) };
  };
  for (const stop of met.stoppedAt) {
    const { step } = stop;
    const record = unknown.get(step);
    if (stop.action === "wait") {
      const { until } = stop;
      waits.push({ step, for: stop.for, ...(until === undefined ? {} : { until }) });
      if (stop.for === "retry") runs.push(retried(step, until));
    }
    if (record && (stop.action === "wait" ? stop.for === "decision" : record.status !== "failed")) {
      const { effect, attempt } = record;
      inDoubt.push({ step, effect, attempt, treatment: treatment(met, stop, record) });
    } else if (stop.action === "start") {
      const { type, effect, attempt } = stop;
      runs.push({ step, type, effect, attempt });
    }
  }
  // Inside a step that is called again: its function is not gone through here, but it comes to what it had begun.
  const again = met.stoppedAt.filter(({ action }) => action === "start").map(({ step }) => `${step}/`);
  for (const [step, record] of records) {
    if (!again.some((outer) => step.startsWith(outer))) continue;
    if (unknown.has(step)) inDoubt.push(byRecord(step, record));
    else if (record.retryAt !== undefined) runs.push(retried(step, record.retryAt));
  }
  return { inDoubt, runs, waits };
}

async function foreseen(
  { store }: ExecutionDeps,
  {
    from,
    effects,
    hops,
  }: { readonly from: Origin; readonly effects: EffectPolicy; readonly hops: readonly Hop[] },
  { asked }: Met,
  runs: readonly NextStep[],
): Promise<NextStep[]> {
  const source = new Ancestry(store, from);
  return Promise.all(
    runs.map(async (next) => {
      const past = next.effect === "repeatable" ? undefined : await source.find(next.step, hops);
      return past ? { ...next, instead: foresee(effects, past, asked.get(next.step)?.args) } : next;
    }),
  );
}

const added = (held: readonly NextWait[]): string[] =>
  held.flatMap((wait) => (wait.for === "migration" && wait.step !== "" ? [wait.step] : []));

function treatment({ asked, doubts }: Met, stop: StopPoint, { effect }: StepRecord): Treatment {
  if (stop.action === "start") return effect === "keyed" ? "called again with the same key" : "called again";
  const doubt = doubts.get(stop.step);
  // Other arguments are a person's business: no hook is asked.
  if (doubt === undefined || HoldfastError.is(doubt, "HF-2104")) return "asked of a person";
  return asked.get(stop.step)?.hasVerify ? "verify hook asked first" : "asked of a person";
}

async function verdicts(
  { policy }: ExecutionDeps,
  { id: runId, workflow, version }: RunRow,
  { stoppedAt, asked }: Met,
): Promise<ResumePlan["policy"]> {
  if (!policy) return [];
  const said: { step: string; verdict: PolicyVerdict }[] = [];
  for (const stop of stoppedAt) {
    if (stop.action !== "start" || stop.type !== "call") continue;
    const { step, effect, attempt } = stop;
    const { input, args } = asked.get(step) ?? { input: undefined, args: undefined };
    const request = { runId, workflow, version, step, effect, attempt, input, args, restored: true };
    said.push({ step, verdict: await askPolicy(policy, request) });
  }
  return said;
}
