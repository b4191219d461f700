import type { StepPlace } from "./call.ts";
import { dataDigest } from "./codec.ts";
import type { GateAnswer, GateOptions, ReceivedSignal, SignalOptions } from "./context.ts";
import { HoldfastError } from "./errors.ts";
import type { EventDraft, StepStarted } from "./events.ts";
import type { Execution } from "./execution.ts";
import { childId } from "./ids.ts";
import type { Signal, StepRecord } from "./replay.ts";
import { recordedValue, refuseInside } from "./steps.ts";
import { ended, type Waiting } from "./types.ts";
import type { Workflow } from "./workflow.ts";

/** Steps that wait instead of calling: gates, timers, signals and children. Each is opened once and decided once. */
async function open(
  execution: Execution,
  place: StepPlace,
  meta: Omit<StepStarted, "effect" | "attempt" | "call">,
  shown?: unknown,
): Promise<StepRecord> {
  refuseInside(place);
  const known = place.scope.node?.records.get(place.name);
  const current =
    known && meta.args !== undefined && known.status === "started" && known.args !== meta.args
      ? undefined
      : known;
  if (current && !current.reopened) return current;
  const started: StepStarted = { effect: "repeatable", attempt: (known?.attempt ?? 0) + 1, call: 1, ...meta };
  const encoded = shown === undefined ? undefined : execution.deps.values.encode(place.key, shown);
  const event: EventDraft = {
    kind: "step_started",
    step: place.key,
    meta: started,
    ...(encoded ? { data: encoded.data } : {}),
  };
  await execution.intent(event, place.scope.frame, encoded?.blobs);
  return execution.state.find(place.key) as StepRecord;
}

/** Waits for the record to be decided from outside; `overdue` decides it when its time has passed. */
async function untilDecided(
  execution: Execution,
  place: StepPlace,
  record: StepRecord,
  waiting: Omit<Waiting, "step" | "since" | "until">,
  overdue: () => Promise<void>,
): Promise<StepRecord> {
  const { time } = execution.deps;
  let current = record;
  while (current.status === "started") {
    if (current.until !== undefined && time.now() >= current.until) {
      await overdue();
    } else {
      const until = current.until === undefined ? {} : { until: current.until };
      const wait = { ...waiting, step: place.key, since: current.since, ...until };
      await execution.wait(place.key, wait, place.scope.frame);
    }
    current = execution.state.find(place.key) ?? current;
  }
  return current;
}

async function failWait(execution: Execution, place: StepPlace, error: HoldfastError): Promise<void> {
  const { data, blobs } = execution.deps.values.encode(place.key, error);
  await execution.contest({ kind: "step_failed", step: place.key, meta: { attempt: 1 }, data }, blobs);
}

/** The decided wait's value, or its failure thrown. */
async function outcome(execution: Execution, place: StepPlace, record: StepRecord): Promise<unknown> {
  const value = await recordedValue(execution, record);
  if (record.status === "completed") return value;
  execution.blame(value, [place.key]);
  throw value;
}

export async function gate(
  execution: Execution,
  place: StepPlace,
  options: GateOptions,
): Promise<GateAnswer> {
  checkGate(options);
  await execution.enter();
  const { time } = execution.deps;
  const shown = { show: options.show, choices: [...options.choices], text: options.text ?? false };
  const until = options.timeoutMs === undefined ? {} : { until: time.now() + options.timeoutMs };
  const record = await open(execution, place, { type: "gate", args: dataDigest(shown), ...until }, shown);
  const overdue = async () => {
    if (typeof options.onTimeout !== "object") {
      const at = new Date(record.until ?? 0).toISOString();
      return failWait(execution, place, new HoldfastError("HF-2105", { gate: place.key, until: at }));
    }
    const answer: GateAnswer = {
      choice: options.onTimeout.choice,
      actor: "timeout",
      at: time.now(),
      timedOut: true,
    };
    const { data, blobs } = execution.deps.values.encode(place.key, answer);
    await execution.contest({ kind: "step_completed", step: place.key, meta: {}, data }, blobs);
  };
  return (await outcome(
    execution,
    place,
    await untilDecided(execution, place, record, { kind: "gate" }, overdue),
  )) as GateAnswer;
}

