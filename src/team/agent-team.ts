import { checkKeys, keysOf } from "../core/check-options.ts";
import type { Context, Workflow } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import type { StandardSchema } from "../core/standard-schema.ts";
import { workflow } from "../core/workflow.ts";
import type { Agent, Results } from "./agent.ts";
import type { AgentInput, AgentResult } from "./agent-work.ts";
import { agentWorkflow } from "./agent-workflow.ts";
import { type Analysis, analysisOf, type TeamInput, teamInput } from "./analysis.ts";
import { agentReason } from "./failure-details.ts";
import { type ProgressText, progressText } from "./progress.ts";
import { type AgentTeamOptions, checkAgentTeam, type Stage, type StageGate } from "./team-options.ts";

/** What a team of agents ends with. */
export interface TeamResult {
  readonly analysis_id: string;
  readonly stock_ticker: string;
  /** `rejected`: a person ended it at a gate. */
  readonly status: "completed" | "rejected";
  readonly progress: ProgressText;
  readonly agents: Readonly<Record<string, AgentResult>>;
  /** Why agents failed, by type, if failures are accepted. */
  readonly failed: Readonly<Record<string, string>>;
}

/** A team: a workflow that starts each agent as a run of its own. */
export interface AgentTeam<I = unknown> extends Workflow<TeamInput<I>, TeamResult> {
  readonly agents: readonly Agent[];
  readonly stages: readonly Stage[];
}

const OPTIONS = keysOf<AgentTeamOptions>({
  name: true,
  version: true,
  agents: true,
  stages: true,
  concurrency: true,
  onAgentFailure: true,
  hooks: true,
  targets: true,
});

export function defineAgentTeam<I>(options: AgentTeamOptions): AgentTeam<I> {
  checkKeys(options, OPTIONS);
  const stages = checkAgentTeam(options);
  const { name, version = "1", agents, hooks, targets } = options;
  const surroundings = { ...(hooks ? { hooks } : {}), ...(targets ? { targets } : {}) };
  const workflows = new Map(agents.map((agent) => [agent.type, agentWorkflow(agent, surroundings)]));
  const children = [...workflows.values()];
  const body = (ctx: Context, given: TeamInput<I>) =>
    new Analyst(ctx, options, stages, workflows, analysisOf(ctx, name, given)).work();
  const input = teamInput as StandardSchema<TeamInput<I>>;
  // Whoever starts a team by its name alone has no check; `analysisOf` is the same one in its body.
  return { ...workflow(name, { version, children, input }, body), checksInBody: true, agents, stages };
}

type Settled = { readonly type: string; readonly result: AgentResult } | Failed;
interface Failed {
  readonly type: string;
  readonly error: unknown;
}

/** One analysis: its stages in order, and the agents of each side by side. */
class Analyst {
  readonly #ctx: Context;
  readonly #options: AgentTeamOptions;
  readonly #stages: readonly Stage[];
  readonly #workflows: ReadonlyMap<string, Workflow<AgentInput, AgentResult>>;
  readonly #analysis: Analysis;
  readonly #results = new Map<string, AgentResult>();
  readonly #failed: Failed[] = [];

  constructor(
    ctx: Context,
    options: AgentTeamOptions,
    stages: readonly Stage[],
    workflows: ReadonlyMap<string, Workflow<AgentInput, AgentResult>>,
    analysis: Analysis,
  ) {
    this.#ctx = ctx;
    this.#options = options;
    this.#stages = stages;
    this.#workflows = workflows;
    this.#analysis = analysis;
  }

