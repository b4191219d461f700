import type { HoldfastError } from "./errors.ts";
import type { Logger } from "./logger.ts";
import type { Migration } from "./migration.ts";
import type {
  CheckpointStrategy,
  CheckpointTrigger,
  ChildOptions,
  RetryPolicy,
  SaveEvery,
  StartDefaults,
  WorkflowTriggers,
} from "./options.ts";
import type { ModelPrice } from "./prices.ts";
import type { LimitOption } from "./rate-limit.ts";
import type { CheckpointRecord } from "./records.ts";
import type { ScheduleOptions } from "./schedule-options.ts";
import type { SeedSettings } from "./seed-config.ts";
import type { AnySqlHandle, SqlHandle, SqlWork } from "./sql.ts";
import type { OutputOf, Schemas, StandardSchema } from "./standard-schema.ts";
import type { StreamOptions, StreamWriter } from "./streams.ts";
import type { Budget, Effect } from "./types.ts";
import type { RunMetrics, UsageReport } from "./usage.ts";
import type { SecretRef } from "./values/secrets.ts";

/**
 * The argument of a workflow function. Everything it does through `ctx` is journaled under a stable name within its
 * scope; after a crash the function runs again from the top and each finished call returns its result from the journal.
 * Code between the calls runs again too, so effects belong inside steps.
 */
export interface Context extends BaseContext {
  /** The run's working memory: keyed values, part of every checkpoint. */
  readonly memory: Memory;
  /** Waits for the first of the named signals; one that arrived before the wait counts. */
  signal<T = unknown>(name: string, options?: SignalOptions): Promise<ReceivedSignal<T>>;
  /**
   * The unread messages in the mailbox under a name, without waiting. Without a name: the context that people have
   * injected.
   */
  inbox<T = unknown>(name?: string): Promise<ReceivedSignal<T>[]>;
}

/** What every workflow function gets, whether or not its workflow declares signals and memory. */
export interface BaseContext {
  readonly runId: string;
  /** Aborted when this process must stop working on the run. */
  readonly abortSignal: AbortSignal;
  /** The run's `config` from its start, with the edits made up to the last time it was taken up. */
  readonly config: Readonly<Record<string, unknown>>;

  /** Runs `work` once and remembers its outcome. See {@link StepOptions} for effects, retries and time limits. */
  step<T>(name: string, work: (call: StepCall) => T | Promise<T>, options?: StepOptions<T>): Promise<T>;
  /**
   * True when the journal has the next step of this name here with these arguments: begun, ended or in doubt. Calls
   * nothing.
   */
  isRecorded(name: string, input: unknown): boolean;
  /** The record of the latest step of this name here, or of the first one if none was asked for yet. */
  recorded(name: string): RecordedStep | undefined;
  /**
   * Returns unless the next step of this name here has ended with other arguments, because they were edited since. Then
   * the run waits for review, with `problem`, until a person restores the arguments or sets the step's result. Calls
   * nothing.
   */
  settleArguments(name: string, input: unknown, problem: HoldfastError): Promise<void>;
  /**
   * The primitive under `step`, for code that owns its control flow: returns the outcome if there is one, otherwise the
   * right to act.
   */
  beginStep<T>(name: string, options?: StepOptions<T>): Promise<StepHandle<T>>;
  completeStep<T>(handle: OpenStep<T>, value: T): Promise<T>;
  /**
   * Records a failure. Returns a new handle when it is time to try again (or the outcome, if there is one by then);
   * throws when the failure is final.
   */
  failStep<T>(handle: OpenStep<T>, error: unknown): Promise<StepHandle<T>>;

  /** Runs `work` for each item. Every item is saved when it ends, and only unfinished ones run again. */
  each<I, T>(
    name: string,
    items: readonly I[],
    work: (item: I, index: number, call: StepCall) => T | Promise<T>,
    options?: EachOptions,
  ): Promise<T[]>;
  each<I, T>(
    name: string,
    items: readonly I[],
    work: (item: I, index: number, call: StepCall) => T | Promise<T>,
    options: SettledOptions,
  ): Promise<Settled<T>[]>;
  /** Runs branches in parallel and saves each when it ends. */
  all<B extends Branches>(name: string, branches: B, options?: EachOptions): Promise<BranchResults<B>>;
  all<B extends Branches>(name: string, branches: B, options: SettledOptions): Promise<SettledResults<B>>;

