import type { Effect } from "../core/types.ts";

/** A task of a DAG: plain data, so that it can be stored, sent and compared. What it does is its tool's business. */
export interface DAGTask {
  /** Names the task, and the step that runs it. */
  readonly id: string;
  /** The name of the tool that runs it. */
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The ids of the tasks that must be finished first. Their results are passed to the tool. */
  readonly dependsOn?: readonly string[];
  /** Stricter than the tool's own, if anything. Default: the tool's. */
  readonly effect?: Effect;
  /** What kind of result it gives, in your own words. A resume warns when it has changed. */
  readonly resultType?: string;
  /** The time limit in milliseconds. Default: `timeout` of the configuration. */
  readonly timeout?: number;
  /**
   * Not part of the plan until a decision or a command confirms it. Started ahead while the decision is made, so its
   * effect must be `repeatable`.
   */
  readonly speculative?: boolean;
}

/** Tasks and what they depend on. The order of the list is the order inside a layer. */
export interface DAGStructure {
  readonly tasks: readonly DAGTask[];
}

/** A finished task, as checkpoints keep it. */
export interface TaskResult {
  readonly taskId: string;
  readonly result: unknown;
  /** When it ended, in epoch milliseconds. */
  readonly timestamp: number;
  /** How long it took, in milliseconds. */
  readonly duration: number;
}

/** A choice that was made between two layers, and what came of it. */
export interface DAGDecision {
  /** `AIL`: by the AI in the loop. `HIL`: by a person. `command`: sent from outside. `replan`: on a resume. */
  readonly type: "AIL" | "HIL" | "command" | "replan" | "speculation";
  readonly layer_index: number;
  readonly timestamp: number;
  readonly description: string;
  readonly rationale?: string;
  readonly alternatives?: readonly string[];
  readonly confidence?: number;
  /** Who made it, if that is known. */
  readonly actor?: string;
  readonly commands: readonly AppliedCommand[];
}

/** A command and what came of it. A rejected one has changed nothing. */
export type AppliedCommand =
  | { readonly command: DAGCommand; readonly outcome: "applied" }
  | {
      readonly command: unknown;
      readonly outcome: "rejected";
      readonly code: string;
      readonly problem: string;
    };

/** The state of a workflow: messages, tasks and decisions are appended, and the context is merged. */
export interface WorkflowState {
  readonly messages: readonly unknown[];
  /** Completed and confirmed tasks only. */
  readonly tasks: readonly TaskResult[];
  readonly decisions: readonly DAGDecision[];
  readonly context: Readonly<Record<string, unknown>>;
  /** The newest checkpoint: a version 4 UUID. */
  readonly checkpoint_id: string | null;
}

/** What a layer, a decision or a command adds to the state. */
export interface StateUpdate {
  readonly messages?: readonly unknown[];
  readonly tasks?: readonly TaskResult[];
  readonly decisions?: readonly DAGDecision[];
  readonly context?: Readonly<Record<string, unknown>>;
}

/** How a DAG is executed. Saved with each checkpoint, and restored with it. */
export interface ExecutionConfig {
  /** `true` (the default) starts speculative tasks ahead, while a decision is made. */
  readonly speculation?: boolean;
  /** The time limit of each task, in milliseconds. Default: none. */
  readonly timeout?: number;
  /** The number of tasks of a layer that run at once. Default 8. */
  readonly concurrency?: number;
  /**
   * `stop` (the default): the run fails once the tasks under way have ended, and can be resumed. `continue`: what
   * depends on the failed task is skipped, and the rest goes on.
   */
  readonly onTaskFailure?: "stop" | "continue";
  /**
   * `stop` (the default): no task of the next layer starts before the checkpoint is durable. `continue`: a failed save
   * is logged and announced, and the workflow goes on with `repeatable` tasks.
   */
  readonly onCheckpointFailure?: "stop" | "continue";
  /** The number of newest checkpoints to keep per workflow. Default 5. */
  readonly keepCheckpoints?: number;
}

/** Changes the plan of a DAG between two layers. */
export type DAGCommand =
  | { readonly type: "add_task"; readonly task: DAGTask }
  | { readonly type: "change_task"; readonly taskId: string; readonly change: Partial<Omit<DAGTask, "id">> }
  /** What depends on it runs without its result; with `cascade`, it is skipped too. */
  | {
      readonly type: "skip_task";
      readonly taskId: string;
      readonly reason?: string;
      readonly cascade?: boolean;
    }
  | { readonly type: "confirm_task"; readonly taskId: string }
  | { readonly type: "discard_task"; readonly taskId: string }
  | { readonly type: "inject_context"; readonly context: Readonly<Record<string, unknown>> }
  | { readonly type: "add_messages"; readonly messages: readonly unknown[] }
  /** Replaces the DAG. Finished tasks stay finished. */
  | { readonly type: "replan_dag"; readonly dag: DAGStructure }
  | { readonly type: "abort"; readonly reason?: string };

/** A task that will not run, or failed, and why. */
export interface TaskProblem {
  readonly taskId: string;
  readonly problem: string;
}

/** A difference between two DAGs, for one task. */
export interface DAGDifference {
  readonly taskId: string;
  readonly kind:
    | "added"
    | "removed"
    | "changed_dependencies"
    | "changed_result_type"
    | "changed_tool"
    | "changed_arguments"
    | "changed_effect";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A difference between the DAG of a checkpoint and the one it is resumed with, and what it means. */
export interface DAGWarning extends DAGDifference {
  readonly message: string;
}

/** The outcome of a workflow. */
export interface DAGExecutionResult {
  /** The id of the run. */
  readonly workflow_id: string;
  readonly status: "completed" | "aborted";
  readonly checkpoint_id: string | null;
  /** The state at the end. */
  readonly state: WorkflowState;
  /** Results by task. */
  readonly results: Readonly<Record<string, unknown>>;
  /** The number of layers that were executed. */
  readonly layers: number;
  /** Tasks that failed; only with `onTaskFailure: "continue"`. */
  readonly errors: readonly TaskProblem[];
  readonly skipped: readonly TaskProblem[];
  /** What a resume with a changed DAG has warned about. */
  readonly warnings: readonly DAGWarning[];
}
