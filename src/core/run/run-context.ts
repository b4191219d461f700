import type {
  AgentState,
  Branches,
  CheckpointOptions,
  Context,
  Decision,
  EachOptions,
  GateOptions,
  Injected,
  LoopOptions,
  LoopResult,
  LoopTurn,
  Memory,
  OpenStep,
  ReceivedSignal,
  RecordedStep,
  SettledOptions,
  SignalOptions,
  StepCall,
  StepHandle,
  StepOptions,
  TransactionOptions,
  Workflow,
} from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { limitsOf } from "../guards/budget.ts";
import { settleArguments } from "../guards/code-arguments.ts";
import { isOtherKind, type Kind, settleKind } from "../guards/code-kind.ts";
import { met } from "../guards/code-unasked.ts";
import { argsDigest } from "../guards/subject.ts";
import { countedName, isOwnName, signalStep } from "../keys.ts";
import type { Logger } from "../logger.ts";
import { memoryPeakMb } from "../memory-peak.ts";
import { checkName, checkSignal, INJECT } from "../names.ts";
import type { CheckpointTrigger, ChildOptions } from "../options.ts";
import { listPrice, type ModelPrice } from "../prices.ts";
import type { AnySqlHandle, SqlWork } from "../sql.ts";
import type { StreamOptions, StreamWriter } from "../streams.ts";
import type { Budget } from "../types.ts";
import type { RunMetrics, UsageReport } from "../usage.ts";
import { resolveSecret, type SecretRef } from "../values/secrets.ts";
import { type CallSite, callSite } from "../values/stack.ts";
import type { ActiveRun } from "./active-run.ts";
import { asked, opened, Request } from "./asked.ts";
import type { StepPlace } from "./call.ts";
import {
  checkAgentState,
  checkBranches,
  checkChildOptions,
  checkDecision,
  checkGroupOptions,
  checkItems,
  checkLoop,
  checkPlan,
  checkSignalOptions,
  checkStepOptions,
  checkTransaction,
  checkUsage,
  checkWork,
} from "./call-options.ts";
import { gate } from "./gate.ts";
import { all, each } from "./groups.ts";
import { inbox, injected } from "./inbox.ts";
import { runLog } from "./log.ts";
import { loop } from "./loop.ts";
import { isNewStep, NewStep } from "./new-step.ts";
import { agent, checkpoint, decide, now, plan, random, usage, uuid } from "./notes.ts";
import { address, nextName } from "./scope.ts";
import { signal } from "./signal.ts";
import { beginStep, completeStep, failStep, runStep } from "./steps.ts";
import { streamsOf } from "./streams.ts";
import { transaction } from "./transaction.ts";
import { child, sleep } from "./waits.ts";

/** Runs from before this rule may have such a name, and go on with it. */
function refuseOwnName({ scope: { node }, name: unique }: StepPlace, name: string): void {
  if (!isOwnName(name) || node?.records.has(unique) || node?.loops.has(unique)) return;
  throw new HoldfastError("HF-1047", { name });
}

/** `ctx`: finds the scope of a call and passes it to the module that implements it. */
export class RunContext implements Context {
  readonly #execution: ActiveRun;
  readonly log: Logger;

  constructor(execution: ActiveRun) {
    this.#execution = execution;
    this.log = runLog(execution);
  }

  get runId(): string {
    return this.#execution.runId;
  }

  get abortSignal(): AbortSignal {
    return this.#execution.scope().abort;
  }

  get config(): Readonly<Record<string, unknown>> {
    return this.#execution.config;
  }

  get memory(): Memory {
    return this.#execution.memory;
  }