  /**
   * The durable loop: `body` changes a draft of the state, each iteration commits the changes, and a resumed run
   * continues at the next iteration without replaying the finished ones. Ends with `turn.done()`.
   */
  loop<S extends object>(
    name: string,
    initial: S,
    body: (state: S, turn: LoopTurn) => LoopResult | Promise<LoopResult>,
    options?: LoopOptions,
  ): Promise<S>;

  /**
   * Waits for a person. The answer is saved, and asked for again only when something else is shown, or when its data
   * doesn't match the schema.
   */
  gate<const C extends string, S extends StandardSchema>(
    name: string,
    options: GateOptions<C> & GateDataOptions<S>,
  ): Promise<DataAnswer<C, OutputOf<S>>>;
  gate<const C extends string>(name: string, options: GateOptions<C>): Promise<GateAnswer<C>>;
  /** Waits, across crashes and deploys. */
  sleep(name: string, ms: number): Promise<void>;
  /**
   * The context that people have injected after a position, for every agent or for the one with this name. It stays in
   * the mailbox for the others. `isLast` marks the last check before an answer: everything acknowledged before it is
   * included.
   */
  injected(agent: string, options: { readonly after: number; readonly isLast: boolean }): Promise<Injected>;
  /** The limits that apply to the run now: its own, and those of the runs above it. */
  limits(): Promise<Budget | undefined>;
  /** What calls cost now: the price of the first of these models that has one, in the store or the built-in list. */
  price(...models: readonly string[]): Promise<ModelPrice | undefined>;
  /**
   * Starts another workflow as a separate run and waits for its result. It has this run's labels, queue and priority,
   * unless `options` say otherwise.
   */
  child<I, O>(name: string, workflow: Workflow<I, O>, input: I, options?: ChildOptions): Promise<O>;
  /**
   * Writes through the store's own SQL transaction: the writes and the outcome are committed together. SQL stores only.
   * On SQLite `work` must be synchronous; on PostgreSQL and PGlite it may be asynchronous, and its handle is an
   * {@link AsyncSqlHandle}.
   */
  transaction<T, S extends AnySqlHandle = SqlHandle>(
    name: string,
    work: SqlWork<T, S>,
    options?: TransactionOptions,
  ): Promise<T>;

  /**
   * A stream that readers follow while the run continues, such as the tokens of an answer: `engine.streams.read`. After
   * a crash, a writer that writes the same again continues behind it; where it differs, readers get `restarted` and drop
   * the rest.
   */
  stream<T = unknown>(name: string, options?: StreamOptions): StreamWriter<T>;

  /**
   * The secret that a reference from `secret(name)` names, fetched now and never stored: wherever it appears in saved
   * or logged text, `[redacted:name]` replaces it.
   */
  secret(ref: SecretRef): Promise<string>;

  /**
   * Writes lines for people who read the run's log, with the ids of the run, the step and the attempt. They are no part
   * of the journal. A replay doesn't write them again; after a crash, those since the last saved step may come twice.
   */
  readonly log: Logger;

  /** Announces the steps to come at this place, by name. Progress is measured against it. */
  plan(steps: readonly string[]): void;
  /** Records a choice: who, what, why, which alternatives, how certain. */
  decide(decision: Decision): void;
  /** Records an agent's state. */
  agent(name: string, state: AgentState): void;
  /** The time, calls, tokens and memory used so far. Measured, not recorded: they may differ on a replay. */
  metrics(): RunMetrics;
  /** Adds tokens and cost to the run, or to the current step. */
  usage(usage: UsageReport): void;
  /**
   * Marks a checkpoint by name and waits until it is durable. The trigger gives the reason; default `user_requested`.
   * With a record, the checkpoint holds the record's values, and a store that keeps such tables writes the row (or the
   * file) in the same write.
   */
  checkpoint(label: string, how?: CheckpointTrigger | CheckpointOptions): Promise<string>;

