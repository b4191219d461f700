import type { HoldfastError } from "./errors.ts";
import type { Migration } from "./migration.ts";
import type { CheckpointStrategy, CheckpointTrigger, RetryPolicy, SaveEvery } from "./options.ts";
import type { AnySqlHandle, SqlHandle, SqlWork } from "./sql.ts";
import type { Budget, Effect } from "./types.ts";
import type { SecretRef } from "./values/secrets.ts";

/**
 * What a workflow function is given. Everything it does through `ctx` is journaled under a stable name within its
 * scope; after a crash the function runs again from the top and each finished call answers from the journal.
 * Code between the calls runs again too, so effects belong inside steps.
 */
export interface Context {
  readonly runId: string;
  /** Raised when this process must stop working on the run. */
  readonly abortSignal: AbortSignal;
  /** What the run was given at its start (`config`), with the edits made since, as of the last time it was taken up. */
  readonly config: Readonly<Record<string, unknown>>;

  /** Runs `work` once and remembers its outcome. See {@link StepOptions} for effects, retries and time limits. */
  step<T>(name: string, work: (call: StepCall) => T | Promise<T>, options?: StepOptions<T>): Promise<T>;
  /** Whether the journal knows the next step of this name here, with these arguments: begun, ended or in doubt. Calls nothing. */
  isRecorded(name: string, input: unknown): boolean;
  /**
   * Goes on unless the next step of this name here has ended with other arguments than these: what it was called for was edited since.
   * Then the run waits for review, with `problem`, until somebody puts the arguments back or sets the step's result. Calls nothing.
   */
  settleArguments(name: string, input: unknown, problem: HoldfastError): Promise<void>;
  /** The primitive under `step`, for code that owns its control flow: its outcome if it has one, else the right to act. */
  beginStep<T>(name: string, options?: StepOptions<T>): Promise<StepHandle<T>>;
  completeStep<T>(handle: OpenStep<T>, value: T): Promise<T>;
  /** Records a failure. Answers a new handle when it is time to try again (or what became of it); throws when it is final. */
  failStep<T>(handle: OpenStep<T>, error: unknown): Promise<StepHandle<T>>;

  /** Runs `work` for each item; every item is saved when it ends, and only unfinished ones run again. */
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
  /** Runs branches side by side, each saved when it ends. */
  all<B extends Branches>(name: string, branches: B, options?: EachOptions): Promise<BranchResults<B>>;
  all<B extends Branches>(name: string, branches: B, options: SettledOptions): Promise<SettledResults<B>>;

  /**
   * The durable loop: `body` mutates a draft of the state, each iteration commits what changed, and a resumed run
   * goes on at the next iteration without replaying the finished ones. Ends with `turn.done()`.
   */
  loop<S extends object>(
    name: string,
    initial: S,
    body: (state: S, turn: LoopTurn) => LoopResult | Promise<LoopResult>,
    options?: LoopOptions,
  ): Promise<S>;

  /** The run's working memory: keyed values, part of every checkpoint. */
  readonly memory: Memory;

  /** Waits for a person. The answer is saved, and asked for again only when something else is shown than was answered. */
  gate(name: string, options: GateOptions): Promise<GateAnswer>;
  /** Waits, across crashes and deploys. */
  sleep(name: string, ms: number): Promise<void>;
  /** Waits for the first of the named signals; one that came before the wait counts. */
  signal<T = unknown>(name: string, options?: SignalOptions): Promise<ReceivedSignal<T>>;
  /**
   * What has come into the mailbox under a name and was not taken out yet, without waiting. Without a name: the context that people
   * have injected.
   */
  inbox<T = unknown>(name?: string): Promise<ReceivedSignal<T>[]>;
  /**
   * The context that people have injected behind a position, for every agent or for the one of this name. It stays in the mailbox for
   * the others. `isLast` is the last look before an answer: what was acknowledged before it is among what is found.
   */
  injected(agent: string, options: { readonly after: number; readonly isLast: boolean }): Promise<Injected>;
  /** The limits that hold for the run now: its own, and those of the runs above it. */
  limits(): Promise<Budget | undefined>;
  /** Starts another workflow as a run of its own and waits for its result. */
  child<I, O>(name: string, workflow: Workflow<I, O>, input: I): Promise<O>;
  /**
   * Writes through the store's own SQL transaction: the writes and the outcome commit together. SQL stores only. On SQLite `work` must
   * be done when it returns; on PostgreSQL and PGlite it may be asynchronous, and its handle is an {@link AsyncSqlHandle}.
   */
  transaction<T, S extends AnySqlHandle = SqlHandle>(
    name: string,
    work: SqlWork<T, S>,
    options?: TransactionOptions,
  ): Promise<T>;

