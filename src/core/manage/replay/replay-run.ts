import type { Clock } from "../../clock.ts";
import type { Workflow } from "../../context.ts";
import { HoldfastError } from "../../errors.ts";
import { budgetGuard } from "../../guards/budget.ts";
import { failsOnRecord } from "../../guards/code-failure.ts";
import { inspectInput, readConfig } from "../../guards/inspector.ts";
import type { StepStarted } from "../../journal/events.ts";
import { dropped } from "../../journal/journal.ts";
import { loadRun } from "../../journal/load.ts";
import { headEventAt } from "../../journal/read.ts";
import { ScratchStore } from "../../journal/scratch-store.ts";
import type { RunState } from "../../journal/state.ts";
import type { Values } from "../../journal/values.ts";
import { silentLogger } from "../../logger.ts";
import type { Ports } from "../../ports.ts";
import { untilDone } from "../../run/asked.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import { untilResolved } from "../../run/unresolved.ts";
import { CommitQueue } from "../../store/commit.ts";
import type { Store } from "../../store/contract.ts";
import { StoreHealth } from "../../store/health.ts";
import { StoreTime } from "../../store/time.ts";
import type { RunRow } from "../../types.ts";
import { findCheckpoint } from "../checkpoints/kept.ts";
import { notingGuard, ReplayContext, ReplayExecution, waitStop } from "./replay-execution.ts";
import {
  type Asked,
  type ReplayedStep,
  type StopPoint,
  type Uncalled,
  Watch,
  WatchedValues,
} from "./replay-watch.ts";

/**
 * The result of a replay.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function stillFits(engine: Engine, runId: string): Promise<boolean> {
 *   const { end, notAsked } = await engine.replay(runId);
 *   return end !== "failed" && notAsked.length === 0;
 * }
 * ```
 */
export interface Replay {
  /** How the workflow's function ended; `stopped`: it would have to do something that isn't recorded. */
  readonly end: "completed" | "failed" | "stopped";
  readonly result?: unknown;
  readonly error?: unknown;
  /** In the order in which the code asked for them. */
  readonly steps: readonly ReplayedStep[];
  /** Where it stopped, one per branch. */
  readonly stoppedAt: readonly StopPoint[];
  /** Recorded steps that the code didn't ask for. */
  readonly notAsked: readonly string[];
}

export interface ReplayOptions {
  /** Replaces the code registered under the run's workflow. */
  readonly workflow?: Workflow<never, unknown>;
}

/** Everything a replay met, for planning. */
export interface Met extends Replay {
  readonly asked: ReadonlyMap<string, Asked>;
  /** The calls about to be made, by step. */
  readonly intents: ReadonlyMap<string, StepStarted>;
  readonly uncalled: readonly Uncalled[];
  readonly hasMet: (step: string) => boolean;
  /** Recorded effects that the code hasn't asked for: while there are any, no new one begins. */
  readonly missing: readonly string[];
  /** Finished steps with an undo, the last one first. */
  readonly undoable: readonly string[];
  /** Unknown outcomes that a person would be asked about, with the reason. */
  readonly doubts: ReadonlyMap<string, unknown>;
}

/** Replays a run up to a checkpoint, with this code. Calls nothing and changes nothing. */
export async function replayCheckpoint(
  deps: ExecutionDeps,
  workflows: ReadonlyMap<string, Workflow>,
  place: string,
  options: ReplayOptions,
): Promise<Replay> {
  const { store, values } = deps;
  const { row, seq } = await findCheckpoint(deps, place);
  const workflow = (options.workflow as Workflow | undefined) ?? workflows.get(row.workflow);
  if (!workflow) throw new HoldfastError("HF-1026", { workflow: row.workflow });
  if (row.prunedAt !== null) throw dropped(row.id, seq);
  const state = await loadRun(store, values, row, seq);
  const now = (await headEventAt(store, row.id, seq))?.at ?? row.updatedAt;
  // The run's current limits don't affect its earlier records.
  const then = { ...row, seq, budget: null, parent: null };
  const met = await replayRun(deps, { workflow, row: then, state, now });
  const { steps, stoppedAt, notAsked } = met;
  return { ...ending(met), steps, stoppedAt, notAsked };
}

/** How it ended, with the result or the error. */
const ending = ({ end, result, error }: Replay): Pick<Replay, "end" | "result" | "error"> => ({
  end,
  ...(end === "completed" ? { result } : {}),
  ...(end === "failed" ? { error } : {}),
});

export interface ReplayInput {
  readonly workflow: Workflow;
  /** The store of the run, if not the engine's own. */
  readonly store?: Store;
  /** The run at the position of `state`. */
  readonly row: RunRow;
  readonly state: RunState;
  /** The current time there. */
  readonly now: number;
  /** For predicting a worker: the checks that it makes before it acts. */
  readonly hooks?: Pick<ExecutionDeps, "policy" | "contentCheck">;
}

/**
 * Runs a workflow's function against the records and nothing else: no step function is called, no child is started, and
 * all writes stay in memory. Only the hooks given with `hooks` are called.
 */