  /**
   * Waits until everything so far is durable. A step returns a moment before its outcome is durable, so wait here
   * before blocking the event loop or acting outside of steps.
   *
   * @example
   * ```ts
   * import { workflow } from "holdfast";
   *
   * export const report = workflow("report", async (ctx) => {
   *   const rows = await ctx.step("load", () => [3, 1, 2]);
   *   await ctx.flush();
   *   return rows.sort();
   * });
   * ```
   */
  flush(): Promise<void>;

  /** The time, the same on every replay. */
  now(): number;
  /** A number in [0, 1), the same on every replay. */
  random(name?: string): number;
  /** A version 4 UUID, the same on every replay. */
  uuid(name?: string): string;
}

/** Describes a call to the step's function. */
export interface StepCall {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  /** Rises with every takeover of the run: receivers may refuse an epoch lower than the last one they saw. */
  readonly epoch: number;
  /** The idempotency key: the same on every attempt, on every machine, after every crash. */
  readonly key: string;
  /** Aborted on timeout, on cancel, or when another worker has taken over the run. */
  readonly signal: AbortSignal;
}

/** A step in the journal. */
export interface RecordedStep {
  readonly status: "started" | "completed" | "failed" | "in_doubt";
  readonly attempts: number;
}

/** Options of a step: its effect, retries, time limit, and how to look up or undo its outcome. */
export interface StepOptions<T = unknown> {
  /** What may happen when the outcome is unknown after a crash. Default `repeatable`. */
  readonly effect?: Effect;
  /** Serialisable arguments. Their digest is recorded: a `keyed` call is never repeated with others. */
  readonly input?: unknown;
  /** `false` for no retries, a number of attempts, or a policy. Default: 3 attempts, and a single one for `once`. */
  readonly retry?: Partial<RetryPolicy> | number | false;
  readonly timeoutMs?: number;
  /** The rate limits that each call of it uses; see {@link LimitUse}. It waits until they have room. */
  readonly limit?: LimitOption;
  /**
   * Returns only when the outcome is durable, at the cost of one more write. Default: the outcome is written with the
   * next step's intent.
   */
  readonly flush?: boolean;
  /** `keyed`: how long the receiver remembers the key. Default 24 h; after that the step counts as `once`. */
  readonly keyWindowMs?: number;
  /**
   * `keyed`: what to do when the receiver rejects the key: 422, an error whose name or code says so, or
   * `keyRejected: true` on it; 409 if waiting for the call in flight hasn't helped; a failure that is repeated for this
   * key (`idempotent-replayed`). `ask` (the default): the outcome is unknown, and a person decides. `new-key`: the same,
   * and the person may have it called under another key (not while a call is in flight). `fail`: a failure like any
   * other.
   */
  readonly onKeyRejected?: "ask" | "new-key" | "fail";
  /** Asks the outside world for the outcome of a call when it is unknown. */
  readonly verify?: (call: StepCall) => Verdict<T> | Promise<Verdict<T>>;
  /** Replaces the call in a fork that simulates effects and has no recorded result. */
  readonly simulate?: (call: StepCall) => T | Promise<T>;
  /**
   * Undoes the step, in reverse order, when the run is cancelled with compensation. The undo is its own step, with the
   * step's effect class, time limit and key window.
   */
  readonly compensate?: Undo<T> | UndoOptions<T>;
}

/** Undoes a step, given the value that the step returned. */
export type Undo<T> = (value: T, call: StepCall) => unknown;

/** Options of an undo that has its own time limit or outcome lookup. */
export interface UndoOptions<T> {
  readonly undo: Undo<T>;
  /** Default: the time limit of the step. */
  readonly timeoutMs?: number;
  /** Asks the outside world for the outcome of an undo when it is unknown. */
  readonly verify?: (value: T, call: StepCall) => Verdict<unknown> | Promise<Verdict<unknown>>;
}

/** Options of a transaction: policies receive `input`, and approvals are bound to it. */
export type TransactionOptions = Pick<StepOptions, "input">;

/** What a `verify` hook found out about a call. */
export type Verdict<T> =
  | { readonly status: "done"; readonly value: T }
  | { readonly status: "not-done" | "unknown" };