  /**
   * The secret that a reference from `secret(name)` names, asked for now and stored nowhere: wherever it turns up in what is saved or
   * logged, `[redacted:name]` stands instead.
   */
  secret(ref: SecretRef): Promise<string>;

  /** Says which steps are to come in this place, by name: progress is measured against it. */
  plan(steps: readonly string[]): void;
  /** Records a choice: who, what, why, which alternatives, how sure. */
  decide(decision: Decision): void;
  /** Records how an agent stands. */
  agent(name: string, state: AgentState): void;
  /** Adds tokens and cost to the run, or to the step it is called in. */
  usage(usage: UsageReport): void;
  /** Marks a checkpoint by name and waits until it is durable. The trigger says why; by default `user_requested`. */
  checkpoint(label: string, trigger?: CheckpointTrigger): Promise<string>;

  /**
   * Waits until everything so far is durable. A step returns a moment before its outcome is; whoever blocks the event loop right after it,
   * or acts outside of steps, waits here first.
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

/** What a step's function is told about its call. */
export interface StepCall {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  /** Rises with every takeover of the run: receivers may refuse a lower one than they have seen. */
  readonly epoch: number;
  /** The idempotency key: the same on every attempt, on every machine, after every crash. */
  readonly key: string;
  /** Raised on time-out, cancel, or when another worker has taken the run over. */
  readonly signal: AbortSignal;
}

export interface StepOptions<T = unknown> {
  /** What may happen when the outcome is unknown after a crash. Default `repeatable`. */
  readonly effect?: Effect;
  /** Serialisable arguments. Their digest is recorded: a `keyed` call is never repeated with others. */
  readonly input?: unknown;
  /** `false` for none, a number of attempts, or a policy. Default: 3 attempts, none again for `once`. */
  readonly retry?: Partial<RetryPolicy> | number | false;
  readonly timeoutMs?: number;
  /** Return only when the outcome is durable, for one write more. Default: it travels with the next step's intent. */
  readonly flush?: boolean;
  /** `keyed`: how long the receiver remembers the key. Default 24 h; after that the step counts as `once`. */
  readonly keyWindowMs?: number;
  /**
   * `keyed`: what it means when the receiver objects to the key: 422, an error whose name or code says so, or `keyRejected: true` on
   * it; 409 once waiting for the call in flight has not helped; a failure that is repeated for this key (`idempotent-replayed`).
   * `ask` (the default): the outcome is unknown, and a person decides. `new-key`: the same, and they may have it called under another
   * key (not while a call is in flight). `fail`: a failure like any other.
   */
  readonly onKeyRejected?: "ask" | "new-key" | "fail";
  /** Asks the outside world what became of a call whose outcome is unknown. */
  readonly verify?: (call: StepCall) => Verdict<T> | Promise<Verdict<T>>;
  /** Answers instead of the call in a fork that simulates its effects and has nothing recorded to answer with. */
  readonly simulate?: (call: StepCall) => T | Promise<T>;
  /**
   * Undoes the step, in reverse order, when the run is cancelled with compensation. The undo is a step of its own, with the effect class,
   * the time limit and the key window of the step.
   */
  readonly compensate?: Undo<T> | UndoOptions<T>;
}

/** Undoes a step. It is given the value that the step returned. */
export type Undo<T> = (value: T, call: StepCall) => unknown;

/** How to undo a step, where its undo has a time limit or a way to look up its outcome of its own. */
export interface UndoOptions<T> {
  readonly undo: Undo<T>;
  /** Default: the time limit of the step. */
  readonly timeoutMs?: number;
  /** Asks the outside world what became of an undo whose outcome is unknown. */
  readonly verify?: (value: T, call: StepCall) => Verdict<unknown> | Promise<Verdict<unknown>>;
}

/** What a transaction says about itself: policies are asked with it, and approvals are bound to it. */
export type TransactionOptions = Pick<StepOptions, "input">;

export type Verdict<T> =
  | { readonly status: "done"; readonly value: T }
  | { readonly status: "not-done" | "unknown" };

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
export type Settled<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

interface GroupOptions extends Omit<StepOptions<never>, "verify" | "simulate" | "compensate" | "input"> {
  readonly concurrency?: number;
}

export interface EachOptions extends GroupOptions {
  /** The first failure stops the group: nothing new starts, running branches are told to abort. The default. */
  readonly failure?: "fail-fast";
}

export type SettledOptions =
  | (GroupOptions & { readonly failure: "continue" })
  /** Ends as soon as `quorum` branches have succeeded; fails when that has become impossible. */
  | (GroupOptions & { readonly failure: "quorum"; readonly quorum: number });

declare const loopDone: unique symbol;
export interface LoopDone {
  readonly [loopDone]: true;
}
// biome-ignore lint/suspicious/noConfusingVoidType: a body that just ends is the common case.
export type LoopResult = LoopDone | void;

export interface LoopTurn {
  readonly index: number;
  /** Return it to end the loop after this iteration. */
  done(): LoopDone;
}

export interface LoopOptions {
  readonly maxIterations?: number;
  /**
   * Save the state only every so many iterations, and at the end; see {@link SaveEvery}. Default: as the workflow or the engine says
   * (`checkpoint`), else 1. After a crash the loop goes on behind the last one that was saved: the bodies of later ones run again, and
   * finished steps inside them answer from the journal.
   */
  readonly every?: SaveEvery;
}

export interface Memory {
  get<T = unknown>(key: string): T | undefined;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  keys(): string[];
}

export interface GateOptions {
  /** What the person sees. The answer is bound to its digest: show recorded values, which are the same on every replay. */
  readonly show?: unknown;
  readonly choices: readonly string[];
  /** Whether free text may come with the choice. */
  readonly text?: boolean;
  readonly timeoutMs?: number;
  /** `fail` (the default), or the choice that counts as given. */
  readonly onTimeout?: "fail" | { readonly choice: string };
}

export interface GateAnswer {
  readonly choice: string;
  readonly text?: string;
  readonly actor: string;
  readonly at: number;
  readonly timedOut: boolean;
}

export interface SignalOptions {
  /** Further names: the first signal of any of them ends the wait. */
  readonly or?: readonly string[];
  readonly timeoutMs?: number;
}

export interface ReceivedSignal<T = unknown> {
  readonly name: string;
  readonly payload: T;
  readonly at: number;
}

/** What was found in the mailbox of injected context, and the position to look behind next time. */
export interface Injected {
  readonly messages: readonly ReceivedSignal[];
  readonly upTo: number;
}

export interface Decision {
  readonly description: string;
  readonly agent?: string;
  readonly type?: string;
  readonly rationale?: string;
  readonly alternatives?: readonly string[];
  readonly confidence?: number;
}

export interface AgentState {
  readonly status: string;
  readonly confidence?: number;
  readonly blockers?: readonly string[];
  readonly state?: unknown;
}

export interface UsageReport {
  readonly tokens?: number;
  readonly costUsd?: number;
  readonly model?: string;
}

export interface WorkflowOptions {
  /** Version of the code. Stored with every run; a run of another version is migrated, or waits. Default "1". */
  readonly version?: string;
  /** Version of the shape of loop states and memory. Default 1; a change needs a new `version` too. */
  readonly schema?: number;
  /** How runs of other versions become runs of this one; see {@link Migration}. */
  readonly migrations?: readonly Migration[];
  /** Undo what the run did, in reverse order, when it fails. Such a run cannot be resumed. */
  readonly compensateOnFailure?: boolean;
  /** What each of its runs may use up. Reaching a limit is a wait, which `resume` with a higher one ends. */
  readonly budget?: Budget;
  /** How often its loops save their state, where they do not say it themselves. Default: as the engine says. */
  readonly checkpoint?: CheckpointStrategy;
}

export type WorkflowBody<I, O> = (ctx: Context, input: I) => O | Promise<O>;

/** A named, versioned function whose runs survive crashes. */
export interface Workflow<I = unknown, O = unknown> {
  readonly name: string;
  readonly version: string;
  readonly schema: number;
  readonly migrations: readonly Migration[];
  readonly compensateOnFailure: boolean;
  readonly budget?: Budget | undefined;
  readonly checkpoint?: CheckpointStrategy | undefined;
  // A method, so that workflows of any input fit into one list.
  body(ctx: Context, input: I): O | Promise<O>;
}