  /** The place of a call with this name. A promise only if the journal holds another kind under it. */
  protected place(name: string, kind: Kind, site?: CallSite): StepPlace | Promise<StepPlace> {
    const scope = this.#execution.scope();
    const place: StepPlace = { scope, ...address(scope, name), site };
    if (kind !== "signal") refuseOwnName(place, name);
    if (kind !== "group") this.#execution.code?.asked(place.key);
    // A group has no record of its own: its members have.
    if (kind !== "group") met(this.#execution, scope, place.name);
    return isOtherKind(this.#execution, place, kind) ? settleKind(this.#execution, place, kind) : place;
  }

  /** Tracks a request of the code, so that it isn't lost if nobody awaits it. */
  #asked<T>(name: string, work: (site: CallSite) => Promise<T>): Promise<T> {
    const scope = this.#execution.scope();
    const site = callSite();
    return asked(scope, scope.prefix + nextName(scope, name), work(site), { site });
  }

  step<T>(name: string, work: (call: StepCall) => T | Promise<T>, options?: StepOptions<T>): Promise<T> {
    try {
      // Not an async function: this saves a promise for every step of a long replay.
      const place = this.place(name, "call");
      if (place instanceof Promise)
        return this.#asked(name, async (site) => {
          checkWork(work);
          checkStepOptions(options);
          return runStep(this.#execution, { ...(await place), site }, work, options);
        });
      const { scope, name: unique, key } = place;
      const execution = this.#execution;
      if (scope.node?.records.get(unique)?.status === "completed")
        return runStep(execution, place, work, options);
      checkWork(work);
      checkStepOptions(options);
      if (!isNewStep(execution, place)) {
        const site = callSite();
        return asked(scope, key, runStep(execution, { scope, name: unique, key, site }, work, options), {
          site,
        });
      }
      // A time limit fails with an error of our own, which has no place, and nobody may be awaiting the step itself.
      const request = new Request<T>(scope, key, options?.timeoutMs === undefined ? undefined : callSite());
      const { site, answer } = request;
      new NewStep(execution, { scope, name: unique, key, site }, work, options, request).begin();
      return answer;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  isRecorded(name: string, input: unknown): boolean {
    const scope = this.#execution.scope();
    const record = scope.node?.records.get(nextName(scope, name));
    return record !== undefined && record.args === argsDigest(this.#execution, { input });
  }

  recorded(name: string): RecordedStep | undefined {
    const scope = this.#execution.scope();
    const count = Math.max(1, scope.counts.get(name) ?? 0);
    const record = scope.node?.records.get(countedName(name, count));
    return record && { status: record.status, attempts: record.attempt };
  }

  async settleArguments(name: string, input: unknown, problem: HoldfastError): Promise<void> {
    const scope = this.#execution.scope();
    const next = nextName(scope, name);
    const place = { scope, name: next, key: scope.prefix + next };
    await settleArguments(this.#execution, place, input, problem);
  }

  async beginStep<T>(name: string, options?: StepOptions<T>): Promise<StepHandle<T>> {
    checkStepOptions(options);
    return opened(this.#execution, await beginStep(this.#execution, await this.place(name, "call"), options));
  }

  completeStep<T>(handle: OpenStep<T>, value: T): Promise<T> {
    return completeStep(this.#execution, handle, value);
  }

  async failStep<T>(handle: OpenStep<T>, error: unknown): Promise<StepHandle<T>> {
    return opened(this.#execution, await failStep(this.#execution, handle, error));
  }

  each<I>(
    name: string,
    items: readonly I[],
    work: (item: I, index: number, call: StepCall) => unknown,
    options: EachOptions | SettledOptions = {},
  ): Promise<never> {
    return this.#asked(name, async (site) => {
      const place = await this.place(name, "group", site);
      checkItems(items);
      checkWork(work);
      checkGroupOptions(options);
      return (await each(this.#execution, place, items, work, options)) as never;
    });
  }

  all(name: string, branches: Branches, options: EachOptions | SettledOptions = {}): Promise<never> {
    return this.#asked(name, async (site) => {
      const place = await this.place(name, "group", site);
      checkBranches(branches);
      checkGroupOptions(options);
      return (await all(this.#execution, place, branches, options)) as never;
    });
  }

  loop<S extends object>(
    name: string,
    initial: S,
    body: (state: S, turn: LoopTurn) => LoopResult | Promise<LoopResult>,
    options: LoopOptions = {},
  ): Promise<S> {
    return this.#asked(name, async () => {
      const place = await this.place(name, "loop");
      checkLoop(initial, body, options);
      return loop(this.#execution, place, initial, body, options);
    });
  }

  gate<const C extends string>(name: string, options: GateOptions<C>): Promise<never> {
    return this.#asked(
      name,
      async () => (await gate(this.#execution, await this.place(name, "gate"), options)) as never,
    );
  }

  sleep(name: string, ms: number): Promise<void> {
    return this.#asked(name, async () => sleep(this.#execution, await this.place(name, "timer"), ms));
  }

  signal<T>(name: string, options: SignalOptions = {}): Promise<ReceivedSignal<T>> {
    return this.#asked(signalStep(name), async () => {
      checkSignalOptions(options);
      const names = [name, ...(options.or ?? [])];
      for (const one of names) checkSignal(one);
      return signal<T>(this.#execution, await this.place(signalStep(name), "signal"), names, options);
    });
  }

  async inbox<T>(name: string = INJECT): Promise<ReceivedSignal<T>[]> {
    checkSignal(name);
    return inbox<T>(this.#execution, name);
  }

  injected(agent: string, options: { readonly after: number; readonly isLast: boolean }): Promise<Injected> {
    return injected(this.#execution, agent, options);
  }

  limits(): Promise<Budget | undefined> {
    const { deps, writer } = this.#execution;
    return this.#execution.busy(limitsOf(deps.store, writer.row));
  }

  async price(...models: readonly string[]): Promise<ModelPrice | undefined> {
    const { deps } = this.#execution;
    return deps.prices ? this.#execution.busy(deps.prices.priceOf(models)) : listPrice(models);
  }

  child<I, O>(name: string, workflow: Workflow<I, O>, input: I, options: ChildOptions = {}): Promise<O> {
    const scope = this.#execution.scope();
    const key = scope.prefix + nextName(scope, name);
    let begun = (): void => undefined;
    // A child is a separate run: a function that doesn't await it may end first.
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const work = async (): Promise<O> => {
      const place = await this.place(name, "child");
      checkChildOptions(options);
      return child(this.#execution, place, { workflow, input, options, begun });
    };
    const running = work();
    const site = callSite();
    return asked(scope, key, running, { enough: Promise.race([isBegun, running]), site });
  }

  transaction<T, S extends AnySqlHandle>(
    name: string,
    work: SqlWork<T, S>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return this.#asked(name, async () => {
      const place = await this.place(name, "transaction");
      checkTransaction(work, options);
      return transaction(this.#execution, place, work, options);
    });
  }

  stream<T>(name: string, options?: StreamOptions): StreamWriter<T> {
    return streamsOf(this.#execution).writer<T>(name, options);
  }

  async secret(ref: SecretRef): Promise<string> {
    const { redactor, secrets } = this.#execution.deps.ports;
    return resolveSecret(secrets, redactor, ref);
  }

  plan(steps: readonly string[]): void {
    checkPlan(steps);
    for (const step of steps) checkName(step);
    plan(this.#execution, steps);
  }

  decide(decision: Decision): void {
    checkDecision(decision);
    decide(this.#execution, decision);
  }

  agent(name: string, state: AgentState): void {
    checkName(name);
    checkAgentState(state);
    agent(this.#execution, name, state);
  }

  metrics(): RunMetrics {
    const { state, writer, deps } = this.#execution;
    const { tokens, costUsd } = state.facts.usage;
    const elapsedMs = deps.time.now() - writer.row.createdAt;
    return { elapsedMs, calls: state.facts.calls, tokens, costUsd, memoryPeakMb: memoryPeakMb() };
  }

  usage(report: UsageReport): void {
    checkUsage(report);
    usage(this.#execution, report);
  }

  async checkpoint(label: string, how: CheckpointTrigger | CheckpointOptions = {}): Promise<string> {
    checkName(label);
    return checkpoint(this.#execution, label, how);
  }

  async flush(): Promise<void> {
    await this.#execution.enter();
    await this.#execution.writer.whenIdle();
    await this.#execution.enter();
  }

  now(): number {
    return now(this.#execution);
  }

  random(name = "random"): number {
    return random(this.#execution, name);
  }

  uuid(name = "uuid"): string {
    return uuid(this.#execution, name);
  }
}
