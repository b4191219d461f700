import { checkMethod, checkWhole } from "../core/check-options.ts";
import type { Engine } from "../core/engine/engine.ts";
import type { RunHandle } from "../core/engine/run-handle.ts";
import { HoldfastError } from "../core/errors.ts";
import { childId, isUuid } from "../core/ids.ts";
import type { Run } from "../core/types.ts";
import { ended } from "../core/types.ts";
import type { AgentTeam, TeamResult } from "./agent-team.ts";
import type { TeamInput } from "./analysis.ts";
import { type ProgressText, progressText } from "./progress.ts";
import { unknownAgent } from "./team-options.ts";

/** An agent of an analysis: its run, and how far it is. */
export interface AgentStatus {
  readonly agent_type: string;
  /** The id of its run; it exists once the agent has begun. */
  readonly run: string;
  readonly status: Run["status"] | "pending";
  readonly progress: ProgressText;
  readonly error: string | null;
}

type Act = { readonly actor?: string; readonly reason?: string };

/**
 * Leads the analyses of a team: starts them, tells how far each agent is, and restores agents by analysis and type. The
 * run of an analysis has the analysis's own id.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { type AgentTeam, Coordinator } from "holdfast/team";
 *
 * export async function restoreOne(engine: Engine, team: AgentTeam, analysisId: string): Promise<void> {
 *   const coordinator = new Coordinator(engine, team);
 *   await coordinator.restore(analysisId, "strategy_analyst");
 * }
 * ```
 */
export class Coordinator<I = unknown> {
  readonly #engine: Engine;
  readonly #team: AgentTeam<I>;

  constructor(engine: Engine, team: AgentTeam<I>) {
    checkMethod("engine", engine, "register");
    this.#engine = engine;
    this.#team = team;
    engine.register(team);
  }

  /** Starts an analysis, or returns the one that has this id. */
  start(analysisId: string, input: Omit<TeamInput<I>, "analysis_id">): Promise<RunHandle<TeamResult>> {
    if (!isUuid(analysisId))
      throw new HoldfastError("HF-4526", { team: this.#team.name, problem: "analysis_id must be a UUID" });
    return this.#engine.start(this.#team, { ...input, analysis_id: analysisId }, { id: analysisId });
  }

  /** Every agent of an analysis, in the order of the team. */
  agents(analysisId: string): Promise<AgentStatus[]> {
    return Promise.all(this.#team.agents.map(({ type }) => this.agent(analysisId, type)));
  }

  /** One agent of an analysis. */
  async agent(analysisId: string, agentType: string): Promise<AgentStatus> {
    const { agent_type, run, subtasks } = this.#find(analysisId, agentType);
    const row = await this.#engine.get(run);
    if (!row) return { agent_type, run, status: "pending", progress: progressText(0, subtasks), error: null };
    const { progress } = await this.#engine.checkpoints.show(run);
    const done = progress.total === undefined ? 0 : progress.done;
    return { agent_type, run, status: row.status, progress: progressText(done, subtasks), error: row.error };
  }

  /**
   * Restores an agent that has failed or is paused: it goes on at its next pending subtask, and no other agent is
   * touched. A completed agent stays as it is. Refused while another process works on it (HF-4528).
   */
  async restore(analysisId: string, agentType: string, act: Act = {}): Promise<Run> {
    const { run, agent_type } = this.#find(analysisId, agentType);
    const row = await this.#engine.get(run);
    if (!row) throw new HoldfastError("HF-4527", { agent: agent_type, analysis: analysisId });
    if (row.status === "completed") return row;
    if (ended(row.status) || row.status === "paused") return this.#engine.resume(run, act);
    // Its worker may be dead: then it is simply taken over.
    const { stalled } = await this.#engine.status(run);
    if (stalled?.kind === "unclaimed") {
      await this.#engine.recover();
      return (await this.#engine.get(run)) ?? row;
    }
    const owner = row.claim.owner ?? "a worker";
    const detail = { agent: agent_type, analysis: analysisId, owner, status: row.status };
    throw new HoldfastError("HF-4528", detail);
  }

  /** Restores every agent that has failed or is paused, then the analysis. Returns what was done to which agent. */
  async restoreAll(
    analysisId: string,
    options: Act & { readonly concurrency?: number } = {},
  ): Promise<readonly string[]> {
    const { concurrency = this.#team.agents.length, ...act } = options;
    checkWhole("concurrency", concurrency);
    const stopped = (await this.agents(analysisId)).filter(({ status }) =>
      ["failed", "paused"].includes(status),
    );
    const open = [...stopped];
    const lane = async (): Promise<void> => {
      for (let next = open.shift(); next; next = open.shift())
        await this.restore(analysisId, next.agent_type, act);
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, open.length) }, lane));
    const row = await this.#engine.get(analysisId);
    if (row && (row.status === "failed" || row.status === "paused"))
      await this.#engine.resume(analysisId, act);
    return stopped.map(({ agent_type }) => agent_type);
  }

  #find(analysisId: string, agentType: string): { agent_type: string; run: string; subtasks: number } {
    const { agents, name } = this.#team;
    const agent = agents.find(({ type }) => type === agentType);
    if (!agent)
      throw unknownAgent(
        name,
        agentType,
        agents.map(({ type }) => type),
      );
    return { agent_type: agent.type, run: childId(analysisId, agent.type), subtasks: agent.subtasks.length };
  }
}
