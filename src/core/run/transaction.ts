import type { TransactionOptions } from "../context.ts";
import { HoldfastError } from "../errors.ts";
import { admit } from "../guards/guard.ts";
import { argsDigest, hasChanged, stillAdmitted } from "../guards/subject.ts";
import type { StepStarted } from "../journal/events.ts";
import { decidedAt, type StepRecord } from "../journal/records.ts";
import type { Depart } from "../journal/writer.ts";
import type { AnySqlHandle, SqlWork } from "../sql.ts";
import type { CommitResult } from "../store/commit.ts";
import type { Append } from "../store/contract.ts";
import { isStoreFault } from "../store/faults.ts";
import { type ActiveRun, never } from "./active-run.ts";
import { admissionOf } from "./admission.ts";
import { Handle, type StepPlace } from "./call.ts";
import { recordedValue, refuseInside } from "./recorded.ts";
import { type Frame, innerScope } from "./scope.ts";
import { standIn } from "./steps.ts";

/**
 * Exactly once: the user's writes and the step's outcome are one commit, so nothing can be in doubt. Guards run before
 * every attempt of the commit: the successful one consumes an approval.
 */
export async function transaction<T, S extends AnySqlHandle>(
  execution: ActiveRun,
  place: StepPlace,
  work: SqlWork<T, S>,
  options: TransactionOptions = {},
): Promise<T> {
  await execution.enter();
  refuseInside(place);
  const { frame } = place.scope;
  for (;;) {
    await execution.enter();
    const begun = await beginTransaction<T>(execution, place, options);
    if ("value" in begun) return begun.value;
    if (hasChanged(execution, options, begun.intent)) continue;
    const intent = { ...begun.intent, ...begun.note };
    const attempt = new Attempt(
      execution,
      place,
      work,
      intent,
      stillAdmitted(execution, place, options, intent),
    );
    // Held back while the run is told to stop, like any intent.
    execution.calls.block(frame);
    execution.considerEnding();
    const result = await execution.writer.exclusive((depart) => attempt.run(depart));
    execution.calls.unblock(frame);
    if (execution.closed) return never();
    if (attempt.thrown) throw attempt.thrown.error;
    if (result.ok) return attempt.value as T;
    if (result.reason === "lost") execution.giveUp(result.error);
    // Otherwise the run was written to in between: everything was rolled back, so it may be repeated.
  }
}

/** The recorded outcome, or its stand-in; otherwise the intent to write with the commit, now that it may be tried. */
export async function beginTransaction<T>(
  execution: ActiveRun,
  place: StepPlace,
  options: TransactionOptions,
): Promise<{ readonly value: T } | { readonly intent: StepStarted; readonly note?: Partial<StepStarted> }> {
  // A commit that seemed to fail may have succeeded before the attempt that was refused.
  const record = execution.state.find(place.key);
  if (record?.status === "completed")
    return { value: (await recordedValue(execution, place.key, record)) as T };
  if (record?.status === "failed" && !record.reopened) throw await recordedFailure(execution, place, record);
  const intent = transactionIntent(execution, options, record);
  const admitted = await admit(execution.guards, admissionOf(execution, place, options, intent));
  if (admitted && "value" in admitted)
    return (await standIn(execution, place, intent, admitted)) as { value: T };
  return { intent, ...(admitted?.note ? { note: admitted.note } : {}) };
}

/** The intent to write with the commit. */
function transactionIntent(
  execution: ActiveRun,
  options: TransactionOptions,
  record: StepRecord | undefined,
): StepStarted {
  const args = argsDigest(execution, options);
  return {
    type: "transaction",
    effect: "once",
    attempt: (record?.attempt ?? 0) + 1,
    call: 1,
    ...(args === undefined ? {} : { args }),
  };
}

/** A person refused it: nothing else ends a transaction without its writes. */
async function recordedFailure(
  execution: ActiveRun,
  { key }: StepPlace,
  record: StepRecord,
): Promise<unknown> {
  const error = await recordedValue(execution, key, record);
  execution.memory.met(decidedAt(record));
  execution.blamed.put(error, [key]);
  return error;
}

