import type { StepCall, StepHandle, StepOptions } from "../../context.ts";
import type { EventDraft } from "../../journal/events.ts";
import type { AnySqlHandle, SqlWork } from "../../journal/sql.ts";
import { argsDigest } from "../../run/call.ts";
import { Execution, never } from "../../run/execution.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import type { RunState } from "../../run/replay.ts";
import { RunContext } from "../../run/run-context.ts";
import { address, type Frame, type Scope } from "../../run/scope.ts";
import { recordedValue } from "../../run/steps.ts";
import type { RunRow, Waiting } from "../../types.ts";
import type { Workflow } from "../../workflow.ts";
import type { Watch } from "./replay-watch.ts";

/** An execution that stops wherever another one would act. */
export class ReplayExecution extends Execution {
  readonly #watch: Watch;

  constructor(deps: ExecutionDeps, workflow: Workflow, row: RunRow, state: RunState, watch: Watch) {
    super(deps, workflow, row, state, Number.MAX_SAFE_INTEGER);
    this.#watch = watch;
  }

  override intent(event: EventDraft, frame: Frame | undefined): Promise<boolean> {
    if (event.kind === "step_started") {
      const { type, effect, attempt } = event.meta;
      this.#watch.stopped({ step: event.step, action: "start", type, effect, attempt });
    }
    return this.#stop(event.step, frame);
  }

  /** Nobody decides anything here: not even that a time has passed. */
  override async contest(event: EventDraft): Promise<boolean> {
    const { step } = event;
    const isDoubt = event.kind === "step_in_doubt";
    if (isDoubt) this.#watch.doubts.set(step, await this.deps.values.decode(this.runId, event.data));
    const type = this.state.find(step)?.type ?? "call";
    const what = type === "call" || type === "transaction" ? "decision" : type;
    this.#watch.stopped({ step, action: "wait", for: isDoubt ? "decision" : what });
    return this.#stop(step, undefined);
  }

  override wait(key: string, waiting: Waiting, frame: Frame | undefined): Promise<void> {
    const { kind, step, since, until } = waiting;
    this.#watch.stopped({ step, action: "wait", for: kind, ...(until === undefined ? {} : { until }) });
    return super.wait(key, { kind, step, since }, frame);
  }

  async #stop(step: string, frame: Frame | undefined): Promise<never> {
    this.memory.live();
    await super.wait(step, { kind: "review", step, since: 0 }, frame);
    return never();
  }
}

/** The key that the next call of this name will have. */
function nextKey(scope: Scope, name: string): string {
  const count = (scope.counts.get(name) ?? 0) + 1;
  return scope.prefix + (count === 1 ? name : `${name}#${count}`);
}

/** `ctx` without what reaches outside. */
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

  /** The hooks are taken away: they would reach outside. */
  #without<T>(name: string, options: StepOptions<T> = {}): StepOptions<T> {
    const { verify, ...rest } = options;
    const { input } = options;
    const key = nextKey(this.#execution.scope(), name);
    this.#watch.asked.set(key, {
      input,
      args: argsDigest(this.#execution, options),
      hasVerify: verify !== undefined,
    });
    return rest;
  }

  override async sleep(name: string, ms: number): Promise<void> {
    const key = nextKey(this.#execution.scope(), name);
    await super.sleep(name, ms);
    this.#watch.answered(key, undefined);
  }

  override async transaction<T, S extends AnySqlHandle>(name: string, _work: SqlWork<T, S>): Promise<T> {
    const execution = this.#execution;
    const scope = execution.scope();
    const place = address(scope, name);
    await execution.enter();
    const record = scope.node?.records.get(place.name);
    if (record?.status === "completed") return (await recordedValue(execution, place.key, record)) as T;
    if (!record) await execution.code?.hold({ scope, ...place });
    const meta = {
      type: "transaction",
      effect: "once",
      attempt: (record?.attempt ?? 0) + 1,
      call: 1,
    } as const;
    await execution.intent({ kind: "step_started", step: place.key, meta }, scope.frame);
    return never();
  }
}
