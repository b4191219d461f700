/** DAGs of tasks, executed in layers: with decisions, commands, speculative tasks, and a checkpoint after each layer. */

export {
  CheckpointManager,
  type CheckpointManagerOptions,
  type WorkflowCheckpoint,
} from "./checkpoint-manager.ts";
export {
  ControlledExecutor,
  type ControlledExecutorOptions,
  type ExecuteOptions,
  type ResumeFromCheckpointOptions,
} from "./controlled-executor.ts";
export type { AIL, AILDecision, HIL, HILQuestion, LayerView } from "./decide.ts";
export type { DAGEvent, DAGEventOf, DAGEventType } from "./events.ts";
export { diffDags, layersOf, remainingLayers, validateDag } from "./graph.ts";
export type { DAGInput, DAGOutcome } from "./run-dag.ts";
export { emptyState, reduceState } from "./state.ts";
export type { DAGTool, DAGTools, TaskCall, ToolRun } from "./tools.ts";
export type {
  AppliedCommand,
  DAGCommand,
  DAGDecision,
  DAGDifference,
  DAGExecutionResult,
  DAGStructure,
  DAGTask,
  DAGWarning,
  ExecutionConfig,
  StateUpdate,
  TaskProblem,
  TaskResult,
  WorkflowState,
} from "./types.ts";
export { type DAGWorkflow, type DAGWorkflowOptions, dagWorkflow } from "./workflow.ts";
