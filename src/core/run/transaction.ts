import { HoldfastError } from "../errors.ts";
import { forkGuard } from "../guards/fork.ts";
import type { CommitResult } from "../journal/commit.ts";
import type { AnySqlHandle, SqlWork } from "../journal/sql.ts";
import type { Depart } from "../journal/writer.ts";
import type { Append } from "../store.ts";
import { Handle, type StepPlace } from "./call.ts";
import { type Execution, never } from "./execution.ts";
import { type Frame, innerScope } from "./scope.ts";
import { recordedValue, refuseInside, standIn } from "./steps.ts";

/** Exactly once: the user's writes and the step's outcome are one commit, so there is nothing to be in doubt about. */
export async function transaction<T, S extends AnySqlHandle>(
  execution: Execution,
  place: StepPlace,
  work: SqlWork<T, S>,
): Promise<T> {
  await execution.enter();
  refuseInside(place);
  const record = place.scope.node?.records.get(place.name);
  if (record?.status === "completed") return (await recordedValue(execution, place.key, record)) as T;
  if (!record) {
    await execution.code?.hold(place);
    const known = await forkGuard(execution)?.admit({ execution, place, options: {}, intent: FIRST });
    if (known && "value" in known)
      return ((await standIn(execution, place, FIRST, known)) as { value: T }).value;
  }
  const attempt = new Attempt(execution, place, work, (record?.attempt ?? 0) + 1);
  const { frame } = place.scope;
  for (;;) {
    await execution.enter();
    // A commit that failed may have come in after all, before the attempt that was refused.
    const landed = execution.state.find(place.key);
    if (landed?.status === "completed") return (await recordedValue(execution, place.key, landed)) as T;
    // Held back while the run is told to stop, like any intent.
    execution.calls.block(frame);
    execution.considerEnding();
    const result = await execution.writer.exclusive((depart) => attempt.run(depart));
    execution.calls.unblock(frame);
    if (execution.closed) return never();
    if (attempt.thrown) throw attempt.thrown.error;
    if (result.ok) return attempt.value as T;
    if (result.reason === "lost") execution.giveUp(result.error);
    // Else somebody wrote to the run in between: everything was rolled back, so it may be done again.
  }
}

const FIRST = { type: "transaction", effect: "once", attempt: 1, call: 1 } as const;

const isStoreFault = (error: unknown): boolean => HoldfastError.is(error) && error.code.startsWith("HF-3");

/** One transaction, and after an error of the store: what became of it. */
class Attempt<T, S extends AnySqlHandle> {
  value: T | undefined;
  thrown: { readonly error: unknown } | undefined;
  readonly #execution: Execution;
  readonly #place: StepPlace;
  readonly #work: SqlWork<T, S>;
  readonly #number: number;
  #append: Append | undefined;
  #turn = 0;

  constructor(execution: Execution, place: StepPlace, work: SqlWork<T, S>, number: number) {
    this.#execution = execution;
    this.#place = place;
    this.#work = work;
    this.#number = number;
  }

  async run(depart: Depart): Promise<CommitResult> {
    const { store, queue } = this.#execution.deps;
    // It may have come in while it waited for its turn.
    if (this.#execution.state.find(this.#place.key)?.status === "completed")
      return { ok: false, reason: "conflict", row: null };
    if (!store.transaction)
      throw new HoldfastError("HF-1017", { store: store.name, feature: "ctx.transaction" });
    this.#append = undefined;
    const turn = ++this.#turn;
    // Once it has been given up, what a store does late must not be built on what the run has done since.
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
      // Before there is an append, nothing is kept: what is not the store's fault is the work's own.
      if (this.#append === undefined && !isStoreFault(error)) this.thrown ??= { error };
      if (this.thrown) return { ok: false, reason: "conflict", row: null };
      return queue.outcomeOf(this.#append, this.#execution.runId, error);
    }
  }

  /** In a scope of its own: steps of the run have no place in it. */
  #call(sql: S): T | Promise<T> {
    const { scope, name } = this.#place;
    const { frame } = new Handle(this.#execution, this.#place, {}, FIRST);
    try {
      const done = this.#execution.within(innerScope(scope, name, { frame }), () => this.#work(sql));
      return done instanceof Promise ? this.#underWay(done, frame) : done;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** The run is not let go meanwhile. */
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

  /** What the store did wrong is not the work's own failure, and is looked into. */
  #failed(error: unknown): never {
    if (!isStoreFault(error)) this.thrown = { error };
    throw error;
  }

  #build(made: T, depart: Depart): Append {
    const { key } = this.#place;
    this.value = made;
    const { data, blobs } = this.#encode(made);
    const meta = { type: "transaction", effect: "once", attempt: this.#number, call: 1 } as const;
    this.#append = depart([
      { event: { kind: "step_started", step: key, meta } },
      { event: { kind: "step_completed", step: key, meta: {}, data }, blobs },
    ]);
    return this.#append;
  }

  #encode(made: T): ReturnType<Execution["deps"]["values"]["encode"]> {
    try {
      return this.#execution.deps.values.encode(this.#place.key, made);
    } catch (error) {
      return this.#failed(error);
    }
  }
}