export async function replayRun(deps: ExecutionDeps, input: ReplayInput): Promise<Met> {
  const { workflow, state } = input;
  const clock = frozenClock(deps.ports.clock, input.now);
  const claim = {
    epoch: input.row.claim.epoch,
    owner: "replay",
    token: "replay",
    until: Number.MAX_SAFE_INTEGER,
  };
  const row: RunRow = {
    ...input.row,
    status: "running",
    control: "none",
    waiting: [],
    claim,
    activeAt: input.now,
  };
  const store = new ScratchStore(input.store ?? deps.store, { clock, ids: deps.ports.ids, run: row });
  const watch = new Watch(state);
  const values = new WatchedValues(store, watch, deps.ports.redactor);
  const execution = new ReplayExecution(
    scratchDeps(deps, { store, values, clock, row, watch, hooks: input.hooks }),
    workflow,
    { row, state },
    { watch, foretells: input.hooks !== undefined },
  );
  const body = runBody(execution, watch).then(
    (result) => ({ end: "completed", result: values.echo(values.encode("result", result)) }) as const,
    (error: unknown) => failed(execution, watch, error),
  );
  const end = await Promise.race([body, execution.ended.then(() => ({ end: "stopped" }) as const)]);
  execution.close(end.end);
  const steps = await watch.settled();
  if (watch.problem) throw watch.problem.error;
  return { ...end, ...whatWasMet(execution, watch, steps) };
}

function whatWasMet(
  execution: ReplayExecution,
  watch: Watch,
  steps: readonly ReplayedStep[],
): Omit<Met, "end" | "result" | "error"> {
  const { stops: stoppedAt, asked, doubts, intents, uncalled } = watch;
  const undoable = [...execution.state.undoable].sort(([, a], [, b]) => b - a).map(([step]) => step);
  return {
    steps,
    stoppedAt,
    notAsked: watch.notAsked(),
    missing: execution.code?.missing() ?? [],
    asked,
    doubts,
    intents,
    uncalled,
    hasMet: (step) => watch.hasMet(step),
    undoable: undoable.filter((step) => execution.undos.has(step)),
  };
}

async function runBody(execution: ReplayExecution, watch: Watch): Promise<unknown> {
  const { deps, state, runId, workflow } = execution;
  await execution.memory.load();
  execution.config = await readConfig(execution);
  const stored = await execution.read(() => deps.values.decode(runId, state.input));
  const input = await inspectInput(execution, stored);
  const context = new ReplayContext(execution, watch);
  const result = await execution.within(execution.scope(), async () => workflow.body(context, input));
  if (!execution.foretells) return result;
  await untilDone(execution, execution.rootScope);
  await untilResolved(execution);
  return result;
}

/** What happens to a run whose function throws here: it fails, or waits for code that doesn't. */
function failed(execution: ReplayExecution, watch: Watch, error: unknown): Pick<Replay, "end" | "error"> {
  const wait = execution.foretells ? failsOnRecord(execution, error) : undefined;
  if (!wait || watch.stops.length > 0) return { end: "failed", error };
  watch.stopped(waitStop(wait));
  return { end: "stopped" };
}

/** Time stands still for the run, but not for the caller who waits until nothing more happens in it. */
const frozenClock = (clock: Clock, now: number): Clock => ({
  now: () => now,
  monotonic: () => clock.monotonic(),
  setTimer: (callback, ms, options) => clock.setTimer(callback, ms, options),
  defer: (callback) => clock.defer(callback),
});

interface Scratch {
  readonly store: ScratchStore;
  readonly values: Values;
  readonly clock: Clock;
  readonly row: RunRow;
  readonly watch: Watch;
  readonly hooks: ReplayInput["hooks"];
}

function scratchDeps(
  deps: ExecutionDeps,
  { store, values, clock, row, watch, hooks }: Scratch,
): ExecutionDeps {
  const ports: Ports = {
    ...(hooks ? deps.ports : {}),
    clock,
    ids: deps.ports.ids,
    processes: deps.ports.processes,
    logger: silentLogger,
    probe: () => undefined,
  };
  const nothing = async (): Promise<void> => undefined;
  const noting = notingGuard(watch);
  return {
    ...deps,
    // Nothing is called, so nothing is taken of any limit.
    rates: undefined,
    logs: undefined,
    store,
    queue: scratchQueue(store, ports),
    ports,
    values,
    time: new StoreTime(store, clock),
    policy: hooks?.policy,
    contentCheck: hooks?.contentCheck,
    guards: (execution) =>
      hooks
        ? [noting, ...deps.guards(execution)]
        : [...(execution.code ? [execution.code] : []), budgetGuard],
    engine: {
      durable: () => undefined,
      startChild: async () => row,
      forkChild: async () => undefined,
      resumeChild: nothing,
      notifyParent: nothing,
      cancelChildren: async () => [],
      evidence: () => undefined,
    },
  };
}

/** A queue into a scratch store, which never fails. */
export function scratchQueue(store: ScratchStore, ports: Ports): CommitQueue {
  const health = new StoreHealth(ports.clock, { failing: () => undefined, recovered: () => undefined });
  return new CommitQueue(store, ports, { patienceMs: 1, ahead: false, health, onFailure: () => undefined });
}
