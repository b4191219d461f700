export type { Migration } from "./core/changes/versions.ts";
export type { Clock } from "./core/clock.ts";
export type {
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
  ReceivedSignal,
  Settled,
  SignalOptions,
  StepCall,
  StepHandle,
  StepOptions,
  TransactionOptions,
  UsageReport,
  Verdict,
} from "./core/context.ts";
export type { CancelOptions, PauseOptions, ResumeOptions } from "./core/control/control.ts";
export type { Answer, OpenGate, Resolution } from "./core/control/decisions.ts";
export { createEngine, Engine } from "./core/engine.ts";
export type { EngineOptions, Run, StartOptions } from "./core/engine-options.ts";
export { type ErrorCode, explainError, HoldfastError } from "./core/errors.ts";
export { type ContentCheck, type ContentVerdict, isQuarantined } from "./core/guards/content.ts";
export type { Policy, PolicyRequest, PolicyVerdict } from "./core/guards/policy.ts";
export type { RetentionPolicy } from "./core/manage/retention/policy.ts";
export type { Logger } from "./core/ports.ts";
export type { RetryPolicy } from "./core/run/retry.ts";
export type { Store } from "./core/store/contract.ts";
export type { SqlHandle } from "./core/store/sql.ts";
export type { Budget, Effect, RunStatus, Usage, Waiting, WaitKind } from "./core/types.ts";
export { secret } from "./core/values/secrets.ts";
export type { EngineEvent, EngineEventType } from "./core/worker/emitter.ts";
export type { RecoveryOptions } from "./core/worker/recovery.ts";
export { type Workflow, type WorkflowBody, type WorkflowOptions, workflow } from "./core/workflow.ts";
