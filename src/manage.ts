/** What tools for stored runs need: reports, plans, forks, retention, transfer, and the shapes of the journal. */

export type { AnchorState, AuditAnchor } from "./core/audit/anchors.ts";
export type { AuditOptions } from "./core/audit/options.ts";
export type { AuditProblem, ProvenSize } from "./core/audit/proof/log-check.ts";
export type { AuditVerification } from "./core/audit/proof/result.ts";
export type { NewerRun } from "./core/audit/proof/run-check.ts";
export type { AuditRecorder, StoreAct } from "./core/audit/record.ts";
export type { StateChange } from "./core/changes/migration-plan.ts";
export type {
  AgentState,
  Branches,
  BranchResults,
  Injected,
  OpenStep,
  SettledOptions,
  SettledResults,
} from "./core/context.ts";
export type { BulkReport } from "./core/control/family.ts";
export type { InjectOptions } from "./core/control/inject.ts";
export type { DeclaredOptions, TypedContext, TypedMemory } from "./core/declared.ts";
export type { Advanced, AdvanceOptions } from "./core/engine/advance.ts";
export { errorTable } from "./core/errors.ts";
export type { ScheduleDeclaration } from "./core/flow/declare.ts";
export { Queues, type QueueView } from "./core/flow/queues.ts";
export { RateLimits, type RateLimitView } from "./core/flow/rate-limits.ts";
export type {
  Schedule,
  ScheduleDefinition,
  ScheduleEdit,
  TickDone,
  TickOutcome,
} from "./core/flow/schedule-types.ts";
export {
  type BackfillRange,
  type BackfillReport,
  type NextOptions,
  type ScheduleAct,
  type ScheduleInput,
  Schedules,
} from "./core/flow/schedules.ts";
export type { ContentItem, ContentVerdict, Quarantined } from "./core/guards/content.ts";
export type { Ids } from "./core/ids.ts";
export type { Act } from "./core/journal/act.ts";
export { type Address, parseAddress } from "./core/journal/address.ts";
export type { Foreseen } from "./core/journal/ancestry.ts";
export type { EventKind, EventMeta, JournalEvent } from "./core/journal/events.ts";
export type { Preview } from "./core/journal/values.ts";
export type {
  AuditEntry,
  AuditPage,
  AuditQuery,
} from "./core/manage/audit/acts.ts";
export {
  Audit,
  type AuditAnchored,
  type AuditHead,
  type AuditHealth,
  type AuditVerifyOptions,
  type RunProof,
} from "./core/manage/audit/audit.ts";
export type { AuditExportOptions } from "./core/manage/audit/export-log.ts";
export { checkCheckpointJson } from "./core/manage/checkpoints/check-format.ts";
export { checkpointToJson } from "./core/manage/checkpoints/checkpoint-format.ts";
export type {
  Checkpoint,
  CheckpointMetrics,
  CheckpointUsage,
  DecisionMade,
  Failure,
  Iterations,
} from "./core/manage/checkpoints/checkpoint-view.ts";
export { type CheckpointItem, Checkpoints } from "./core/manage/checkpoints/checkpoints.ts";
export type {
  Conversation,
  ConversationMessage,
  ConversationQuery,
} from "./core/manage/checkpoints/conversation.ts";
export type { Change, CheckpointDiff, PatchOperation, StateDelta } from "./core/manage/checkpoints/diff.ts";
export { diffToText } from "./core/manage/checkpoints/diff-text.ts";
export type { StepEnded, TaskDone } from "./core/manage/checkpoints/ended-steps.ts";
export { checkpointToFlow, type FlowCheckpoint } from "./core/manage/checkpoints/flow-format.ts";
export type { Problem, ProblemKind } from "./core/manage/checkpoints/problem.ts";
export type { Progress, StepUnderWay } from "./core/manage/checkpoints/progress.ts";
export type { PreviewOptions, Previews, StatePreview } from "./core/manage/checkpoints/state-preview.ts";
export type { Validation } from "./core/manage/checkpoints/validate.ts";
export { type Drill, drillOf } from "./core/manage/evidence/drill.ts";
export { type EvidenceFile, type EvidenceFormat, evidenceFile } from "./core/manage/evidence/files.ts";
export type {
  Artefact,
  CapacityArtefact,
  Evidence,
  EvidenceQuery,
  Growth,
  TrailArtefact,
  TrailOfRun,
} from "./core/manage/evidence/types.ts";
export type { ForkOptions } from "./core/manage/fork/fork.ts";
export type { ForeseenCall, ForeseenChild, ForkPreview } from "./core/manage/fork/fork-preview.ts";
export {
  type MigrationQuery,
  type MigrationReport,
  Migrations,
  type RunMigration,
} from "./core/manage/migrations.ts";
export type { Outlook } from "./core/manage/migrations-outlook.ts";
export type {
  Approval,
  Changed,
  ContentReview,
  DoubtfulStep,
  NextStep,
  NextWait,
  PlanOptions,
  ResumePlan,
  Reuse,
  Treatment,
  View,
} from "./core/manage/plan/plan-types.ts";
export type { Replay, ReplayOptions } from "./core/manage/replay/replay-run.ts";
export type { ReplayedStep, StopPoint } from "./core/manage/replay/replay-watch.ts";
export type { ActLine } from "./core/manage/reports/act-page.ts";
export type { CapacityDay, CapacityReport, Stored } from "./core/manage/reports/capacity.ts";
export type {
  EffectConcern,
  EffectFinding,
  EffectReport,
  EffectRoot,
} from "./core/manage/reports/effects.ts";
export type { Lineage, Relative } from "./core/manage/reports/lineage.ts";
export type { LookedAt, ReportQuery } from "./core/manage/reports/period.ts";
export type { RunProgress } from "./core/manage/reports/progress-of.ts";
export type {
  Interrupted,
  RecoveryIncident,
  RecoveryReport,
  RecoveryResult,
} from "./core/manage/reports/recoveries.ts";
export { type Objective, type Reliability, reliabilityOf } from "./core/manage/reports/reliability.ts";
export { Reports } from "./core/manage/reports/reports.ts";
export type {
  AttemptDetail,
  AttemptError,
  StepDetail,
  StepValues,
} from "./core/manage/reports/step-detail.ts";
export type { AuditTrail, TrailActor, TrailLine } from "./core/manage/reports/trail.ts";
export type { EffectAudit, PossibleDuplicate } from "./core/manage/restart/audit.ts";
export type { Restarted, RestartOptions, Restarts } from "./core/manage/restart/restarts.ts";
export type { Archive, ArchiveBundle } from "./core/manage/retention/archive.ts";
export { archiveInto } from "./core/manage/retention/archives.ts";
export type { DeleteOptions, DeleteReport } from "./core/manage/retention/delete.ts";
export type { Tombstone } from "./core/manage/retention/erase.ts";
export type {
  Duration,
  RetentionOptions,
  RetentionPreset,
  RetentionRules,
} from "./core/manage/retention/policy.ts";
export type {
  RetentionReason,
  RetentionReport,
  RetentionRun,
  RetentionSkip,
} from "./core/manage/retention/report.ts";
export { Retention } from "./core/manage/retention/retention.ts";
export type { CountQuery, RunCounts } from "./core/manage/status/count-runs.ts";
export type { Excluded, RunSearch } from "./core/manage/status/find-runs.ts";
export type { Need, NeedKind, NeedsPage, NeedsQuery } from "./core/manage/status/needs-you.ts";
export type { RunReport } from "./core/manage/status/run-status.ts";
export { type Stall, stallOf } from "./core/manage/status/stalled.ts";
export {
  describeRun,
  type Possible,
  type RunDetails,
  type RunSentence,
} from "./core/manage/status/status.ts";
export { type RunStream, RunStreams, type StreamPart } from "./core/manage/streams/streams.ts";
export type { AcceptOptions, ImportReview } from "./core/manage/transfer/review.ts";
export {
  type ExportOptions,
  type ImportOptions,
  type ImportReport,
  Transfer,
} from "./core/manage/transfer/transfer.ts";
export { type SavedView, type ViewAct, type ViewPage, type ViewQuery, Views } from "./core/manage/views.ts";
export type { CheckpointStrategy, CheckpointTrigger, SaveEvery, Triggers } from "./core/options.ts";
export type {
  AgentJson,
  CheckpointJson,
  ConfidenceJson,
  DecisionJson,
  MetricsJson,
  OutputJson,
} from "./core/phase-checkpoint.ts";
export type { Point, Probe } from "./core/ports.ts";
export type { QueueOptions } from "./core/queue-options.ts";
export type { LimitOption, LimitUse, RateLimit } from "./core/rate-limit.ts";
export type {
  CatchUp,
  Moment,
  Overlap,
  ScheduledStart,
  ScheduleOptions,
} from "./core/schedule-options.ts";
export type { WriteTimes } from "./core/store/write-times.ts";
export type { ReadStreamOptions, StreamOptions, StreamPiece, StreamWriter } from "./core/streams.ts";
export type { Edits, EffectPolicy, Origin, StateView } from "./core/types.ts";
export type { Redaction } from "./core/values/redact.ts";
export type { RedactionPattern } from "./core/values/redact-pattern.ts";
export type { SecretProvider, SecretRef } from "./core/values/secrets.ts";
export type { EngineEventOf } from "./core/worker/event-types.ts";
export type { Health, UnsavedRun } from "./core/worker/health.ts";
export {
  type ListedWorker,
  type ServedWorkflow,
  type WorkerRecord,
  WorkerRegistry,
} from "./core/worker/registry.ts";
