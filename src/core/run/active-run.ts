import type { Memory } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import type { CodeGuard } from "../guards/code.ts";
import type { Guard } from "../guards/guard.ts";
import type { Inspector } from "../guards/inspector.ts";
import type { GuardedRun } from "../guards/port.ts";
import type { EventDraft, JournalEvent } from "../journal/events.ts";
import type { IntentParts } from "../journal/pending-event.ts";
import type { RunWriter } from "../journal/writer.ts";
import type { Logger } from "../logger.ts";
import type { Blob } from "../store/contract.ts";
import type { RunRow, Waiting } from "../types.ts";
import type { Aborts } from "./aborts.ts";
import type { Blame } from "./blame.ts";
import type { Calls } from "./calls.ts";
import type { ExecutionDeps } from "./execution-deps.ts";
import type { Frame, Scope } from "./scope.ts";

/** How a process's work on a run ended. `stopped`: fenced, or the store stayed down. */
export type ExecutionEnd = "completed" | "failed" | "waiting" | "paused" | "cancelled" | "stopped";

/** Never settles: returned to calls when this process may not continue the run. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/**
 * What a call of ctx gets after the work here has ended. A body that has returned can't be asking: whoever kept its ctx
 * is warned, and not thrown at, because an error that nobody catches would end the process.
 */
export function closed<T>({ id, status }: Pick<RunRow, "id" | "status">, logger: Logger): Promise<T> {
  const { code, message } = new HoldfastError("HF-1009");
  if (status === "completed") logger.warn(message, { runId: id, code });
  return never();
}

/** A run that this process is advancing, as the verbs of `ctx` see it. {@link Execution} implements it. */
export interface ActiveRun extends GuardedRun {
  readonly deps: ExecutionDeps;
  readonly writer: RunWriter;
  readonly guards: readonly Guard[];
  readonly code: CodeGuard | undefined;
  readonly inspector: Inspector | undefined;
  readonly aborts: Aborts;
  readonly blamed: Blame;
  readonly calls: Calls;
  /** The undos of finished steps that this process has reached. */
  readonly undos: Map<string, (scope: Scope) => Promise<void>>;
  readonly config: Readonly<Record<string, unknown>>;
  compensating: boolean;
  /** True when the run is being undone in order to be cancelled. */
  cancelling: boolean;
  /** True when the workflow's function has returned or thrown. */
  readonly bodyEnded: boolean;
  readonly isWaiting: boolean;
  readonly isOpen: boolean;
  readonly closed: boolean;
  readonly rootScope: Scope;
  readonly memory: Memory & {
    /** Called when the run does something new: from here on memory is its own. */
    live(): void;
    /** Called when the body reaches what was decided at this position. */
    met(seq: number): void;
    replayUntil(seq: number): void;
    replayStep(key: string, seq: number): void;
  };
  scope(): Scope;
  within<R>(scope: Scope, body: () => R): R;
  enterNow(): void;
  idempotencyKey(step: string, call: number): string;
  intent(event: EventDraft, frame: Frame | undefined, more?: IntentParts): Promise<boolean>;
  record(event: EventDraft, blobs?: readonly Blob[], onDurable?: (event: JournalEvent) => void): void;
  contest(
    event: EventDraft,
    blobs?: readonly Blob[],
    overtakenBy?: (event: JournalEvent) => boolean,
  ): Promise<boolean>;
  decideUncalled(
    intent: EventDraft,
    outcome: EventDraft,
    blobs: readonly Blob[],
    frame: Frame | undefined,
  ): Promise<void>;
  callEnded(frame: Frame): void;
  wait(key: string, waiting: Waiting, frame: Frame | undefined): Promise<void>;
  dropWaits(): void;
  considerEnding(): void;
  finish(end: ExecutionEnd, event: EventDraft, blobs?: readonly Blob[]): void;
  detach(work: Promise<unknown>, what: string): void;
  parkForReview(problem: HoldfastError): void;
  giveUp(error: unknown): void;
}
