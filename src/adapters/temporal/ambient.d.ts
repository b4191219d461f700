// The part of Temporal's workflow API that the sandbox uses. The package is an optional peer, which isn't installed where this is compiled.
declare module "@temporalio/workflow" {
  export interface WorkflowInfo {
    readonly workflowId: string;
    readonly runId: string;
    readonly taskQueue: string;
    readonly historyLength: number;
    readonly historySize: number;
    readonly continueAsNewSuggested: boolean;
    readonly memo?: Readonly<Record<string, unknown>>;
  }
  export function workflowInfo(): WorkflowInfo;
  export function setHandler(definition: { readonly name: string }, handler: unknown, options?: object): void;
  export function defineSignal(name: string): { readonly name: string };
  export function defineUpdate(name: string): { readonly name: string };
  export function defineQuery(name: string): { readonly name: string };
  export function condition(done: () => boolean): Promise<void>;
  export function condition(done: () => boolean, timeoutMs: number): Promise<boolean>;
  export function sleep(ms: number): Promise<void>;
  export function continueAsNew(...args: unknown[]): Promise<never>;
  export function makeContinueAsNewFunc(options: object): (...args: unknown[]) => Promise<never>;
  export function upsertMemo(memo: Readonly<Record<string, unknown>>): void;
  export function allHandlersFinished(): boolean;
  export function setCurrentDetails(text: string): void;
  export function scheduleActivity<T>(type: string, args: unknown[], options: object): Promise<T>;
  export function scheduleLocalActivity<T>(type: string, args: unknown[], options: object): Promise<T>;
  export class CancellationScope {
    run<T>(work: () => Promise<T>): Promise<T>;
    cancel(): void;
  }
  export class AsyncLocalStorage<T> {
    getStore(): T | undefined;
    run<R>(value: T, body: () => R): R;
  }
  export function proxySinks<T>(): T;
  export class TimeoutFailure extends Error {
    readonly timeoutType: string;
    readonly lastHeartbeatDetails?: unknown;
  }
  export class CancelledFailure extends Error {
    constructor(message: string);
  }
  export class ActivityFailure extends Error {}
  export class ApplicationFailure extends Error {
    readonly type?: string;
    readonly details?: unknown[];
    static nonRetryable(message: string, type?: string, ...details: unknown[]): ApplicationFailure;
  }
}

declare module "@temporalio/common" {
  export class DefaultFailureConverter {
    constructor(options: { readonly encodeCommonAttributes: boolean });
  }
}
