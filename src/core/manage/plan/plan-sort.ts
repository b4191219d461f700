import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import type { StepRecord } from "../../journal/records.ts";
import type { RunState } from "../../journal/state.ts";
import { approvalOf, isInside } from "../../keys.ts";
import type { ExecutionDeps } from "../../run/execution-deps.ts";
import { provesNotDone } from "../../run/failures.ts";
import type { Met } from "../replay/replay-run.ts";
import type { StopPoint } from "../replay/replay-watch.ts";
import { again, byRecord, isUnknown } from "./plan-doubts.ts";
import type { DoubtfulStep, NextStep, NextWait, Treatment } from "./plan-types.ts";

interface Replayed {
  readonly met: Met;
  /** As they were before the replay. */
  readonly records: ReadonlyMap<string, StepRecord>;
  readonly state: RunState;
}

/** Sorts the places where a replay stopped by their meaning. */
export class Sorting {
  readonly #deps: ExecutionDeps;
  readonly #runId: string;
  readonly #met: Met;
  readonly #records: ReadonlyMap<string, StepRecord>;
  readonly #state: RunState;
  readonly #inDoubt: DoubtfulStep[] = [];
  readonly #runs: NextStep[] = [];
  readonly #waits: NextWait[] = [];

  constructor(deps: ExecutionDeps, runId: string, { met, records, state }: Replayed) {
    this.#deps = deps;
    this.#runId = runId;
    this.#met = met;
    this.#records = records;
    this.#state = state;
  }

  async sorted(): Promise<{ inDoubt: DoubtfulStep[]; runs: NextStep[]; waits: NextWait[] }> {
    for (const { step, intent, became } of this.#met.uncalled) {
      const { type, effect, attempt } = intent;
      if (became !== "refused") this.#runs.push({ step, type, effect, attempt, instead: became });
    }
    for (const stop of this.#met.stoppedAt) this.#sort(stop);
    await this.#inside();
    return { inDoubt: this.#inDoubt, runs: this.#runs, waits: this.#waits };
  }

  #sort(stop: StopPoint): void {
    const { step } = stop;
    const known = this.#records.get(step);
    const record = known && isUnknown(known) ? known : undefined;
    if (stop.action === "wait") {
      const { until } = stop;
      this.#waits.push({ step, for: stop.for, ...defined({ until }) });
      if (stop.for === "retry") this.#retried(step, until);
    }
    const approved = approvalOf(step)?.step;
    if (approved !== undefined) return this.#asked(approved);
    if (record && (record.status !== "failed" || isDecision(stop))) {
      const { effect, attempt } = record;
      this.#inDoubt.push({ step, effect, attempt, treatment: treatment(this.#met, stop, record) });
    } else if (stop.action === "start") {
      const { type, effect, attempt } = stop;
      this.#runs.push({ step, type, effect, attempt });
    }
  }

  /** A call that a person is asked about first. */
  #asked(step: string): void {
    const intent = this.#met.intents.get(step);
    if (!intent) return;
    const { type, effect, attempt } = intent;
    const known = this.#records.get(step);
    if (known && known.status !== "failed" && isUnknown(known))
      this.#inDoubt.push({ step, effect, attempt: known.attempt, treatment: again(effect) });
    const { hasSimulate = false } = this.#met.asked.get(step) ?? {};
    const isSimulated = hasSimulate && this.#state.facts.fork?.effects === "simulate";
    this.#runs.push({ step, type, effect, attempt, instead: isSimulated ? "simulated" : "asked" });
  }

  #retried(step: string, at: number | undefined): void {
    const { type, effect, attempt } = this.#records.get(step) as StepRecord;
    this.#runs.push({ step, type, effect, attempt: attempt + 1, ...defined({ at }) });
  }

  /**
   * Handles calls inside a step that is called again: its function isn't run here, but it will reach what it had begun.
   */
  async #inside(): Promise<void> {
    const again = this.#met.stoppedAt.filter(({ action }) => action === "start").map(({ step }) => step);
    for (const [step, record] of this.#records) {
      if (!again.some((outer) => isInside(step, outer))) continue;
      const { type, effect, attempt, status, reopened, retryAt } = record;
      if (retryAt !== undefined) this.#retried(step, retryAt);
      else if (status === "failed" && reopened && (await this.#isFree(record)))
        this.#runs.push({ step, type, effect, attempt: attempt + 1 });
      else if (isUnknown(record)) this.#inDoubt.push(byRecord(step, record));
    }
  }

  /** True when a failed step may be retried without asking a person. */
  async #isFree(record: StepRecord): Promise<boolean> {
    if (record.effect !== "once") return true;
    return provesNotDone(await this.#deps.values.of(this.#runId, record), record);
  }
}

const isDecision = (stop: StopPoint): boolean => stop.action === "wait" && stop.for === "decision";

function treatment({ asked, doubts }: Met, stop: StopPoint, { effect }: StepRecord): Treatment {
  if (!isDecision(stop)) return again(effect);
  const doubt = doubts.get(stop.step);
  // Different arguments are a person's decision: no hook is called.
  if (doubt === undefined || HoldfastError.is(doubt, "HF-2104")) return "asked of a person";
  return asked.get(stop.step)?.hasVerify ? "verify hook asked first" : "asked of a person";
}