/** What `beginStep` returns: the outcome if there is one, else the right to act. */
export type StepHandle<T> = { readonly done: true; readonly value: T } | OpenStep<T>;

/** The right to act, held only in the memory of the process that wrote the intent. */
export interface OpenStep<T> extends StepCall {
  readonly done: false;
  readonly options: StepOptions<T>;
}

type Branch = (call: StepCall) => unknown;
export type Branches = readonly Branch[] | Readonly<Record<string, Branch>>;
export type BranchResults<B> = {
  -readonly [K in keyof B]: B[K] extends (call: StepCall) => infer R ? Awaited<R> : never;
};
export type SettledResults<B> = {
  -readonly [K in keyof B]: B[K] extends (call: StepCall) => infer R ? Settled<Awaited<R>> : never;
};
/** The outcome of one branch of a group that doesn't end with its first failure. */
export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

interface GroupOptions extends Omit<StepOptions<never>, "verify" | "simulate" | "compensate" | "input"> {
  readonly concurrency?: number;
}

/** Options of a group that ends with its first failure. */
export interface EachOptions extends GroupOptions {
  /** The first failure stops the group: nothing new starts, and running branches are aborted. The default. */
  readonly failure?: "fail-fast";
}

export type SettledOptions =
  | (GroupOptions & { readonly failure: "continue" })
  /** Ends as soon as `quorum` branches have succeeded; fails when that becomes impossible. */
  | (GroupOptions & { readonly failure: "quorum"; readonly quorum: number });

declare const loopDone: unique symbol;
export interface LoopDone {
  readonly [loopDone]: true;
}
// biome-ignore lint/suspicious/noConfusingVoidType: a body that just ends is the common case.
export type LoopResult = LoopDone | void;

/** The current iteration of a loop. */
export interface LoopTurn {
  readonly index: number;
  /** Return it to end the loop after this iteration. */
  done(): LoopDone;
}

/** Options of `ctx.loop`: how many iterations, and how often they are saved. */
export interface LoopOptions {
  readonly maxIterations?: number;
  /**
   * Saves the state only every few iterations, and at the end; see {@link SaveEvery}. Default: the workflow's or the
   * engine's `checkpoint`, otherwise 1. After a crash the loop continues after the last saved iteration: the bodies of
   * later ones run again, and finished steps inside them return from the journal.
   */
  readonly every?: SaveEvery;
}

/** The working memory of a run: keyed values, part of every checkpoint. */
export interface Memory {
  get<T = unknown>(key: string): T | undefined;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  keys(): string[];
}

/** What a gate shows, which choices it offers, and how long it waits. */
export interface GateOptions<C extends string = string> {
  /**
   * The content shown to the person. The answer is bound to its digest: show recorded values, which are the same on
   * every replay.
   */
  readonly show?: unknown;
  readonly choices: readonly C[];
  /** What each choice leads to, in a sentence, for whoever answers. */
  readonly means?: Readonly<Partial<Record<NoInfer<C>, string>>>;
  /** Allows free text with the choice. */
  readonly text?: boolean;
  readonly timeoutMs?: number;
  /** `fail` (the default), or the choice to assume. */
  readonly onTimeout?: "fail" | { readonly choice: NoInfer<C>; readonly data?: unknown };
  /** Two people are needed: whoever started or forked the run can't answer, and an answer must name who gives it. */
  readonly fourEyes?: boolean;
}

export interface GateDataOptions<S extends StandardSchema = StandardSchema> {
  /**
   * The schema of the data that an answer must carry, of any library that follows Standard Schema. Data that doesn't
   * match is refused when the answer is given, if this process has the run's code, and otherwise when the run reads it:
   * then the gate is asked again.
   */
  readonly data: S;
}

/** A person's answer at a gate, as the workflow gets it. */
export interface GateAnswer<C extends string = string> {
  readonly choice: C;
  readonly text?: string;
  /** The data of the answer, if the gate has a schema for it. */
  readonly data?: unknown;
  readonly actor: string;
  readonly at: number;
  readonly timedOut: boolean;
}

/** The answer at a gate that has a schema for its data. */
export interface DataAnswer<C extends string, D> extends GateAnswer<C> {
  readonly data: D;
}