  async work(): Promise<TeamResult> {
    this.#ctx.plan(this.#options.agents.map(({ type }) => type));
    for (const stage of this.#stages) {
      await this.#runStage(stage);
      if (stage.gate && !(await this.#ask(stage, stage.gate === true ? {} : stage.gate)))
        return this.#result("rejected");
      if (stage.pauseMs !== undefined) await this.#ctx.sleep(`${stage.name} pause`, stage.pauseMs);
    }
    return this.#result("completed");
  }

  async #runStage({ agents }: Stage): Promise<void> {
    const { onAgentFailure = "finish-others", concurrency = agents.length } = this.#options;
    const failed: Failed[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < agents.length && !(onAgentFailure === "stop" && failed.length > 0)) {
        const settled = await this.#runAgent(agents[next++] as string);
        if ("result" in settled) this.#results.set(settled.type, settled.result);
        else failed.push(settled);
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, agents.length) }, lane));
    this.#failed.push(...failed);
    if (failed.length > 0 && onAgentFailure !== "accept") throw this.#problem(failed, onAgentFailure);
  }

  async #runAgent(type: string): Promise<Settled> {
    const { analysis_id, stock_ticker, input } = this.#analysis;
    const given = {
      analysis_id,
      stock_ticker,
      ...(input === undefined ? {} : { input }),
      ...this.#needed(type),
    };
    try {
      const workflow = this.#workflows.get(type) as Workflow<AgentInput, AgentResult>;
      return { type, result: await this.#ctx.child(type, workflow, given) };
    } catch (error) {
      return { type, error };
    }
  }

  /** The results that an agent needs. */
  #needed(type: string): { readonly team?: Record<string, Results> } {
    const { needs = [] } = this.#options.agents.find((agent) => agent.type === type) ?? {};
    const known = needs.flatMap((one): [string, Results][] => {
      const result = this.#results.get(one);
      return result ? [[one, result.results]] : [];
    });
    return known.length === 0 ? {} : { team: Object.fromEntries(known) };
  }

  #problem(failed: readonly Failed[], policy: string): HoldfastError {
    const total = this.#options.agents.length;
    const agents = failed.map(({ type, error }) => `${type} (${agentReason(error)})`).join("; ");
    const why =
      policy === "stop"
        ? "No further agent was begun after the first failure."
        : "The other agents of the stage have finished first.";
    const cause = new AggregateError(failed.map(({ error }) => error));
    return new HoldfastError("HF-4525", { failed: failed.length, total, agents, why }, { cause });
  }

  /** True when the person lets the next stage begin. */
  async #ask({ name }: Stage, gate: StageGate): Promise<boolean> {
    const { choices = ["approve", "reject"], timeoutMs } = gate;
    const { analysis_id, stock_ticker } = this.#analysis;
    const answer = await this.#ctx.gate(gate.name ?? `${name} gate`, {
      show: {
        analysis_id,
        stock_ticker,
        stage: name,
        progress: this.#progress().text,
        agents: this.#shown(),
      },
      choices,
      text: true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return answer.choice === choices[0];
  }

  /** Each agent's progress, in the order of the team: the same on every replay. */
  #shown(): Record<string, string> {
    const lines = this.#options.agents.map(({ type, subtasks }): [string, string] => {
      const result = this.#results.get(type);
      const failure = this.#failed.find((one) => one.type === type);
      if (failure) return [type, agentReason(failure.error)];
      const { text, percent } = result?.progress ?? progressText(0, subtasks.length);
      return [type, `${text} (${percent} %)`];
    });
    return Object.fromEntries(lines);
  }

  /** Over all agents: `23 of 55 subtasks`. */
  #progress(): ProgressText {
    const done = [...this.#results.values()].reduce((sum, { progress }) => sum + progress.done, 0);
    return progressText(
      done,
      this.#options.agents.reduce((sum, { subtasks }) => sum + subtasks.length, 0),
    );
  }

  #result(status: TeamResult["status"]): TeamResult {
    const { analysis_id, stock_ticker } = this.#analysis;
    const known = this.#options.agents.flatMap(({ type }): [string, AgentResult][] => {
      const result = this.#results.get(type);
      return result ? [[type, result]] : [];
    });
    const failed = this.#failed.map(({ type, error }) => [type, agentReason(error)] as const);
    return {
      analysis_id,
      stock_ticker,
      status,
      progress: this.#progress(),
      agents: Object.fromEntries(known),
      failed: Object.fromEntries(failed),
    };
  }
}
