import { isRecord } from "../core/check-options.ts";
import type { Context } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Agent, AgentIdentity, Results, Subtask } from "./agent.ts";
import { agentRow } from "./agent-row.ts";
import { failureReason } from "./failure-details.ts";
import type { HookInfo, Targets, TeamHooks } from "./hooks.ts";
import { checkSubtaskList, type Recorded, SUBTASKS } from "./migrate.ts";
import { AgentProgress, type ProgressText, type SubtaskDone } from "./progress.ts";
import { type Job, runSubtasks } from "./run-subtasks.ts";

/** What an agent's run begins with. */
export interface AgentInput {
  readonly analysis_id: string;
  readonly stock_ticker: string;
  readonly input?: unknown;
  /** The results of the agents that it needs, by type. */
  readonly team?: Readonly<Record<string, Results>>;
}

/** What an agent's run ends with. */
export interface AgentResult {
  readonly agent_type: string;
  readonly agent_version: string;
  readonly progress: ProgressText;
  readonly results: Results;
  readonly confidence: number | null;
  readonly blockers: readonly string[];
  readonly retry_count: number;
}

/** What a team adds to each of its agents. */
export interface AgentSurroundings {
  readonly hooks?: TeamHooks;
  readonly targets?: Targets;
}

/** An agent at work in a run of its own: a step and a checkpoint for each subtask. */
export class AgentWork implements Job {
  readonly identity: AgentIdentity;
  readonly input: unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly team: Readonly<Record<string, Results>>;
  readonly #ctx: Context;
  readonly #agent: Agent;
  readonly #hooks: TeamHooks;
  readonly #targets: Targets;
  readonly #progress: AgentProgress;
  #isResumed = false;

  constructor(ctx: Context, agent: Agent, given: AgentInput, surroundings: AgentSurroundings) {
    const { type, version } = agent;
    const { analysis_id, stock_ticker, input, team = {} } = given;
    this.#ctx = ctx;
    this.#agent = agent;
    this.#hooks = surroundings.hooks ?? {};
    this.#targets = surroundings.targets ?? {};
    this.#progress = new AgentProgress(agent);
    this.identity = { id: ctx.runId, type, version, analysis_id, stock_ticker };
    this.input = input;
    this.team = team;
    this.config = configOf(ctx, agent);
  }

  async work(): Promise<AgentResult> {
    const ctx = this.#ctx;
    const { version, subtasks: list } = this.#agent;
    const subtasks = list.map(({ name }) => name);
    this.#isResumed = subtasks.some((name) => ctx.recorded(name) !== undefined);
    ctx.memory.set(SUBTASKS, { version, subtasks } satisfies Recorded);
    // A replay finds what was recorded at the start.
    checkSubtaskList(this.#agent, ctx.memory.get<Recorded>(SUBTASKS) ?? { version, subtasks }, subtasks);
    ctx.plan(subtasks);
    await runSubtasks(ctx, this.#progress, this);
    const { text, results, confidence, blockers, retries } = this.#progress;
    return {
      agent_type: this.#agent.type,
      agent_version: version,
      progress: text,
      results,
      confidence,
      blockers,
      retry_count: retries,
    };
  }

  stepName(subtask: string): string {
    return subtask;
  }

  async begins(subtask: Subtask): Promise<void> {
    if (this.#isResumed) await this.#hooks.onResume?.(this.#info(subtask));
  }

  async ended(subtask: Subtask, done: SubtaskDone): Promise<void> {
    const ctx = this.#ctx;
    await deliver(ctx, this.identity, subtask, done, this.#targets);
    this.#tell(this.#progress.pending.length === 0 ? "completed" : "active");
    const row = agentRow(this.identity, this.#progress, this.config);
    await ctx.checkpoint(subtask.name, {
      trigger: "subtask_completed",
      record: { table: "agent_checkpoints", row },
    });
    if (!this.#hooks.afterSubtask) return;
    const told = { ...this.#info(subtask), deliverable: done.deliverable };
    await ctx.step(`${subtask.name}.after`, async ({ key }) => {
      await this.#hooks.afterSubtask?.({ ...told, key });
    });
  }

  async failed(subtask: Subtask, error: unknown): Promise<never> {
    const ctx = this.#ctx;
    this.#tell("failed");
    const row = agentRow(this.identity, this.#progress, this.config, { subtask, error });
    const label = `${subtask.name} failed ${ctx.recorded(subtask.name)?.attempts ?? 1}`;
    const checkpoint = await ctx.checkpoint(label, {
      trigger: "error_encountered",
      record: { table: "agent_checkpoints", row },
    });
    await this.#hooks.onFailure?.({ ...this.#info(subtask), error, checkpoint });
    const { text: progress, percent } = this.#progress.text;
    const detail = { agent: this.#agent.type, subtask: subtask.name, progress, percent };
    throw new HoldfastError("HF-4535", { ...detail, reason: failureReason(error) }, { cause: error });
  }

  #info(subtask: Subtask): HookInfo {
    const { results, text } = this.#progress;
    return { agent: this.identity, subtask: subtask.name, results, progress: text };
  }

  #tell(status: string): void {
    const { text, confidence, blockers } = this.#progress;
    const known = confidence === null ? {} : { confidence };
    this.#ctx.agent(this.#agent.type, { status, ...known, blockers, state: text });
  }
}
/** The agent's own configuration, then the run's, then what the run's `agents` says about this type. */
export function configOf(
  { config: { agents, ...shared } }: Pick<Context, "config">,
  agent: Agent,
): Readonly<Record<string, unknown>> {
  const own = isRecord(agents) ? agents[agent.type] : undefined;
  return { ...agent.config, ...shared, ...(isRecord(own) ? own : {}) };
}

async function deliver(
  ctx: Context,
  agent: AgentIdentity,
  { name, deliverable, target }: Subtask,
  { deliverable: value }: SubtaskDone,
  targets: Targets,
): Promise<void> {
  const land = targets[target];
  if (!land) return;
  const delivery = { agent, subtask: name, deliverable, target, value };
  await ctx.step(`${name}.deliver`, async ({ key }) => void (await land({ ...delivery, key })), {
    effect: "keyed",
    retry: { attempts: 3 },
  });
}
