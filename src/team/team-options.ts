import { checkKeys, checkWhole, isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkName } from "../core/names.ts";
import type { Agent } from "./agent.ts";
import type { Targets, TeamHooks } from "./hooks.ts";

/** A gate at which a person decides whether the next stage begins. */
export interface StageGate {
  /** Default: the stage's name and `gate`. */
  readonly name?: string;
  /** The first one goes on; every other one ends the analysis. Default approve, reject. */
  readonly choices?: readonly string[];
  readonly timeoutMs?: number;
}

/** Agents that work at the same time, and what happens before the next stage. */
export interface Stage {
  readonly name: string;
  /** Types of agents. */
  readonly agents: readonly string[];
  readonly gate?: StageGate | true;
  /** Waits this long after the stage and its gate, across restarts: an overnight pause. */
  readonly pauseMs?: number;
}

/** What happens to the others when an agent fails. */
export type OnAgentFailure =
  /** The others finish; then the run fails and can be resumed. */
  | "finish-others"
  /** No other agent begins; those at work finish. */
  | "stop"
  /** The others finish, later stages run, and the result lists the failure. */
  | "accept";

/** Options of a team of agents with subtasks. */
export interface AgentTeamOptions {
  readonly name: string;
  readonly version?: string;
  readonly agents: readonly Agent[];
  /** Default: one stage with all agents. */
  readonly stages?: readonly Stage[];
  /** How many agents work at the same time; 1 for one after the other. Default: all of a stage. */
  readonly concurrency?: number;
  readonly onAgentFailure?: OnAgentFailure;
  readonly hooks?: TeamHooks;
  readonly targets?: Targets;
}

export const badTeam = (team: unknown, problem: string): HoldfastError =>
  new HoldfastError("HF-4521", { team: String(team).slice(0, 80), problem });

const FAILURES: readonly unknown[] = [undefined, "finish-others", "stop", "accept"];
const STAGE_KEYS = ["name", "agents", "gate", "pauseMs"];

/** Returns the stages; throws HF-4521 or HF-4523 when the team makes no sense. */
export function checkAgentTeam(options: AgentTeamOptions): readonly Stage[] {
  const { name: team, agents, concurrency, onAgentFailure } = options;
  checkName(team);
  if (!Array.isArray(agents) || agents.length === 0) throw badTeam(team, "it must have at least one agent");
  const types = agents.map((agent: Agent) => agent.type);
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined) throw badTeam(team, `agent ${twice} is there twice`);
  if (types.includes(team)) throw badTeam(team, "no agent may have the name of the team");
  if (concurrency !== undefined) checkWhole("concurrency", concurrency);
  if (!FAILURES.includes(onAgentFailure))
    throw badTeam(team, "onAgentFailure must be finish-others, stop or accept");
  const stages = options.stages ?? [{ name: "agents", agents: types }];
  checkStages(team, stages, types);
  checkNeeds(team, stages, agents);
  return stages;
}

function checkStages(team: string, stages: readonly Stage[], types: readonly string[]): void {
  if (!Array.isArray(stages) || stages.length === 0) throw badTeam(team, "it must have at least one stage");
  const names = new Set<string>();
  const placed = new Set<string>();
  for (const [index, stage] of (stages as readonly Stage[]).entries()) {
    if (!isRecord(stage)) throw badTeam(team, "a stage is not an object");
    checkKeys(stage, STAGE_KEYS, `stage ${String(stage.name).slice(0, 80)}`);
    if (typeof stage.name !== "string" || stage.name === "")
      throw badTeam(team, `its stage ${index + 1} has no name`);
    checkName(stage.name);
    if (names.has(stage.name)) throw badTeam(team, `stage ${stage.name} is there twice`);
    names.add(stage.name);
    if (!Array.isArray(stage.agents) || stage.agents.length === 0)
      throw badTeam(team, `stage ${stage.name} has no agents`);
    for (const type of stage.agents as readonly string[]) {
      if (!types.includes(type)) throw unknownAgent(team, type, types);
      if (placed.has(type)) throw badTeam(team, `agent ${type} is in two stages`);
      placed.add(type);
    }
  }
  const left = types.filter((type) => !placed.has(type));
  if (left.length > 0) throw badTeam(team, `${left.join(", ")} is in no stage`);
}

function checkNeeds(team: string, stages: readonly Stage[], agents: readonly Agent[]): void {
  const stageOf = (type: string): number => stages.findIndex((stage) => stage.agents.includes(type));
  for (const { type, needs } of agents) {
    for (const needed of needs) {
      if (stageOf(needed) < 0)
        throw unknownAgent(
          team,
          needed,
          agents.map((one) => one.type),
        );
      if (stageOf(needed) >= stageOf(type))
        throw badTeam(team, `${type} needs ${needed}, which is not in an earlier stage`);
    }
  }
}

export const unknownAgent = (team: string, agent: unknown, known: readonly string[]): HoldfastError =>
  new HoldfastError("HF-4523", { team, agent: String(agent).slice(0, 80), known: known.join(", ") });
