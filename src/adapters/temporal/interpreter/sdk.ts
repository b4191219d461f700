import { loadPackage } from "../../load-package.ts";

/**
 * The parts of Temporal's SDK that interpreted runs use. The packages are optional peers, so they are loaded when
 * somebody connects, and known by their shapes.
 */
export interface ActivityModule {
  readonly Context: {
    current(): { readonly cancellationSignal: AbortSignal; readonly heartbeat: () => void };
  };
  readonly ApplicationFailure: {
    create(options: {
      readonly message: string;
      readonly type: string;
      readonly nonRetryable: boolean;
      readonly details?: readonly unknown[];
    }): Error;
  };
}

export interface WorkflowHandle {
  readonly workflowId: string;
  result(): Promise<unknown>;
  query(name: string, ...args: unknown[]): Promise<unknown>;
  executeUpdate(
    name: string,
    options: { readonly args: readonly unknown[]; readonly updateId?: string },
  ): Promise<unknown>;
  describe(): Promise<{ readonly status: { readonly name: string }; readonly type: string }>;
  fetchHistory(): Promise<unknown>;
}

export interface Listed {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: { readonly name: string };
  readonly startTime: Date;
}

export interface WorkflowClient {
  start(type: string, options: object): Promise<WorkflowHandle>;
  getHandle(workflowId: string, runId?: string): WorkflowHandle;
  list(options: { readonly query: string }): AsyncIterable<Listed>;
}

export interface Connection {
  close(): Promise<void>;
}

export interface ClientModule {
  readonly Client: new (options: object) => { readonly workflow: WorkflowClient };
  readonly Connection: { connect(options: object): Promise<Connection> };
}

export interface WorkerHandle {
  run(): Promise<void>;
  shutdown(): void;
  getState(): string;
}

export interface ReplayResult {
  readonly workflowId: string;
  readonly runId: string;
  readonly error?: unknown;
}

export interface WorkerModule {
  readonly Worker: {
    create(options: object): Promise<WorkerHandle>;
    runReplayHistories(options: object, histories: AsyncIterable<unknown>): AsyncIterable<ReplayResult>;
  };
  readonly NativeConnection: { connect(options: object): Promise<Connection> };
  readonly bundleWorkflowCode: (options: object) => Promise<{ readonly code: string }>;
}

const USER = "holdfast/adapters/temporal/interpreter";

/** Named at run time, so that nothing looks for their types. */
const load = <T>(name: string): Promise<T> =>
  loadPackage(name, USER, () => import(/* @vite-ignore */ name) as Promise<T>);

export const loadClient = (): Promise<ClientModule> => load("@temporalio/client");
export const loadWorker = (): Promise<WorkerModule> => load("@temporalio/worker");
export const loadActivity = (): Promise<ActivityModule> => load("@temporalio/activity");
