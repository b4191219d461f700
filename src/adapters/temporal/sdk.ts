import { loadPackage } from "../load-package.ts";

/**
 * The parts of Temporal's SDK that are used here. The packages are optional peers of hundreds of megabytes, so they are
 * loaded when somebody connects, and known by their shapes.
 */
export interface Handle {
  signal(name: string, ...args: unknown[]): Promise<void>;
  query(name: string, ...args: unknown[]): Promise<unknown>;
  describe(): Promise<Described>;
  result(): Promise<unknown>;
  terminate(reason?: string): Promise<unknown>;
}

export interface Described {
  readonly workflowId: string;
  readonly runId: string;
  readonly status: { readonly name: string };
  readonly memo?: Readonly<Record<string, unknown>>;
  readonly type: string;
}

export interface WorkflowStart {
  readonly workflowId: string;
  readonly taskQueue: string;
  readonly args: unknown[];
  readonly memo?: Readonly<Record<string, unknown>>;
  readonly workflowTaskTimeout?: number;
  readonly workflowIdReusePolicy: "ALLOW_DUPLICATE" | "ALLOW_DUPLICATE_FAILED_ONLY" | "REJECT_DUPLICATE";
  readonly workflowIdConflictPolicy: "FAIL" | "USE_EXISTING";
}

export interface WorkflowClient {
  start(type: string, options: WorkflowStart): Promise<{ readonly firstExecutionRunId: string }>;
  getHandle(workflowId: string, runId?: string): Handle;
  list(options: { readonly query: string; readonly pageSize?: number }): AsyncIterable<Described>;
}

interface ServiceCalls {
  resetStickyTaskQueue(request: {
    readonly namespace: string;
    readonly execution: { readonly workflowId: string };
  }): Promise<unknown>;
  describeNamespace(request: { readonly namespace: string }): Promise<unknown>;
  deleteWorkflowExecution(request: {
    readonly namespace: string;
    readonly workflowExecution: { readonly workflowId: string; readonly runId?: string };
  }): Promise<unknown>;
}

/** A connection of the client or of the worker: either can carry what is asked here. */
export interface Connection {
  readonly workflowService: ServiceCalls;
  withDeadline<T>(deadline: number | Date, work: () => Promise<T>): Promise<T>;
  withAbortSignal<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface AsyncCompletion {
  complete(taskToken: Uint8Array, result: unknown, options?: object): Promise<void>;
}

/** A value as it is sent. */
export interface Payload {
  readonly metadata?: Readonly<Record<string, Uint8Array>> | null;
  readonly data?: Uint8Array | null;
}

interface LoadedConverter {
  readonly payloadConverter: { toPayload(value: unknown): Payload };
  readonly payloadCodecs: readonly { encode(payloads: Payload[], place?: object): Promise<Payload[]> }[];
}

export interface Client {
  readonly workflow: WorkflowClient;
  readonly activity: AsyncCompletion;
  readonly workflowService: ServiceCalls;
  readonly options: { readonly loadedDataConverter: LoadedConverter };
}

interface ClientModule {
  readonly Client: new (options: object) => Client;
  readonly Connection: { connect(options: object): Promise<Connection> };
}

export interface TemporalWorkerHandle {
  run(): Promise<void>;
  shutdown(): void;
  getState(): string;
}

interface WorkerModule {
  readonly Worker: { create(options: object): Promise<TemporalWorkerHandle> };
  readonly NativeConnection: { connect(options: object): Promise<Connection> };
  readonly bundleWorkflowCode: (options: object) => Promise<{ readonly code: string }>;
  readonly Runtime: { install(options: object): unknown; instance(): unknown };
  readonly DefaultLogger: new (level: string, log?: (entry: LogEntry) => void) => unknown;
}

export interface LogEntry {
  readonly level: string;
  readonly message: string;
  readonly meta?: Readonly<Record<string, unknown>>;
}

interface ActivityModule {
  readonly Context: {
    current(): { readonly info: { readonly taskToken: Uint8Array }; heartbeat(): void };
  };
  readonly CompleteAsyncError: new () => Error;
}

const USER = "holdfast/adapters/temporal";

/** Named at run time, so that nothing looks for their types. */
const load = <T>(name: string): Promise<T> =>
  loadPackage(name, USER, () => import(/* @vite-ignore */ name) as Promise<T>);

export const loadClient = (): Promise<ClientModule> => load("@temporalio/client");
export const loadWorker = (): Promise<WorkerModule> => load("@temporalio/worker");
export const loadActivity = (): Promise<ActivityModule> => load("@temporalio/activity");
