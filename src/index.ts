export type { Act } from "./core/act.ts";
export type { Clock } from "./core/clock.ts";
export type {
  AgentState,
  Branches,
  BranchResults,
  Context,
  Decision,
  EachOptions,
  GateAnswer,
  GateOptions,
  LoopDone,
  LoopOptions,
  LoopResult,
  LoopTurn,
  Memory,
  OpenStep,
  ReceivedSignal,
  Settled,
  SettledOptions,
  SettledResults,
  SignalOptions,
  StepCall,
  StepHandle,
  StepOptions,
  UsageReport,
  Verdict,
} from "./core/context.ts";
export type { ResumeOptions } from "./core/control.ts";
export type { OpenGate, Resolution } from "./core/decisions.ts";
export type { Edits } from "./core/edits.ts";
export type { EngineEvent, EngineEventOf, EngineEventType } from "./core/emitter.ts";
export { createEngine, Engine } from "./core/engine.ts";
export type { EngineOptions, Run, StartOptions } from "./core/engine-options.ts";
export { type ErrorCode, errorTable, explainError, HoldfastError } from "./core/errors.ts";
export type { EventKind, EventMeta, JournalEvent } from "./core/events.ts";
export type { BulkReport } from "./core/family.ts";
export {
  type ContentCheck,
  type ContentItem,
  type ContentVerdict,
  isQuarantined,
  type Quarantined,
} from "./core/guards/content.ts";
export type { Policy, PolicyRequest, PolicyVerdict } from "./core/guards/policy.ts";
export type { Health, UnsavedRun } from "./core/health.ts";
export type { Ids } from "./core/ids.ts";
export { type Address, parseAddress } from "./core/manage/address.ts";
export type {
  Checkpoint,
  CheckpointUsage,
  DecisionMade,
  Failure,
  Iterations,
} from "./core/manage/checkpoint-view.ts";
export { type CheckpointItem, Checkpoints } from "./core/manage/checkpoints.ts";
export type { Change, CheckpointDiff, PatchOperation, StateDelta } from "./core/manage/diff.ts";
export { diffToText } from "./core/manage/diff-text.ts";
export type { Foreseen } from "./core/manage/effects.ts";
export type { ForkOptions } from "./core/manage/fork.ts";
export type { ForeseenCall, ForeseenChild, ForkPreview } from "./core/manage/fork-preview.ts";
export {
  type MigrationQuery,
  type MigrationReport,
  Migrations,
  type RunMigration,
} from "./core/manage/migrations.ts";
export type {
  Changed,
  DoubtfulStep,
  NextStep,
  NextWait,
  ResumePlan,
  Reuse,
  Treatment,
} from "./core/manage/plan-types.ts";
export type { Progress, StepUnderWay } from "./core/manage/progress.ts";
export type { Replay, ReplayOptions } from "./core/manage/replay-run.ts";
export type { ReplayedStep, StopPoint } from "./core/manage/replay-watch.ts";
export { Retention, type RetentionOptions } from "./core/manage/retention.ts";
export type { ArchiveBundle } from "./core/manage/retention-archive.ts";
export type {
  Duration,
  RetentionPolicy,
  RetentionPreset,
  RetentionRules,
} from "./core/manage/retention-policy.ts";
export type {
  RetentionReason,
  RetentionReport,
  RetentionRun,
  RetentionSkip,
} from "./core/manage/retention-report.ts";
export type { RunReport } from "./core/manage/run-status.ts";
export { describeRun, type Possible, type RunDetails, type RunSentence } from "./core/manage/status.ts";
export {
  type ExportOptions,
  type ImportOptions,
  type ImportReport,
  Transfer,
} from "./core/manage/transfer.ts";
export type { Problem, Validation } from "./core/manage/validate.ts";
export type { StateChange } from "./core/migration-plan.ts";
export type { Logger, Point, Probe } from "./core/ports.ts";
export type { RecoveryOptions } from "./core/recovery.ts";
export type { Redaction, RedactionPattern } from "./core/redact.ts";
export type { RetryPolicy } from "./core/retry.ts";
export { type SecretProvider, type SecretRef, secret } from "./core/secrets.ts";
export type { AsyncSqlHandle, SqlHandle, SqlRow, SqlValue } from "./core/sql.ts";
export type { StateView } from "./core/state-view.ts";
export type { Store, StoreCapabilities, StoreIdentity } from "./core/store.ts";
export type { CheckpointTrigger, Triggers } from "./core/triggers.ts";
export type {
  Budget,
  Effect,
  EffectPolicy,
  Origin,
  RunStatus,
  Usage,
  Waiting,
  WaitKind,
} from "./core/types.ts";
export type { Migration } from "./core/versions.ts";
export { type Workflow, type WorkflowBody, type WorkflowOptions, workflow } from "./core/workflow.ts";
