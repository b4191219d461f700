import { HoldfastError } from "../errors.ts";
import type { LoopRecord, MemoryWrite, Signal, StepRecord } from "../journal/records.ts";
import { about } from "../journal/wait-reason.ts";
import { isApproval } from "../keys.ts";
import { askCheck, type ContentCheck, type Incoming, type Quarantined } from "./content.ts";
import type { GuardedRun, ValueInspector } from "./port.ts";

const MOST_REASON = 500;

/** Passes values that enter one execution of a run to the content check, and records its verdicts. */
export class Inspector implements ValueInspector {
  readonly #execution: GuardedRun;
  readonly #check: ContentCheck;
  /** The run's position when this process took it up. */
  readonly #since: number;
  /** The positions of outcomes that came from outside in the meantime. */
  readonly #outside = new Set<number>();
  /** The positions of values that were let in here. */
  readonly #passed = new Set<number>();
  #allowed = 0;
  #parked = 0;

  constructor(execution: GuardedRun, check: ContentCheck) {
    this.#execution = execution;
    this.#check = check;
    this.#since = execution.writer.row.seq;
  }

  /** Called before a write: adds the number of values let in since the last one. */
  note(): void {
    if (this.#allowed === 0) return;
    const meta = { verdict: "allow", items: this.#allowed } as const;
    this.#allowed = 0;
    this.#execution.record({ kind: "content_checked", step: "", meta });
  }

  /** True for outcomes recorded by this process. Their records hold no data, unlike those of outcomes from outside. */
  isOwn({ seq, data }: Pick<StepRecord, "seq" | "data">): boolean {
    // Once read, the record no longer holds it either.
    if (data !== undefined) this.#outside.add(seq);
    return seq > this.#since && !this.#outside.has(seq);
  }

  /** The value, or its marker; waits while it is held back. */
  async inspect(incoming: Incoming): Promise<unknown> {
    const { source, name, value, seq } = incoming;
    if (value === undefined || (seq !== undefined && this.#passed.has(seq))) return value;
    for (;;) {
      const item = { runId: this.#execution.runId, source, name, value };
      const { clock } = this.#execution.deps.ports;
      const verdict = await this.#execution.busy(askCheck(this.#check, item, clock));
      if (verdict === "allow") {
        this.#allowed++;
        if (seq !== undefined) this.#passed.add(seq);
        return value;
      }
      if ("quarantine" in verdict)
        return this.#quarantine(incoming, verdict.quarantine.slice(0, MOST_REASON));
      await this.#park(name, verdict.park.slice(0, MOST_REASON));
    }
  }

  /** Written together with whatever follows: nothing derived from the marker is durable before the verdict. */
  #quarantine({ name, seq = 0, replace }: Incoming, reason: string): Quarantined {
    const marker = { quarantined: reason };
    replace?.(marker);
    const meta = { verdict: "quarantine", reason, ...(replace ? {} : { seq }) } as const;
    this.#execution.record({ kind: "content_checked", step: name, meta });
    return marker;
  }

  async #park(name: string, reason: string): Promise<void> {
    const execution = this.#execution;
    execution.record({ kind: "content_checked", step: name, meta: { verdict: "park", reason } });
    const problem = new HoldfastError("HF-2117", { step: name, reason });
    const since = execution.deps.time.now();
    const wait = { kind: "content", step: name, since, ...about(problem) } as const;
    // Not under the step's name, because nobody is meant to answer for it.
    await execution.wait(`content ${++this.#parked}`, wait, execution.scope().frame);
  }
}

/** The recorded outcome of a step, as the run may see it. */
export function inspectOutcome(
  execution: GuardedRun,
  key: string,
  record: Pick<StepRecord, "status" | "seq" | "data">,
  value: unknown,
): unknown {
  const { inspector, state } = execution;
  const { edits, quarantined } = state.facts;
  const { seq, status } = record;
  const isResult = status === "completed";
  const reason = quarantined.get(seq);
  // A result was replaced by its marker; for a failure only the verdict is recorded.
  if (reason !== undefined) return isResult ? value : heldBack(key, reason);
  if (!inspector || inspector.isOwn(record)) return value;
  // A person's approval is for the engine; the run doesn't see it.
  if (isApproval(key)) return value;
  const source = edits.get(`step ${key}`) === seq ? "edit" : "step";
  const replace = (marker: Quarantined) => edit(execution, "step", key, marker);
  return Promise.resolve(value).then(async (known) => {
    const incoming = { source, name: key, value: known, seq } as const;
    if (isResult) return inspector.inspect({ ...incoming, replace });
    const seen = await inspector.inspect(incoming);
    return seen === known ? known : heldBack(key, (seen as Quarantined).quarantined);
  });
}

/** A value recorded by another run that becomes a step's result here, or its marker. */
export const inspectForeign = (execution: GuardedRun, name: string, value: unknown): unknown =>
  execution.inspector ? execution.inspector.inspect({ source: "step", name, value }) : value;

/** The state that a loop continues with. */
export async function inspectLoop(
  execution: GuardedRun,
  key: string,
  record: LoopRecord,
  state: object,
): Promise<object> {
  const { edits, quarantined } = execution.state.facts;
  const edited = edits.get(`loop ${key}`) ?? 0;
  const isEdit = edited > record.seq;
  if (!execution.inspector || (isEdit && quarantined.has(edited))) return state;
  const replace = (marker: Quarantined) => {
    record.state = { value: marker };
    // The state is set here, so the fold must not apply it again.
    edit(execution, "loop", key, { state: marker }, () => (record.changes.length = 0));
  };
  const source = isEdit ? "edit" : "loop";
  const seq = isEdit ? edited : record.seq;
  return (await execution.inspector.inspect({ source, name: key, value: state, seq, replace })) as object;
}

export function inspectMemory(
  { inspector, state }: GuardedRun,
  { seq, step, name }: MemoryWrite,
  value: unknown,
): unknown {
  const reason = state.facts.quarantined.get(seq);
  if (reason !== undefined) return { quarantined: reason };
  return inspector ? inspector.inspect({ source: step === "" ? "edit" : "memory", name, value, seq }) : value;
}

export function inspectSignal(
  { inspector, state }: GuardedRun,
  { seq, name }: Signal,
  value: unknown,
): unknown {
  const reason = state.facts.quarantined.get(seq);
  if (reason !== undefined) return { quarantined: reason };
  return inspector ? inspector.inspect({ source: "signal", name, value, seq }) : value;
}

/** The run's input, as the run may see it. */
export async function inspectInput(execution: GuardedRun, value: unknown): Promise<unknown> {
  const { inspector, restored, state } = execution;
  const { edits, quarantined } = state.facts;
  const seq = edits.get("input ") ?? CREATED;
  if (!inspector || !restored || quarantined.has(seq)) return value;
  const source = seq === CREATED ? "input" : "edit";
  const replace = (marker: Quarantined) => edit(execution, "input", "", marker);
  return inspector.inspect({ source, name: "input", value, seq, replace });
}

/** The run's config, read before its function is called. */
export async function readConfig(execution: GuardedRun): Promise<Readonly<Record<string, unknown>>> {
  const { inspector, restored, state, deps, runId } = execution;
  const { config, quarantined } = state.facts;
  const known = config ? await execution.read(() => deps.values.of(runId, config)) : {};
  const isKnown = !config || !inspector || !restored || quarantined.has(config.seq);
  const replace = (marker: Quarantined) => edit(execution, "config", "", marker);
  const value = isKnown
    ? known
    : await inspector.inspect({ source: "edit", name: "config", value: known, seq: config.seq, replace });
  return Object.freeze(value as Record<string, unknown>);
}

/** Position of a run's first event, which carries its input. */
const CREATED = 1;

const heldBack = (step: string, reason: string): HoldfastError =>
  new HoldfastError("HF-2117", { step, reason });

function edit(
  execution: GuardedRun,
  what: "step" | "loop" | "input" | "config",
  step: string,
  value: unknown,
  onDurable?: () => void,
): void {
  const { data, blobs } = execution.deps.values.encode(step === "" ? what : step, value);
  execution.record({ kind: "value_edited", step, meta: { what }, data }, blobs, onDurable);
}
