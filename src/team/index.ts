export {
  type Agent,
  type AgentIdentity,
  type AgentOptions,
  type AgentReport,
  defineAgent,
  type Results,
  type Subtask,
  type SubtaskCall,
} from "./agent.ts";
export type { AgentTeam, TeamResult } from "./agent-team.ts";
export type { AgentInput, AgentResult, AgentSurroundings } from "./agent-work.ts";
export { agentWorkflow } from "./agent-workflow.ts";
export type { TeamInput } from "./analysis.ts";
export { AgentCheckpointer, type AgentCheckpointerOptions } from "./checkpointer.ts";
export type {
  CheckpointedAgent,
  CheckpointedMemory,
  CheckpointMigration,
  SavedCheckpoint,
} from "./checkpointer-agent.ts";
export { type AgentStatus, Coordinator } from "./coordinator.ts";
export { defineTeam } from "./define-team.ts";
export type { Delivery, HookInfo, Targets, TeamHooks } from "./hooks.ts";
export type { WorkingMemory } from "./memory.ts";
export type { AgentCheckpointState, AgentMigration } from "./migrate.ts";
export type { PhaseTeam, PhaseTeamResult } from "./phases/phase-team.ts";
export { resumeFromPhase } from "./phases/resume.ts";
export type { AutomaticTrigger, PhaseTeamOptions } from "./phases/settings.ts";
export type { PhaseAgent, PhaseDecisionMade, PhaseOutput } from "./phases/state.ts";
export type {
  AgentChange,
  Criterion,
  Evaluation,
  EvaluationCall,
  Evaluator,
  LowConfidence,
  LowConfidenceChoice,
  ManualTrigger,
  Orchestrator,
  Phase,
  PhaseContext,
  PhaseDecision,
  PhaseOutputs,
  Score,
  SpecialistInput,
} from "./phases/types.ts";
export type { ProgressText } from "./progress.ts";
export type { AgentTeamOptions, OnAgentFailure, Stage, StageGate } from "./team-options.ts";