/** Its admission is no longer valid: it is rolled back, and admitted again. */
const NOT_ADMITTED = new Error("not admitted any more");

/** One transaction and, after an error of the store, its outcome. */
class Attempt<T, S extends AnySqlHandle> {
  value: T | undefined;
  thrown: { readonly error: unknown } | undefined;
  readonly #execution: ActiveRun;
  readonly #place: StepPlace;
  readonly #work: SqlWork<T, S>;
  readonly #intent: StepStarted;
  readonly #holds: () => boolean;
  #frame: Frame | undefined;
  #append: Append | undefined;
  #turn = 0;

  constructor(
    execution: ActiveRun,
    place: StepPlace,
    work: SqlWork<T, S>,
    intent: StepStarted,
    holds: () => boolean,
  ) {
    this.#holds = holds;
    this.#execution = execution;
    this.#place = place;
    this.#work = work;
    this.#intent = intent;
  }

  async run(depart: Depart): Promise<CommitResult> {
    const { store, queue } = this.#execution.deps;
    // The transaction may have committed while it waited for its turn.
    if (this.#execution.state.find(this.#place.key)?.status === "completed")
      return { ok: false, reason: "conflict", row: null };
    if (!store.transaction)
      throw new HoldfastError("HF-1017", { store: store.name, feature: "ctx.transaction" });
    this.#append = undefined;
    const turn = ++this.#turn;
    // After it was abandoned, a late store must not build on what the run has done since.
    const inTime = <R>(work: () => R): R => {
      if (turn === this.#turn) return work();
      throw new HoldfastError("HF-1009");
    };
    try {
      const { value, result } = await store.transaction<T, S>(
        (sql) => inTime(() => this.#call(sql)),
        (made) => inTime(() => this.#build(made, depart)),
      );
      this.value = value;
      return result;
    } catch (error) {
      this.#turn++;
      // Before there is an append, nothing is committed: an error that isn't the store's is the work's own.
      if (this.#append === undefined && !isStoreFault(error) && error !== NOT_ADMITTED)
        this.thrown ??= { error };
      if (this.thrown || error === NOT_ADMITTED) return { ok: false, reason: "conflict", row: null };
      return queue.outcomeOf(this.#append, this.#execution.runId, error);
    }
  }

  /** In its own scope, because steps have no place in it. */
  #call(sql: S): T | Promise<T> {
    const { scope, name } = this.#place;
    const { frame } = new Handle(this.#execution, this.#place, {}, this.#intent);
    this.#frame = frame;
    try {
      const done = this.#execution.within(innerScope(scope, name, { frame }), () => this.#work(sql));
      return done instanceof Promise ? this.#underWay(done, frame) : done;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** The run isn't released meanwhile. */
  async #underWay(done: Promise<T>, frame: Frame): Promise<T> {
    this.#execution.calls.start();
    try {
      return await done;
    } catch (error) {
      return this.#failed(error);
    } finally {
      this.#execution.callEnded(frame);
    }
  }

  /** The store's fault isn't a failure of the work, and is investigated. */
  #failed(error: unknown): never {
    if (!isStoreFault(error)) this.thrown = { error };
    throw error;
  }

  #build(made: T, depart: Depart): Append {
    const { key } = this.#place;
    if (!this.#holds()) throw NOT_ADMITTED;
    this.value = made;
    const { data, blobs } = this.#encode(made);
    const usage = this.#frame?.usage;
    this.#append = depart([
      { event: { kind: "step_started", step: key, meta: this.#intent } },
      { event: { kind: "step_completed", step: key, meta: usage ? { usage } : {}, data }, blobs },
    ]);
    return this.#append;
  }

  #encode(made: T): ReturnType<ActiveRun["deps"]["values"]["encode"]> {
    try {
      return this.#execution.deps.values.encode(this.#place.key, made);
    } catch (error) {
      return this.#failed(error);
    }
  }
}
