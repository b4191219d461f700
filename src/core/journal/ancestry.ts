import type { Store } from "../store/contract.ts";
import type { Effect, EffectPolicy, Parent, RunRow } from "../types.ts";
import type { Hop } from "./facts.ts";
import { headsOf } from "./read.ts";
import { formerKey, renamedKey } from "./rename.ts";
import { isDone, type LoggedStep, StepLog } from "./step-log.ts";

/** A call with an effect that a run has made, or may have made. */
export interface PastCall {
  readonly runId: string;
  readonly step: string;
  readonly effect: Exclude<Effect, "repeatable">;
  readonly status: "started" | "completed" | "failed" | "in_doubt";
  readonly attempt: number;
  /** The digest of its arguments. */
  readonly args: string | undefined;
  /** The position of the event that decided its status, and the time of the last call. */
  readonly seq: number;
  readonly at: number;
}

export interface PastChild {
  readonly step: string;
  readonly runId: string;
  /** The position of its intent. */
  readonly seq: number;
}

/**
 * The calls with effects that a run has made, including those of finished iterations. Read incrementally from the heads
 * of its journal, because the run may still be active.
 */
export class CallLog {
  readonly #store: Store;
  readonly #runId: string;
  readonly #log = new StepLog();
  #turns: Promise<unknown> = Promise.resolve();

  constructor(store: Store, runId: string) {
    this.#store = store;
    this.#runId = runId;
  }

  /** Returns the run's current row, or `null`. One reading at a time: each continues where the last one ended. */
  read(): Promise<RunRow | null> {
    const reading = this.#turns.then(() => this.#readOn());
    this.#turns = reading.catch(() => undefined);
    return reading;
  }

