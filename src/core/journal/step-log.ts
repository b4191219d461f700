import { defined } from "../defined.ts";
import { undoKey } from "../keys.ts";
import type { JournalEvent, UsageMeta } from "./events.ts";
import type { Hop } from "./facts.ts";
import {
  applyEdit,
  applyOutcome,
  editedRecord,
  isUnfinished,
  reopen,
  type StepRecord,
  startedRecord,
} from "./records.ts";
import { isDropped, renamedKey } from "./rename.ts";
import { usageOf } from "./spent.ts";

/** One call of a step, or one wait. */
export interface LoggedAttempt {
  readonly attempt: number;
  /** When its intent was written, at which position, and by which worker. */
  readonly startedAt: number;
  readonly begun: number;
  readonly owner: string;
  /** `undefined`: no outcome is recorded. */
  outcome?: Exclude<StepRecord["status"], "started">;
  endedAt?: number;
  /** The position of the outcome, where its value is. */
  seq?: number;
  /** The duration of the call by its worker's clock. */
  ms?: number;
  usage?: UsageMeta;
  retryAt?: number;
}

/** The history of one step, from its first intent on. */
export interface LoggedStep {
  step: string;
  /**
   * The engine's record, by the same rules and without values. Its status is the step's outcome; `completed` means
   * done.
   */
  record: StepRecord;
  readonly attempts: LoggedAttempt[];
  /** When its status was decided, and by whom if not by a worker. */
  at: number;
  actor?: string;
  /** Set when it wasn't called: its result is that of the run it was forked from, or simulated. */
  instead?: "reused" | "simulated";
  /** A person's choice at a gate. */
  choice?: string;
  /** Set when it was decided before this run was forked, so by another run. */
  isCopied?: true;
  /** A migration let go of it: the code does not ask for it any more. */
  isDropped?: true;
}

/** The meaning of an event for a step. */
export interface StepNews {
  readonly step: LoggedStep;
  /** The step has its result by this event, and had none before. */
  readonly isDone: boolean;
}

/**
 * The life of every step of a run, told by the headers of its journal: no value is read. Unlike the engine's own state it lets go of
 * nothing, so the steps of finished iterations are here too. Whoever wants to know what became of steps asks this log.
 */
export class StepLog {
  /** The migrations that gave steps other names. */
  readonly hops: Hop[] = [];
  /** The worker that has the run, or had it last. */
  owner: string | null = null;
  /** The runs that it started itself, in order, each with the step that waits for it. */
  readonly children = new Map<string, LoggedStep>();
  readonly #steps = new Map<string, LoggedStep>();
  /** The steps the run failed on. */
  #failed: readonly string[] = [];
  #seq = 0;

  /** The position of the last event taken. */
  get seq(): number {
    return this.#seq;
  }

  find(step: string): LoggedStep | undefined {
    return this.#steps.get(step);
  }

  /** In the order they began. */
  steps(): IterableIterator<LoggedStep> {
    return this.#steps.values();
  }

  /** Must be called with all events, in the order of the journal. A known event changes nothing. */
  take(event: JournalEvent): StepNews | undefined {
    if (event.seq <= this.#seq) return undefined;
    this.#seq = event.seq;
    switch (event.kind) {
      case "step_started":
        return this.#started(event);
      case "value_edited":
        return event.meta.what === "step" ? this.#edited(event) : undefined;
      case "run_claimed":
        this.owner = event.meta.owner;
        return undefined;
      case "run_failed":
        this.#failed = event.meta.steps;
        return undefined;
      case "run_resumed":
        this.#reopen(event.meta.retryFailed ?? false);
        return undefined;
      case "run_forked":
        this.#fork();
        return undefined;
      case "run_migrated":
        this.#migrate({ ...event.meta, seq: event.seq });
        return undefined;
      default:
        return this.#outcome(event);
    }
  }

  /** A record under a name that a migration dropped belongs to another step. */
  #known(key: string): LoggedStep | undefined {
    const step = this.#steps.get(key);
    return step?.isDropped ? undefined : step;
  }

