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
export type { Act, OpenGate, Resolution } from "./core/control.ts";
export type { EngineEvent, EngineEventOf, EngineEventType } from "./core/emitter.ts";
export { createEngine, Engine, type EngineOptions, type Run, type StartOptions } from "./core/engine.ts";
export { type ErrorCode, errorTable, explainError, HoldfastError } from "./core/errors.ts";
export type { EventKind, EventMeta, JournalEvent } from "./core/events.ts";
export type { Ids } from "./core/ids.ts";
export type { Logger, Point, Probe } from "./core/ports.ts";
export type { RetryPolicy } from "./core/retry.ts";
export type { Store, StoreCapabilities } from "./core/store.ts";
export type { Effect, RunStatus, Usage, Waiting, WaitKind } from "./core/types.ts";
export { type Workflow, type WorkflowBody, type WorkflowOptions, workflow } from "./core/workflow.ts";