/** Options of `ctx.signal`: other names to wait for, and how long. */
export interface SignalOptions {
  /** Additional names: the first signal with any of them ends the wait. */
  readonly or?: readonly string[];
  readonly timeoutMs?: number;
}

/** A message that a run has received. */
export interface ReceivedSignal<T = unknown, N extends string = string> {
  readonly name: N;
  readonly payload: T;
  readonly at: number;
}

/** Messages from the mailbox of injected context, and the position to continue after. */
export interface Injected {
  readonly messages: readonly ReceivedSignal[];
  readonly upTo: number;
}

/** A recorded choice: who, what, why, which alternatives, how certain. */
export interface Decision {
  readonly description: string;
  readonly agent?: string;
  readonly type?: string;
  readonly rationale?: string;
  readonly alternatives?: readonly string[];
  readonly confidence?: number;
}

/** Options of `ctx.checkpoint`. */
export interface CheckpointOptions {
  /** Default `user_requested`. */
  readonly trigger?: CheckpointTrigger;
  /** A row for people and other programs; see {@link CheckpointRecord}. */
  readonly record?: CheckpointRecord;
}

export interface AgentState {
  /** Its role, such as `specialist`. */
  readonly type?: string;
  readonly status: string;
  readonly confidence?: number;
  readonly blockers?: readonly string[];
  readonly state?: unknown;
}

/** Options of a workflow. */
export interface WorkflowOptions {
  /** The version of the code. Stored with every run; a run of another version is migrated, or waits. Default "1". */
  readonly version?: string;
  /** The version of the shape of loop states and memory. Default 1; a change needs a new `version` too. */
  readonly schema?: number;
  /** How runs of other versions become runs of this one; see {@link Migration}. */
  readonly migrations?: readonly Migration[];
  /** Undoes the run's work, in reverse order, when it fails. Such a run can't be resumed. */
  readonly compensateOnFailure?: boolean;
  /** Limits of each run. A run that reaches one waits until `resume` raises it. */
  readonly budget?: Budget;
  /** How often its loops save their state, unless they set it themselves. Default: the engine's setting. */
  readonly checkpoint?: CheckpointStrategy;
  /** When its runs mark checkpoints automatically; `false`: never. Default: the engine's setting. */
  readonly triggers?: WorkflowTriggers | false;
  /** Workflows that its runs start with `ctx.child`. They are registered with it, so any worker can recover them. */
  readonly children?: readonly Workflow<never, unknown>[];
  /** Starts runs at set times. The schedule has the workflow's name; see {@link ScheduleOptions}. */
  readonly schedule?: ScheduleOptions;
}

/** The function of a workflow. */
export type WorkflowBody<I, O> = (ctx: Context, input: I) => O | Promise<O>;

/** A named, versioned function whose runs survive crashes. */
export interface Workflow<I = unknown, O = unknown, S extends Schemas = Schemas> {
  readonly name: string;
  readonly version: string;
  readonly schema: number;
  readonly migrations: readonly Migration[];
  readonly compensateOnFailure: boolean;
  readonly budget?: Budget | undefined;
  readonly checkpoint?: CheckpointStrategy | undefined;
  readonly triggers?: WorkflowTriggers | false | undefined;
  readonly children?: readonly Workflow<never, unknown>[] | undefined;
  readonly schedule?: ScheduleOptions | undefined;
  /** How its runs ask to be kept, for whoever opens engine and store for it: the command line does. */
  readonly settings?: SeedSettings | undefined;
  /** How a run with this input starts, where its caller says nothing: a workflow file may say so. */
  readonly starts?: ((input: unknown) => StartDefaults) | undefined;
  readonly input?: StandardSchema | undefined;
  /** Its body refuses a wrong input too, so a run may be started by its name where its code isn't. */
  readonly checksInBody?: boolean | undefined;
  readonly output?: StandardSchema | undefined;
  /** The signals that its runs take; `undefined`: any. */
  readonly signals?: S | undefined;
  /** The keys of its memory; `undefined`: any. */
  readonly memory?: Schemas | undefined;
  // A method, so that workflows of any input fit into one list.
  body(ctx: Context, input: I): O | Promise<O>;
}
