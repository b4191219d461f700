import type { StepCall, StepHandle, StepOptions, TransactionOptions, Workflow } from "../../context.ts";
import { defined } from "../../defined.ts";
import type { Guard } from "../../guards/guard.ts";
import type { EventDraft } from "../../journal/events.ts";
import type { RunState } from "../../journal/state.ts";
import { countedName } from "../../keys.ts";
import { never } from "../../run/active-run.ts";
import { Execution } from "../../run/execution.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import { refuseInside } from "../../run/recorded.ts";
import { RunContext } from "../../run/run-context.ts";
import type { Frame, Scope } from "../../run/scope.ts";
import { beginTransaction } from "../../run/transaction.ts";
import type { AnySqlHandle, SqlWork } from "../../sql.ts";
import type { Blob } from "../../store/contract.ts";
import type { RunRow, Waiting } from "../../types.ts";
import type { SecretRef } from "../../values/secrets.ts";
import type { StopPoint, Watch } from "./replay-watch.ts";

/** An execution that stops wherever another one would act. */
export class ReplayExecution extends Execution {
  readonly #watch: Watch;
  readonly #foretells: boolean;

  /**
   * `foretells`: it continues from here like a worker, up to the first thing that reaches outside: elapsed times count.
   */
  constructor(
    deps: ExecutionDeps,
    workflow: Workflow,
    { row, state }: { readonly row: RunRow; readonly state: RunState },
    { watch, foretells }: { readonly watch: Watch; readonly foretells: boolean },
  ) {
    super(deps, workflow, row, state, Number.MAX_SAFE_INTEGER);
    this.#watch = watch;
    this.#foretells = foretells;
  }

  get foretells(): boolean {
    return this.#foretells;
  }

  override intent(event: EventDraft, frame: Frame | undefined): Promise<boolean> {
    if (event.kind === "step_started") {
      const { type, effect, attempt } = event.meta;
      this.#watch.stopped({ step: event.step, action: "start", type, effect, attempt });
    }
    return this.#stop(event.step, frame);
  }

  override decideUncalled(
    intent: EventDraft,
    outcome: EventDraft,
    blobs: readonly Blob[],
    frame: Frame | undefined,
  ): Promise<void> {
    if (intent.kind === "step_started") {
      const instead = outcome.kind === "step_completed" ? outcome.meta.instead : undefined;
      this.#watch.uncalled.push({ step: intent.step, intent: intent.meta, became: instead ?? "refused" });
    }
    return super.decideUncalled(intent, outcome, blobs, frame);
  }

  /** A replay decides nothing, not even that a time has passed. */
  override async contest(event: EventDraft, blobs: readonly Blob[] = []): Promise<boolean> {
    const { step } = event;
    const isDoubt = event.kind === "step_in_doubt";
    if (this.#foretells && !isDoubt) return super.contest(event, blobs);
    if (isDoubt) this.#watch.doubts.set(step, await this.deps.values.decode(this.runId, event.data));
    const type = this.state.find(step)?.type ?? "call";
    const what = type === "call" || type === "transaction" ? "decision" : type;
    this.#watch.stopped({ step, action: "wait", for: isDoubt ? "decision" : what });
    return this.#stop(step, undefined);
  }

  override async wait(key: string, waiting: Waiting, frame: Frame | undefined): Promise<void> {
    const { kind, step, since } = waiting;
    const stop = waitStop(waiting);
    this.#watch.stopped(stop);
    await super.wait(key, { kind, step, since }, frame);
    this.#watch.passed(stop);
  }

  async #stop(step: string, frame: Frame | undefined): Promise<never> {
    this.memory.live();
    await super.wait(step, { kind: "review", step, since: 0 }, frame);
    return never();
  }
}

/** A wait, as a place where a replay can't continue. */
export const waitStop = ({ kind, step, until, detail }: Waiting): StopPoint => ({
  step,
  action: "wait",
  for: kind,
  ...defined({ until }),
  ...(kind === "migration" && detail !== undefined ? { detail } : {}),
});

/** Records a call before any guard holds it back. */
export const notingGuard = ({ intents }: Watch): Guard => ({
  admit: ({ place, intent }) => void intents.set(place.key, intent),
});

/** The key of the next call of this name. */
function nextKey(scope: Scope, name: string): string {
  return scope.prefix + countedName(name, (scope.counts.get(name) ?? 0) + 1);
}

/** `ctx` without anything that reaches outside. */
export class ReplayContext extends RunContext {
  readonly #execution: ReplayExecution;
  readonly #watch: Watch;

  constructor(execution: ReplayExecution, watch: Watch) {
    super(execution);
    this.#execution = execution;
    this.#watch = watch;
  }

  override step<T>(
    name: string,
    work: (call: StepCall) => T | Promise<T>,
    options?: StepOptions<T>,
  ): Promise<T> {
    return super.step(name, work, this.#without(name, options));
  }

  override beginStep<T>(name: string, options?: StepOptions<T>): Promise<StepHandle<T>> {
    return super.beginStep(name, this.#without(name, options));
  }

  /** Removes the hooks, which would reach outside. */
  #without<T>(name: string, { verify, simulate, ...rest }: StepOptions<T> = {}): StepOptions<T> {
    const key = nextKey(this.#execution.scope(), name);
    this.#watch.asked.set(key, { hasVerify: verify !== undefined, hasSimulate: simulate !== undefined });
    return rest;
  }

  override async sleep(name: string, ms: number): Promise<void> {
    const key = nextKey(this.#execution.scope(), name);
    await super.sleep(name, ms);
    this.#watch.answered(key, undefined);
  }

  /** The secret provider is outside too. */
  override async secret(ref: SecretRef): Promise<string> {
    return this.#execution.foretells ? super.secret(ref) : `[redacted:${ref?.$secret}]`;
  }

  override async transaction<T, S extends AnySqlHandle>(
    name: string,
    _work: SqlWork<T, S>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const execution = this.#execution;
    const place = await this.place(name, "transaction");
    await execution.enter();
    refuseInside(place);
    const begun = await beginTransaction<T>(execution, place, options);
    if ("value" in begun) return begun.value;
    const event = { kind: "step_started", step: place.key, meta: begun.intent } as const;
    await execution.intent(event, place.scope.frame);
    return never();
  }
}
