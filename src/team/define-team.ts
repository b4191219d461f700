import { checkObject } from "../core/check-options.ts";
import { type AgentTeam, defineAgentTeam } from "./agent-team.ts";
import { definePhaseTeam, type PhaseTeam } from "./phases/phase-team.ts";
import type { PhaseTeamOptions } from "./phases/settings.ts";
import type { AgentTeamOptions } from "./team-options.ts";

/**
 * Defines a team. With `agents`: a workflow in which many agents work on one analysis, each as a run of its own that is
 * found by the analysis and its type. With `phases`: a workflow in which an orchestrator, specialists and an evaluator
 * work through one phase after the other.
 *
 * @example
 * ```ts
 * import { type Agent, defineTeam } from "holdfast/team";
 *
 * export const stockTeam = (agents: readonly Agent[]) =>
 *   defineTeam({ name: "stock-team", agents, concurrency: 5 });
 *
 * export const atlasTeam = (specialists: readonly Agent[]) =>
 *   defineTeam({ name: "atlas-team", phases: [{ name: "research", specialists }] });
 * ```
 */
export function defineTeam<I = unknown>(options: AgentTeamOptions): AgentTeam<I>;
export function defineTeam<I = unknown>(options: PhaseTeamOptions<I>): PhaseTeam<I>;
export function defineTeam<I>(options: AgentTeamOptions | PhaseTeamOptions<I>): AgentTeam<I> | PhaseTeam<I> {
  checkObject("options", options);
  return "phases" in options ? definePhaseTeam<I>(options) : defineAgentTeam<I>(options);
}
