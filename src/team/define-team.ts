import { type AgentTeam, defineAgentTeam } from "./agent-team.ts";
import type { AgentTeamOptions } from "./team-options.ts";

/**
 * Defines a team: a workflow in which many agents work on one analysis. Each agent is a run of its own, found by the
 * analysis and its type, so that any mix of failures leaves the others alone.
 *
 * @example
 * ```ts
 * import { type Agent, defineTeam } from "holdfast/team";
 *
 * export const stockTeam = (agents: readonly Agent[]) =>
 *   defineTeam({ name: "stock-team", agents, concurrency: 5 });
 * ```
 */
export function defineTeam<I = unknown>(options: AgentTeamOptions): AgentTeam<I> {
  return defineAgentTeam<I>(options);
}
