import type { Raw, StepStarted, StepType } from "../../journal/events.ts";
import type { RunState } from "../../journal/state.ts";
import { Values } from "../../journal/values.ts";
import { groupOf, isApproval, isAtTop, isMember, isUndo, outerOf } from "../../keys.ts";
import { silentLogger } from "../../logger.ts";
import type { Store } from "../../store/contract.ts";
import type { Effect, WaitKind } from "../../types.ts";
import type { Redactor } from "../../values/redact.ts";

/** A step that was answered from the journal. */
export interface ReplayedStep {
  readonly step: string;
  readonly from: "journal";
  readonly status: "completed" | "failed";
  /** Its result, or its error. */
  readonly value: unknown;
}

/** Where a replay can't continue: a step that would be started, or a wait. */
export type StopPoint =
  | {
      readonly step: string;
      readonly action: "start";
      readonly type: StepType;
      readonly effect: Effect;
      readonly attempt: number;
    }
  | {
      readonly step: string;
      readonly action: "wait";
      readonly for: WaitKind;
      readonly until?: number;
      /** Why this code can't continue, when it waits for a migration. */
      readonly detail?: string;
    };

/** The hooks of a step, which aren't called here. */
export interface Asked {
  readonly hasVerify: boolean;
  readonly hasSimulate: boolean;
}

/** A step that was decided without a call: a value replaced it, or a person had refused it. */
export interface Uncalled {
  readonly step: string;
  readonly intent: StepStarted;
  readonly became: "reused" | "simulated" | "refused";
}

/** Records what a replay meets. */
export class Watch {
  readonly asked = new Map<string, Asked>();
  /** The calls about to be made, by step. */
  readonly intents = new Map<string, StepStarted>();
  readonly uncalled: Uncalled[] = [];
  readonly doubts = new Map<string, unknown>();
  /** Set when stored data can't be read. */
  problem: { readonly error: unknown } | undefined;
  readonly #steps: (Omit<ReplayedStep, "value"> & { value: unknown })[] = [];
  readonly #recorded: ReadonlyMap<string, { readonly status: string }>;
  readonly #places = new Map<number, string>();
  readonly #met = new Set<string>();
  readonly #stops = new Map<string, StopPoint>();

  constructor(state: RunState) {
    const recorded = [...state.steps()].filter(([key]) => !isUndo(key));
    this.#recorded = new Map(recorded.map(([key, { status }]) => [key, { status }]));
    for (const [key, { seq, took }] of recorded) this.#places.set(seq, key).set(took ?? seq, key);
  }

  /** Called when the record at `seq` was asked for. */
  read(seq: number, value: unknown): void {
    const step = this.#places.get(seq);
    if (step !== undefined) this.answered(step, value);
  }

  answered(step: string, value: unknown): void {
    this.#met.add(step);
    const status = this.#recorded.get(step)?.status;
    if (status === "completed" || status === "failed")
      this.#steps.push({ step, from: "journal", status, value });
  }

  get stops(): StopPoint[] {
    return [...this.#stops.values()];
  }

  /** The newest stop of a step counts: the guard that holds it back may check again. */
  stopped(stop: StopPoint): void {
    this.#met.add(stop.step);
    this.#stops.delete(placeOf(stop));
    this.#stops.set(placeOf(stop), stop);
  }

  /** Called when it continues after a stop. */
  passed(stop: StopPoint): void {
    if (this.#stops.get(placeOf(stop)) === stop) this.#stops.delete(placeOf(stop));
  }

  /** True when the code reached it. */
  hasMet(step: string): boolean {
    return this.#met.has(step);
  }

  async settled(): Promise<readonly ReplayedStep[]> {
    return Promise.all(
      this.#steps.map(async ({ value, ...step }) => ({
        ...step,
        value: await Promise.resolve(value).catch(() => undefined),
      })),
    );
  }

  notAsked(): string[] {
    // A group may be decided before it comes to all of its members, and what is inside a step that is answered is not asked for.
    const groups = new Set([...this.#met].map(groupOf));
    const isMet = (key: string): boolean =>
      this.#met.has(key) ||
      (isMember(key) && groups.has(groupOf(key))) ||
      (!isAtTop(key) && isMet(outerOf(key)));
    return [...this.#recorded.keys()].filter((key) => !isMet(key) && !isApproval(key));
  }
}

/** A value that is held back has the name of its owner, which may be a step's. */
const placeOf = (stop: StopPoint): string =>
  stop.action === "wait" && stop.for === "content" ? `content ${stop.step}` : stop.step;

/** Every value returned to the body passes through here. */
export class WatchedValues extends Values {
  readonly #watch: Watch;

  constructor(store: Store, watch: Watch, redactor: Redactor | undefined) {
    super(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger, redactor);
    this.#watch = watch;
  }

  override of(runId: string, recorded: { readonly data?: Raw | undefined; readonly seq: number }): unknown {
    const value = this.#checked(() => super.of(runId, recorded));
    this.#watch.read(recorded.seq, value);
    return value;
  }

  override decode(runId: string, raw: Raw | undefined): unknown {
    return this.#checked(() => super.decode(runId, raw));
  }

  #checked(read: () => unknown): unknown {
    const failed = (error: unknown) => {
      this.#watch.problem ??= { error };
    };
    try {
      const value = read();
      if (value instanceof Promise) value.catch(failed);
      return value;
    } catch (error) {
      failed(error);
      throw error;
    }
  }
}
