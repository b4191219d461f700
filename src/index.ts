export type { Clock } from "./core/clock.ts";
export type {
  Context,
  Decision,
  EachOptions,
  GateAnswer,
  GateOptions,
  LoopOptions,
  LoopTurn,
  Memory,
  ReceivedSignal,
  Settled,
  SignalOptions,
  StepCall,
  StepHandle,
  StepOptions,
  TransactionOptions,
  Verdict,
  Workflow,
  WorkflowBody,
  WorkflowOptions,
} from "./core/context.ts";
export type { CancelOptions, PauseOptions, ResumeOptions } from "./core/control/control.ts";
export type { Answer, OpenGate, Resolution } from "./core/control/decisions.ts";
export { createEngine, Engine } from "./core/engine/engine.ts";
export type { EngineOptions } from "./core/engine/options.ts";
export { RunHandle } from "./core/engine/run-handle.ts";
export { type ErrorCode, explainError, HoldfastError } from "./core/errors.ts";
export { schedule } from "./core/flow/declare.ts";
export { type ContentCheck, isQuarantined } from "./core/guards/content.ts";
export type { Policy, PolicyRequest, PolicyVerdict } from "./core/guards/policy.ts";
export type { Logger } from "./core/logger.ts";
export type { RetentionPolicy } from "./core/manage/retention/policy.ts";
export type { Migration } from "./core/migration.ts";
export type { RetryPolicy, StartOptions } from "./core/options.ts";
export type { SqlHandle } from "./core/sql.ts";
export type { StandardSchema } from "./core/standard-schema.ts";
export type { Store } from "./core/store/contract.ts";
export type { Budget, Effect, Run, RunStatus, Usage, Waiting, WaitKind } from "./core/types.ts";
export type { UsageReport } from "./core/usage.ts";
export { secret } from "./core/values/secrets.ts";
export type { EngineEvent, EngineEventType } from "./core/worker/event-types.ts";
export type { RecoveryOptions } from "./core/worker/recovery.ts";
export { workflow } from "./core/workflow.ts";
