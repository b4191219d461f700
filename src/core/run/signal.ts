import type { ReceivedSignal, SignalOptions } from "../context.ts";
import { checkDeclared } from "../declared-checks.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { inspectSignal } from "../guards/inspector.ts";
import type { JournalEvent } from "../journal/events.ts";
import { decidedAt, type Signal, type StepRecord, signalAt } from "../journal/records.ts";
import { release } from "../journal/signals.ts";

import type { ActiveRun } from "./active-run.ts";
import type { StepPlace } from "./call.ts";
import { fitMessage, withValue } from "./fitting.ts";
import { recordedValue } from "./recorded.ts";
import { checkTimeout, failWait, open, outcome } from "./waits.ts";

/** Waits for the first message under one of the names. */
export async function signal<T>(
  execution: ActiveRun,
  place: StepPlace,
  names: readonly string[],
  options: SignalOptions,
): Promise<ReceivedSignal<T>> {
  checkTimeout(options.timeoutMs);
  for (const name of names) checkDeclared(execution.workflow, name);
  await execution.enter();
  const { time } = execution.deps;
  const until = options.timeoutMs === undefined ? {} : { until: time.now() + options.timeoutMs };
  let record = await open(execution, place, { type: "signal", names, ...until });
  while (record.status === "started") {
    const found = execution.state.signals.find((one) => !one.taken && names.includes(one.name));
    if (found) {
      const taken = await take<T>(execution, place, found);
      if (taken) return taken;
    } else if (record.until !== undefined && time.now() >= record.until) {
      const at = new Date(record.until).toISOString();
      const missed = new HoldfastError("HF-2109", { signal: names.join(" or "), until: at });
      const isOne = ({ kind, meta }: JournalEvent) => kind === "signal_received" && names.includes(meta.name);
      await failWait(execution, place, missed, isOne);
    } else {
      const limit = defined({ until: record.until });
      const wait = { kind: "signal", step: place.key, since: record.since, names, ...limit } as const;
      await execution.wait(place.key, wait, place.scope.frame);
    }
    record = execution.state.find(place.key) ?? record;
  }
  return recorded<T>(execution, place, record);
}

/** Ends the wait with a message; `undefined` when it was set aside. */
async function take<T>(
  execution: ActiveRun,
  { key }: StepPlace,
  found: Signal,
): Promise<ReceivedSignal<T> | undefined> {
  // Nobody else may take it meanwhile.
  found.taken = true;
  const complete = (value?: { readonly of: unknown }): void => {
    const meta = { took: found.seq, ...(value ? { fitted: true as const } : {}) };
    const { event, blobs } = withValue(execution, { kind: "step_completed", step: key, meta }, value);
    execution.record(event, blobs);
  };
  if (!execution.workflow.signals) {
    complete();
    return received<T>(execution, found);
  }
  const message = await received(execution, found);
  const fitted = await fitMessage(execution, found, message.payload);
  if (!fitted) return undefined;
  complete(fitted.isOther ? { of: fitted.value } : undefined);
  return { ...message, payload: fitted.value as T };
}

/** The message that has ended the wait, or the wait's failure. */
async function recorded<T>(
  execution: ActiveRun,
  place: StepPlace,
  record: StepRecord,
): Promise<ReceivedSignal<T>> {
  execution.memory.met(decidedAt(record));
  const taken = record.took === undefined ? undefined : signalAt(execution.state.signals, record.took);
  if (record.status !== "completed" || !taken) return (await outcome(execution, place, record)) as never;
  const isOwn = record.decidedAt === undefined && !record.fitted;
  if (isOwn) return received(execution, taken);
  // The message was edited, or a schema has made something else of it.
  const payload = (await recordedValue(execution, place.key, record)) as T;
  return { name: taken.name, payload, at: taken.at };
}

export async function received<T>(execution: ActiveRun, found: Signal): Promise<ReceivedSignal<T>> {
  const { values } = execution.deps;
  const payload = await execution.read(() => values.of(execution.runId, found));
  release(found);
  return { name: found.name, payload: (await inspectSignal(execution, found, payload)) as T, at: found.at };
}
