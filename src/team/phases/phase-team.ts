import type { Context, Workflow } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type SeedSettings, seedSettings } from "../../core/seed-config.ts";
import { workflow } from "../../core/workflow.ts";
import type { Agent } from "../agent.ts";
import { failureReason } from "../failure-details.ts";
import { phaseRow } from "./checkpoint.ts";
import { evaluate } from "./evaluate.ts";
import { PhaseRun, type RunParts } from "./phase-run.ts";
import { type PhaseSettings, type PhaseTeamOptions, phaseSettings } from "./settings.ts";
import { Specialist, settleConfidence } from "./specialist.ts";
import { confidenceSnapshot, newState, type PhaseDecisionMade, plain, type TeamState } from "./state.ts";
import type { Evaluation, Phase, PhaseOutputs, SpecialistInput } from "./types.ts";

/** What a team with phases ends with. */
export interface PhaseTeamResult {
  readonly status: "completed";
  /** By phase, by specialist, by subtask. */
  readonly results: PhaseOutputs;
  readonly evaluations: Readonly<Record<string, readonly Evaluation[]>>;
  readonly decisions: readonly PhaseDecisionMade[];
  readonly confidence: ReturnType<typeof confidenceSnapshot>;
}

/** A team with phases. */
export interface PhaseTeam<I = unknown> extends Workflow<I, PhaseTeamResult> {
  readonly phases: readonly Phase<I>[];
  /** What `checkpoint_config`, `recovery_config` and `performance_config` mean for engine and store. */
  readonly settings: SeedSettings;
}

export function definePhaseTeam<I>(options: PhaseTeamOptions<I>): PhaseTeam<I> {
  const settings = phaseSettings(options);
  const { name, version = "1", migrations = [], phases } = options;
  const { checkpoint_config, recovery_config, performance_config } = options;
  const triggers = {
    confidence: false,
    errors: false,
    phases: false,
    agents: false,
    evaluations: false,
    memoryPressure: settings.isOn("memory_pressure_high"),
  } as const;
  const body = (ctx: Context, input: I) => runPhases(ctx, input, phases, settings);
  return {
    ...workflow(name, { version, migrations, triggers }, body),
    phases,
    settings: seedSettings({ checkpoint_config, recovery_config, performance_config }),
  };
}

async function runPhases<I>(
  ctx: Context,
  input: I,
  phases: readonly Phase<I>[],
  settings: PhaseSettings,
): Promise<PhaseTeamResult> {
  const parts: RunParts = { ctx, input, settings, latest: undefined };
  ctx.plan(phases.map(({ name }) => name));
  let state = newState();
  for (const [index, phase] of phases.entries()) {
    const before = state;
    const after = await ctx.loop<Partial<TeamState>>(phase.name, {}, async (draft, turn) => {
      const begun = turn.index === 0 ? plain(before) : (plain(draft) as TeamState);
      const run = new PhaseRun(parts, phase, index + 1, turn.index, begun);
      const isDone = await runIteration(run);
      Object.assign(draft, plain(run.state));
      return isDone ? turn.done() : undefined;
    });
    state = plain(after) as TeamState;
  }
  await finish(parts, state, phases);
  const { results, evaluations, decisions } = state;
  const confidence = confidenceSnapshot(state, settings.threshold);
  return { status: "completed", results, evaluations, decisions, confidence };
}

/** The final checkpoint: everything is done, and there is nothing to resume. */
async function finish(parts: RunParts, state: TeamState, phases: readonly { name: string }[]): Promise<void> {
  const { ctx, settings } = parts;
  if (!settings.isOn("phase_completed")) return;
  const timestamp = new Date(ctx.now()).toISOString();
  const trigger = "phase_completed";
  const where = { phase: phases.at(-1)?.name ?? "" };
  const given = { id: ctx.uuid("checkpoint completed"), phase: phases.length, timestamp, trigger, where };
  const row = { ...phaseRow(ctx, state, settings.threshold, given), status: "completed", resumable: false };
  await ctx.checkpoint("completed", { trigger, record: { table: "phase_checkpoints", row } });
}

/** Orchestrator, specialists, evaluator. Returns false when the phase is to be done again. */
async function runIteration<I>(run: PhaseRun<I>): Promise<boolean> {
  const { definition, phase, iteration, name } = run;
  const { orchestrator, evaluator } = definition;
  if (iteration === 0) await run.save(`phase ${phase} started`, "phase_started");
  if (orchestrator) run.change(orchestrator.name, { status: "active" }, "orchestrator");
  const plan = await orchestrator?.run?.(run);
  await runSpecialists(run, plan);
  const evaluation = evaluator ? await evaluate(run, evaluator, plan) : undefined;
  const isLast = iteration + 1 >= (evaluator?.maxIterations ?? 3);
  const isDone = !evaluation || evaluation.passed || isLast;
  if (!isDone) return false;
  if (orchestrator) run.change(orchestrator.name, { status: "completed" });
  await run.save(`${name} completed`, "phase_completed");
  return true;
}

interface Ended {
  readonly name: string;
  readonly completed: boolean;
  /** Known only if it ended in this process. */
  readonly error: unknown;
}

/** Runs the specialists side by side. When all of them have failed, a resume gives each another chance. */
async function runSpecialists<I>(run: PhaseRun<I>, plan: unknown): Promise<void> {
  for (;;) {
    const ended = await runRound(run, plan);
    if (ended.some(({ completed }) => completed)) return;
    const last = ended.findLast(({ error }) => error !== undefined);
    if (!last) continue;
    const each = ended.map(({ name, error }) =>
      error === undefined ? name : `${name}: ${failureReason(error)}`,
    );
    const problem = `none of its specialists has completed (${each.join(", ")})`;
    const why = failureReason(last.error);
    throw new HoldfastError("HF-4530", { phase: run.name, problem, why }, { cause: last.error });
  }
}

async function runRound<I>(run: PhaseRun<I>, plan: unknown): Promise<readonly Ended[]> {
  const { specialists, concurrency = specialists.length } = run.definition;
  const ended: Ended[] = [];
  const work = async (agent: Agent<SpecialistInput<I>>): Promise<void> => {
    const { state, error } = await new Specialist(run, agent, plan).run();
    ended.push({ name: agent.type, completed: state.completed, error });
  };
  const open = [...specialists];
  const lane = async (): Promise<void> => {
    for (let agent = open.shift(); agent; agent = open.shift()) await work(agent);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, open.length) }, lane));
  const added = new Map<string, Agent<SpecialistInput<I>>>();
  // In the order of the definition, so that a replay decides the same.
  for (const { type } of specialists) {
    const extra = await settleConfidence(run, type);
    if (extra && !specialists.some((one) => one.type === extra.type)) added.set(extra.type, extra);
  }
  await Promise.all([...added.values()].map(work));
  return ended;
}