function checkGate(options: GateOptions): void {
  const { choices, onTimeout } = options;
  if (
    !Array.isArray(choices) ||
    choices.length === 0 ||
    choices.some((one) => typeof one !== "string" || one === "")
  ) {
    throw new HoldfastError("HF-1003", {
      option: "choices",
      problem: "it must be a list of at least one text",
    });
  }
  if (typeof onTimeout === "object" && !choices.includes(onTimeout.choice)) {
    throw new HoldfastError("HF-1003", {
      option: "onTimeout.choice",
      problem: "it is not one of the choices",
    });
  }
}

export async function sleep(execution: Execution, place: StepPlace, ms: number): Promise<void> {
  if (!Number.isFinite(ms) || ms < 0)
    throw new HoldfastError("HF-1003", { option: "ms", problem: "it must be a number of 0 or more" });
  await execution.enter();
  const record = await open(execution, place, {
    type: "timer",
    until: execution.deps.time.now() + ms,
  });
  await untilDecided(execution, place, record, { kind: "timer" }, async () => {
    await execution.contest({ kind: "step_completed", step: place.key, meta: {} });
  });
}

export async function signal<T>(
  execution: Execution,
  place: StepPlace,
  names: readonly string[],
  options: SignalOptions,
): Promise<ReceivedSignal<T>> {
  await execution.enter();
  const { time } = execution.deps;
  const until = options.timeoutMs === undefined ? {} : { until: time.now() + options.timeoutMs };
  let record = await open(execution, place, { type: "signal", names, ...until });
  while (record.status === "started") {
    const found = execution.state.signals.find((one) => !one.taken && names.includes(one.name));
    if (found) {
      found.taken = true;
      execution.record({ kind: "step_completed", step: place.key, meta: { took: found.seq } });
      return received(execution, found);
    }
    if (record.until !== undefined && time.now() >= record.until) {
      const at = new Date(record.until).toISOString();
      await failWait(
        execution,
        place,
        new HoldfastError("HF-2109", { signal: names.join(" or "), until: at }),
      );
    } else {
      const limit = record.until === undefined ? {} : { until: record.until };
      const wait = { kind: "signal", step: place.key, since: record.since, names, ...limit } as const;
      await execution.wait(place.key, wait, place.scope.frame);
    }
    record = execution.state.find(place.key) ?? record;
  }
  const taken = execution.state.signals.find((one) => one.seq === record.took);
  if (record.status === "completed" && taken) return received(execution, taken);
  return (await outcome(execution, place, record)) as never;
}

async function received<T>(execution: Execution, found: Signal): Promise<ReceivedSignal<T>> {
  const { values } = execution.deps;
  const payload = execution.read(() => values.of(execution.runId, found));
  return { name: found.name, payload: (await payload) as T, at: found.at };
}

export async function child<I, O>(
  execution: Execution,
  place: StepPlace,
  workflow: Workflow<I, O>,
  input: I,
): Promise<O> {
  await execution.enter();
  const { engine } = execution.deps;
  const known = place.scope.node?.records.get(place.name);
  const id = known?.child ?? childId(execution.runId, place.key);
  const record = await open(execution, place, { type: "child", child: id });
  if (record.status === "started") {
    // Said again on every attempt: this process may have died before the child was told.
    if (record.attempt > 1) await execution.busy(engine.resumeChild(id, `${place.key} ${record.attempt}`));
    const parent = { runId: execution.runId, step: place.key };
    const row = await execution.busy(engine.startChild(workflow as Workflow, id, input, parent));
    // It may have ended, and told so, before this wait was opened anew.
    if (ended(row.status)) await engine.notifyParent(row);
  }
  const decided = await untilDecided(
    execution,
    place,
    record,
    { kind: "child", detail: id },
    async () => undefined,
  );
  return (await outcome(execution, place, decided)) as O;
}