  async #readOn(): Promise<RunRow | null> {
    const row = await this.#store.read(this.#runId);
    if (!row || row.seq <= this.#log.seq) return row;
    for await (const { events } of headsOf(this.#store, row.id, this.#log.seq + 1, row.seq))
      for (const event of events) this.#log.take(event);
    return row;
  }

  /** Its migrations that renamed steps. */
  get hops(): readonly Hop[] {
    return this.#log.hops;
  }

  *calls(): Generator<PastCall> {
    for (const step of this.#log.steps()) {
      const call = callOf(this.#runId, step);
      if (call) yield call;
    }
  }

  *children(): Generator<PastChild> {
    for (const [runId, { step, attempts }] of this.#log.children)
      yield { step, runId, seq: attempts.at(-1)?.begun ?? 0 };
  }

  /** The position at which a step was answered without a call by this run or an ancestor. */
  simulated(step: string): number | undefined {
    const logged = this.#log.find(step);
    return logged?.instead === "simulated" ? logged.record.seq : undefined;
  }

  /** The call of a fork's step. */
  call(step: string, fork: Descent): PastCall | undefined {
    const logged = this.#find(step, fork);
    return logged && callOf(this.#runId, logged);
  }

  /** The run that it started in a place of a fork. What its own source had under way there is for the source to tell. */
  child(step: string, fork: Descent): string | undefined {
    const logged = this.#find(step, fork);
    return logged?.isCopied ? undefined : logged?.record.child;
  }

  /**
   * This run's current name for the step that a fork calls `step`: back to where they parted, and forward from there.
   */
  #find(step: string, { hops, parted }: Descent): LoggedStep | undefined {
    const since = ({ seq }: Hop): boolean => seq > parted;
    const then = formerKey(step, hops.filter(since));
    return then === undefined ? undefined : this.#log.find(this.hops.filter(since).reduce(renamedKey, then));
  }
}

function callOf(runId: string, logged: LoggedStep): PastCall | undefined {
  const { step, record, attempts, instead, isCopied } = logged;
  const { type, effect, status, attempt, args, seq } = record;
  const begun = attempts.at(-1);
  if (effect === "repeatable" || (type !== "call" && type !== "transaction") || !begun) return undefined;
  // No call was made, or the source reports its outcome.
  if (instead === "simulated" || (isCopied && !isDone(logged))) return undefined;
  return { runId, step, effect, status, attempt, args, seq, at: begun.startedAt };
}

/** How a fork diverged from a run it descends from. */
interface Descent {
  /** The fork's own migrations. */
  readonly hops: readonly Hop[];
  /** Its journal is a copy up to here. */
  readonly parted: number;
}

/** A run that a fork descends from, or that stands where it stands. */
interface Ancestor {
  readonly log: CallLog;
  readonly parted: number;
}

/** A fork's own place: what it was forked from, and which run started it. */
type Kin = Pick<RunRow, "origin" | "parent">;

/**
 * The runs whose work a fork must not repeat, nearest first: those it was forked from, and, for a run below a fork,
 * those that its parent's ancestors have started in the same place, whenever they do. With the latter it shares nothing but the place.
 */
export class Ancestry {
  readonly #store: Store;
  readonly #kin: Kin;
  readonly #logs = new Map<string, CallLog>();

  constructor(store: Store, kin: Kin) {
    this.#store = store;
    this.#kin = kin;
  }

  /** `hops`: the fork's migrations. */
  async find(step: string, hops: readonly Hop[]): Promise<PastCall | undefined> {
    for await (const { log, parted } of this.#read()) {
      const call = log.call(step, { hops, parted });
      if (call) return call;
    }
    return undefined;
  }

  /** The nearest ancestor's child at this place. */
  async child(step: string, hops: readonly Hop[]): Promise<RunRow | undefined> {
    for await (const id of childrenOf(this.#read(), step, hops)) {
      const row = await this.#store.read(id);
      if (row) return row;
    }
    return undefined;
  }

  /** By step. */
  async all(): Promise<ReadonlyMap<string, PastCall>> {
    const all = new Map<string, PastCall>();
    for await (const { log } of this.#read())
      for (const call of log.calls()) if (!all.has(call.step)) all.set(call.step, call);
    return all;
  }

  #read(): AsyncGenerator<Ancestor> {
    return this.#ancestors(this.#kin, new Set());
  }

  async *#ancestors({ origin, parent }: Kin, met: Set<string>): AsyncGenerator<Ancestor> {
    if (origin) yield* this.#with(origin.runId, origin.seq, met);
    if (parent) for await (const twin of this.#inItsPlace(parent)) yield* this.#with(twin, 0, met);
  }

  /** A run and its own ancestors. */
  async *#with(runId: string, parted: number, met: Set<string>): AsyncGenerator<Ancestor> {
    if (met.has(runId)) return;
    met.add(runId);
    const log = this.#log(runId);
    const row = await log.read();
    if (!row) return;
    yield { log, parted };
    for await (const before of this.#ancestors(row, met))
      yield { log: before.log, parted: Math.min(parted, before.parted) };
  }

  /** What the ancestors of the run above have started by now in the place where it started this one. */
  async *#inItsPlace({ runId, step }: Parent): AsyncGenerator<string> {
    const above = await this.#log(runId).read();
    if (above) yield* childrenOf(this.#ancestors(above, new Set()), step, this.#log(runId).hops);
  }

  #log(runId: string): CallLog {
    const log = this.#logs.get(runId) ?? new CallLog(this.#store, runId);
    this.#logs.set(runId, log);
    return log;
  }
}

/** The runs that ancestors have started in a fork's place; a run whose intent alone is written isn't there yet. */
async function* childrenOf(
  ancestors: AsyncIterable<Ancestor>,
  step: string,
  hops: readonly Hop[],
): AsyncGenerator<string> {
  for await (const { log, parted } of ancestors) {
    const child = log.child(step, { hops, parted });
    if (child) yield child;
  }
}

/** The predicted handling of a call in a fork. */
export type Foreseen = "reused" | "asked" | "simulated" | "called again";

/** `args`: the arguments of the future call, if known. */
export function foresee(policy: EffectPolicy, past: PastCall, args = past.args): Foreseen {
  const isRecorded = past.status === "completed" && past.args === args;
  if (policy === "allow") return "called again";
  if (policy === "block" || !isRecorded) return "asked";
  return policy === "reuse" ? "reused" : "simulated";
}
