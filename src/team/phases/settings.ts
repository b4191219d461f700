import { checkFunction, checkKeys, checkWhole, isRecord } from "../../core/check-options.ts";
import type { Migration } from "../../core/migration.ts";
import { checkName } from "../../core/names.ts";
import type { CheckpointTrigger } from "../../core/options.ts";
import type { SeedConfig } from "../../core/seed-config.ts";
import type { Agent } from "../agent.ts";
import { checkConfidence } from "../run-subtasks.ts";
import { badTeam } from "../team-options.ts";
import type { Phase } from "./types.ts";

/** When a team saves a checkpoint by itself. All are on unless switched off. */
export const AUTOMATIC = [
  "phase_completed",
  "specialist_finished",
  "evaluation_completed",
  "confidence_threshold_crossed",
  "error_encountered",
  "memory_pressure_high",
] as const satisfies readonly CheckpointTrigger[];

/** The checkpoints that a team marks by itself. */
export type AutomaticTrigger = (typeof AUTOMATIC)[number];

/** Options of a team with phases. */
export interface PhaseTeamOptions<I = unknown> extends SeedConfig {
  readonly name: string;
  readonly version?: string;
  readonly migrations?: readonly Migration[];
  readonly phases: readonly Phase<I>[];
  /** Below this confidence the team decides what to do. Default 0.75. */
  readonly confidenceThreshold?: number;
  /** How often a specialist may begin, counting the first time. Default 2. */
  readonly specialistAttempts?: number;
  /** What the confidence of a specialist that was rolled back is multiplied by. Default 0.8. */
  readonly rollbackFactor?: number;
  /** Switches automatic triggers off. */
  readonly triggers?: Readonly<Partial<Record<AutomaticTrigger, boolean>>>;
}

/** The options with their defaults. */
export interface PhaseSettings {
  readonly threshold: number;
  readonly attempts: number;
  readonly factor: number;
  readonly isOn: (trigger: CheckpointTrigger) => boolean;
}

const KEYS = [
  "name",
  "version",
  "migrations",
  "phases",
  "confidenceThreshold",
  "specialistAttempts",
  "rollbackFactor",
  "triggers",
  "checkpoint_config",
  "recovery_config",
  "performance_config",
];
const PHASE_KEYS = [
  "name",
  "orchestrator",
  "specialists",
  "evaluator",
  "concurrency",
  "additional",
  "onLowConfidence",
];

/** Throws when the team makes no sense: HF-4521, or HF-1003 with the option. */
export function phaseSettings<I>(options: PhaseTeamOptions<I>): PhaseSettings {
  const { name: team, phases, triggers = {} } = options;
  checkName(team);
  checkKeys(options, KEYS, "team");
  if (!Array.isArray(phases) || phases.length === 0) throw badTeam(team, "it must have at least one phase");
  const names = new Set<string>();
  for (const phase of phases as readonly Phase<I>[]) {
    checkPhase(team, phase);
    if (names.has(phase.name)) throw badTeam(team, `phase ${phase.name} is there twice`);
    names.add(phase.name);
  }
  checkKeys(triggers, AUTOMATIC, "triggers", "trigger");
  const off = new Set(Object.entries(triggers).flatMap(([trigger, on]) => (on === false ? [trigger] : [])));
  return {
    threshold: checkConfidence("the threshold", options.confidenceThreshold ?? 0.75),
    attempts: checkWhole("specialistAttempts", options.specialistAttempts ?? 2),
    factor: checkConfidence("rollbackFactor", options.rollbackFactor ?? 0.8),
    isOn: (trigger) => !off.has(trigger),
  };
}

function checkPhase<I>(team: string, phase: Phase<I>): void {
  if (!isRecord(phase)) throw badTeam(team, "a phase is not an object");
  const { name, orchestrator, specialists, evaluator, concurrency } = phase as Phase<I>;
  checkName(name);
  checkKeys(phase, PHASE_KEYS, `phase ${name}`);
  if (!Array.isArray(specialists) || specialists.length === 0)
    throw badTeam(team, `phase ${name} has no specialists`);
  const types = specialists.map((one: Agent) => one.type);
  const roles = [
    ...types,
    ...(orchestrator ? [orchestrator.name] : []),
    ...(evaluator ? [evaluator.name] : []),
  ];
  for (const role of roles) checkName(role);
  const twice = roles.find((role, index) => roles.indexOf(role) !== index);
  if (twice !== undefined) throw badTeam(team, `phase ${name} has two agents called ${twice}`);
  if (concurrency !== undefined) checkWhole("concurrency", concurrency);
  if (!evaluator) return;
  if (!Array.isArray(evaluator.criteria) || evaluator.criteria.length === 0)
    throw badTeam(team, `evaluator ${evaluator.name} has no criteria`);
  const criteria = evaluator.criteria.map((one: { name: string }) => one.name);
  for (const [index, one] of evaluator.criteria.entries()) {
    checkName(one.name);
    checkFunction(`criteria[${index}].score`, (one as { score?: unknown }).score);
    if (criteria.indexOf(one.name) !== index)
      throw badTeam(team, `criterion ${one.name} of ${evaluator.name} is there twice`);
  }
  if (evaluator.passScore !== undefined)
    checkConfidence(`passScore of ${evaluator.name}`, evaluator.passScore);
  if (evaluator.maxIterations !== undefined) checkWhole("maxIterations", evaluator.maxIterations);
}