  #started(event: JournalEvent & { kind: "step_started" }): StepNews {
    const before = this.#known(event.step);
    const { seq, at, meta } = event;
    const record = startedRecord(meta, event, before?.record);
    const step: LoggedStep = { step: event.step, record, attempts: before?.attempts ?? [], at };
    step.attempts.push({ attempt: meta.attempt, startedAt: at, begun: seq, owner: this.owner ?? "" });
    this.#steps.set(event.step, step);
    if (meta.child !== undefined) this.children.set(meta.child, step);
    return { step, isDone: false };
  }

  #outcome(event: JournalEvent): StepNews | undefined {
    const step = this.#known(event.step);
    if (!step) return undefined;
    const { record } = step;
    const wasDone = isDone(step);
    applyOutcome(record, event, []);
    if (record.seq !== event.seq) return undefined;
    step.at = event.at;
    if (event.actor !== undefined) step.actor = event.actor;
    if (event.kind === "gate_answered") step.choice = event.meta.choice;
    if (event.kind === "step_completed" && event.meta.instead) step.instead = event.meta.instead;
    const last = step.attempts.at(-1);
    if (last) endAttempt(last, record, event);
    return { step, isDone: !wasDone && isDone(step) };
  }

  #edited(event: JournalEvent): StepNews {
    const { at, actor } = event;
    const known = this.#known(event.step);
    const step: LoggedStep = known ?? { step: event.step, record: editedRecord(event), attempts: [], at };
    const wasDone = known !== undefined && isDone(known);
    applyEdit(step.record, event);
    Object.assign(step, defined({ at, actor }));
    this.#steps.set(event.step, step);
    return { step, isDone: !wasDone };
  }

  #reopen(all: boolean): void {
    const records = [...this.#steps].map(([key, { record }]) => [key, record] as const);
    reopen(records, this.#failed, all);
    this.#failed = [];
  }

  /** Calls in progress at the fork, and failures that failed the run, count as never begun in this run. */
  #fork(): void {
    this.#reopen(false);
    this.children.clear();
    for (const [key, step] of this.#steps)
      if (isUnfinished(step.record)) this.#steps.delete(key);
      else step.isCopied = true;
  }

  #migrate(change: Hop): void {
    for (const [key, step] of this.#steps) if (isDropped(key, change)) step.isDropped = true;
    if (!change.renamed) return;
    this.hops.push(change);
    const to = (key: string): string => renamedKey(key, change);
    // An undo goes with its step.
    const undos = new Map([...this.#steps.keys()].map((key) => [undoKey(key), undoKey(to(key))]));
    const steps = [...this.#steps.values()];
    this.#steps.clear();
    // A name that the change gives away belongs to the step that has it now.
    steps.sort((a, b) => Number(b.isDropped ?? false) - Number(a.isDropped ?? false));
    for (const step of steps) {
      const was = step.step;
      step.step = undos.get(was) ?? to(was);
      if (step.step !== was) step.record.first ??= was;
      this.#steps.set(step.step, step);
    }
    this.#failed = this.#failed.map(to);
  }
}

function endAttempt(attempt: LoggedAttempt, { status }: StepRecord, event: JournalEvent): void {
  // A person who has it called again says nothing about the call before.
  if (status === "started") return;
  Object.assign(attempt, { outcome: status, endedAt: event.at, seq: event.seq });
  const usage = usageOf(event);
  if (usage) attempt.usage = usage;
  if (event.kind === "step_completed" && event.meta.ms !== undefined) attempt.ms = event.meta.ms;
  if (event.kind === "step_failed" && event.meta.retryAt !== undefined) attempt.retryAt = event.meta.retryAt;
}

/** The step has a result, whoever gave it, and is not done again. The one meaning of "done". */
export const isDone = ({ record }: Pick<LoggedStep, "record">): boolean => record.status === "completed";

/** A call was made, or may have been, and no outcome is recorded. One that a person has ordered is not made yet. */
export const isOpen = ({ record: { status, rerun } }: Pick<LoggedStep, "record">): boolean =>
  status === "in_doubt" || (status === "started" && !rerun);

/**
 * When a step got its result, and how long it took: a call records that itself, a wait took from its beginning to its
 * end.
 */
export function doneIn(step: LoggedStep): { readonly at: number; readonly ms: number } | undefined {
  if (!isDone(step)) return undefined;
  const last = step.attempts.at(-1);
  // The value was edited.
  if (last?.outcome !== "completed" || last.endedAt === undefined) return { at: step.at, ms: 0 };
  return { at: last.endedAt, ms: last.ms ?? last.endedAt - last.startedAt };
}
